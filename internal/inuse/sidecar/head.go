package sidecar

import "github.com/veildb/veildb/internal/inuse/wire"

// A head is how results of a statement begin, and what their columns are.
type head struct {
	head wire.Head
	set  *resultSet // nil: not complete
}

func (h *head) complete(set *resultSet) {
	if h.head.Complete(); !h.head.Spoiled() {
		set.kept = true
		h.set = set
	}
}

// heads are those of a session's statements. The next execution begins like the
// last unless somebody has changed the table.
type heads struct {
	text     head // of the last statement that was sent as text
	prepared wire.Stmts[head]
	kept     int // of prepared
}

// maxHeads bounds the prepared statements whose heads are kept.
const maxHeads = 256

// find returns what is known of the answer to a command, or nil.
func (h *heads) find(cmd wire.Command, id uint32) *head {
	switch cmd {
	case wire.ComQuery:
		return &h.text
	case wire.ComStmtExecute:
		return h.prepared.Get(id)
	}
	return nil
}

// renew returns the head to note for a command, empty, or nil.
func (h *heads) renew(cmd wire.Command, id uint32) *head {
	found := h.find(cmd, id)
	if found == nil {
		if cmd != wire.ComStmtExecute {
			return nil
		}
		if h.kept++; h.kept > maxHeads {
			h.prepared.Clear()
			h.kept = 1
		}
		found = &head{}
		h.prepared.Put(id, found)
	}
	found.set = nil
	found.head.Reset()
	return found
}

// drop forgets a prepared statement.
func (h *heads) drop(id uint32) {
	if h.prepared.Get(id) != nil {
		h.prepared.Drop(id)
		h.kept--
	}
}
