package secret

import (
	"math/bits"
	"sync"
)

// Secrets share pages: a process may hold a key for each of ten thousand files,
// and the usual limit of locked memory is 8 MiB, often less. A slot is a power
// of two of at least minSlot bytes; slots of one size are cut from regions of
// regionSize bytes, or of one slot if that is larger, with an unreadable page
// on both sides. Regions stay mapped.
const (
	minSlot    = 16
	regionSize = 16 << 10
)

type slots struct {
	mu      sync.Mutex
	idle    [32][][]byte // by slotClass; wiped
	warning string       // why memory is not protected, "" if it is
}

var pool slots

// Warning returns "" if all secrets so far are in protected memory. Otherwise
// it says, in one line, what is not protected and how the operator mends it.
func Warning() string {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	return pool.warning
}

// slotClass returns the binary logarithm of the slot for n bytes.
func slotClass(n int) int { return bits.Len(uint(max(n, minSlot) - 1)) }

// alloc returns a zeroed slot of at least n bytes.
func (p *slots) alloc(n int) ([]byte, error) {
	class := slotClass(n)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle[class]) == 0 {
		size := 1 << class
		mem, warning, err := mapRegion(max(size, regionSize))
		if err != nil {
			return nil, err
		}
		if p.warning == "" {
			p.warning = warning
		}
		for ; len(mem) >= size; mem = mem[size:] {
			p.idle[class] = append(p.idle[class], mem[:size:size])
		}
	}
	last := len(p.idle[class]) - 1
	slot := p.idle[class][last]
	p.idle[class] = p.idle[class][:last]
	return slot, nil
}

// free wipes a slot that came from alloc and takes it back.
func (p *slots) free(slot []byte) {
	clear(slot)
	class := slotClass(len(slot))
	p.mu.Lock()
	p.idle[class] = append(p.idle[class], slot)
	p.mu.Unlock()
}
