package gate

import (
	"sync/atomic"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// A shapeHolder holds the latest shape of a statement, nil for none.
type shapeHolder = atomic.Pointer[shape]

// A shape is how the results of a statement begin, and what is encrypted in
// them, for sessions that are alike. It never changes once a judgement has it.
type shape struct {
	key  shapeKey
	head wire.Head
	plan *plan
}

// A shapeKey is what a session contributes to a shape.
type shapeKey struct {
	caps        wire.Capabilities
	layout      byte
	provisioned bool
	utf8        bool
}

func (ss *session) shapeKey() shapeKey {
	return shapeKey{ss.server.Caps, ss.enc.Layout(), ss.enc.Provisioned(), ss.utf8}
}

// recognise passes over the definitions of a result if they are those of the
// last time, and makes ready for the rows of a cursor.
func (a *answer) recognise() error {
	if a.plan == nil && a.v.judgement != noResult.judgement {
		if sh := a.v.shape.Load(); sh != nil && sh.plan != nil && sh.key == a.shapeKey() {
			same, err := a.resp.SkipHead(a.server, a.client, &sh.head)
			if err != nil {
				return err
			}
			if same {
				a.plan = sh.plan
				if err := a.confirm(); err != nil {
					return err
				}
			}
		}
	}
	if a.plan == nil {
		return nil
	}
	return a.begin()
}

// note begins to note the definitions that come.
func (a *answer) note() {
	a.shape = nil
	if a.v.judgement == noResult.judgement || a.server.Sequence() != 2 {
		return
	}
	if sh := a.v.shape.Load(); sh != nil && sh.plan == nil {
		return // cannot be recognised
	}
	a.shape = &shape{key: a.shapeKey()}
}

// noted keeps them when all have come.
func (a *answer) noted() {
	if a.shape == nil || len(a.plan.types) < a.resp.Columns {
		return
	}
	if a.shape.head.Complete(); !a.shape.head.Spoiled() {
		a.shape.plan = a.plan
	}
	a.v.shape.Store(a.shape)
	a.shape = nil
}
