package fusefs

import "sync"

// A table numbers things for the kernel, from 1 on. A number that became free
// is used again with another generation. The zero table is empty.
type table[T any] struct {
	mu    sync.RWMutex
	slots []slot[T] // slot i holds number i+1
	free  []uint64
}

type slot[T any] struct {
	item       *T
	generation uint64
}

// add returns a number for item and how often it was used before.
func (t *table[T]) add(item *T) (id, generation uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		id, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.slots = append(t.slots, slot[T]{})
		id = uint64(len(t.slots))
	}
	s := &t.slots[id-1]
	s.item = item
	return id, s.generation
}

// get returns nil for a number nothing has.
func (t *table[T]) get(id uint64) *T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if id == 0 || id > uint64(len(t.slots)) {
		return nil
	}
	return t.slots[id-1].item
}

// remove makes the number free and returns what had it.
func (t *table[T]) remove(id uint64) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id == 0 || id > uint64(len(t.slots)) || t.slots[id-1].item == nil {
		return nil
	}
	s := &t.slots[id-1]
	item := s.item
	s.item = nil
	s.generation++
	t.free = append(t.free, id)
	return item
}

// each calls f for everything in the table.
func (t *table[T]) each(f func(*T)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, s := range t.slots {
		if s.item != nil {
			f(s.item)
		}
	}
}
