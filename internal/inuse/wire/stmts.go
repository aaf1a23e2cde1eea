package wire

// Stmts holds something about each of a connection's prepared statements, by
// their number. Servers count from 1, so most are found without a map. The zero
// value is empty.
type Stmts[T any] struct {
	near []*T // by number; nil for none
	far  map[uint32]*T
}

// nearStmts bounds near.
const nearStmts = 256

// Get returns what was put at id, nil for nothing.
func (s *Stmts[T]) Get(id uint32) *T {
	if id < uint32(len(s.near)) {
		return s.near[id]
	}
	if id < nearStmts {
		return nil
	}
	return s.far[id]
}

// Put puts v at id.
func (s *Stmts[T]) Put(id uint32, v *T) {
	if id >= nearStmts {
		if s.far == nil {
			s.far = map[uint32]*T{}
		}
		s.far[id] = v
		return
	}
	for uint32(len(s.near)) <= id {
		s.near = append(s.near, nil)
	}
	s.near[id] = v
}

// Drop removes what is at id.
func (s *Stmts[T]) Drop(id uint32) {
	if id < uint32(len(s.near)) {
		s.near[id] = nil
	}
	delete(s.far, id)
}

// Clear removes all.
func (s *Stmts[T]) Clear() { *s = Stmts[T]{} }
