package wire

import "testing"

func TestStmts(t *testing.T) {
	var s Stmts[int]
	ids := []uint32{0, 1, 2, 17, nearStmts - 1, nearStmts, nearStmts + 1, 0xf000_0000, LastPrepared}
	check := func(step string, want func(i int) bool) {
		t.Helper()
		for i, id := range ids {
			got := s.Get(id)
			if want(i) != (got != nil) || got != nil && *got != i {
				t.Errorf("%s: at %d is %v", step, id, got)
			}
		}
		if s.Get(3) != nil || s.Get(nearStmts+2) != nil {
			t.Errorf("%s: something at numbers never used", step)
		}
	}
	none := func(int) bool { return false }
	check("new", none)
	for i := range ids {
		other := -1
		s.Put(ids[len(ids)-1-i], &other) // what comes later counts
	}
	for i, id := range ids {
		s.Put(id, &i)
	}
	check("put", func(int) bool { return true })
	for i := 0; i < len(ids); i += 2 {
		s.Drop(ids[i])
	}
	s.Drop(nearStmts + 2)
	check("dropped", func(i int) bool { return i%2 == 1 })
	s.Clear()
	check("cleared", none)
}
