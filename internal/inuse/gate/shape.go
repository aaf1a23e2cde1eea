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
		if sh := a.v.shape.Load(); sh != nil && !sh.head.Spoiled() && sh.key == a.shapeKey() {
			same, err := a.resp.SkipHead(a.server, a.client, &sh.head)
			if err != nil {
				return err
			}
			if same {
				a.plan = sh.plan
				a.remember(sh)
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
	if a.v.judgement == noResult.judgement || a.later {
		return
	}
	keep := a.st != nil && a.omits()
	if keep {
		a.st.shape = nil // until all have come
	} else if sh := a.v.shape.Load(); sh != nil && sh.head.Spoiled() || a.server.Sequence() != 2 {
		return // cannot be recognised
	}
	a.shape = &shape{key: a.shapeKey()}
	a.shape.head.Keep = keep
}

// notePrepared does so when a statement is prepared.
func (a *answer) notePrepared() {
	n := int(a.resp.Prepared.Columns)
	if n == 0 || !a.omits() {
		return
	}
	a.shape = &shape{key: a.shapeKey()}
	a.shape.head.Keep = true
	count := wire.AppendColumnCount(nil, n, a.server.Caps)
	a.shape.head.Add(count, count)
}

// noted keeps them when all have come.
func (a *answer) noted() {
	if a.shape == nil || len(a.plan.types) < a.resp.Columns {
		return
	}
	sh := a.shape
	a.shape, sh.plan = nil, a.plan
	sh.head.Complete()
	known := a.v.shape.Load()
	if known != nil && known.key == sh.key && !sh.head.Spoiled() && known.head.Equal(&sh.head) {
		sh = known // of another session, or of an execution before
	} else if sh.head.Spoiled() {
		a.v.shape.Store(longShape)
	} else {
		a.v.shape.Store(sh)
	}
	a.remember(sh)
}

// longShape stands for those that cannot be recognised.
var longShape = func() *shape {
	sh := new(shape)
	sh.head.Complete()
	return sh
}()

// omits reports whether the server leaves out definitions that it has sent before.
func (ss *session) omits() bool { return ss.server.Caps.Has(wire.MariaDBCacheMetadata) }

// remember takes note of definitions that have been sent.
func (a *answer) remember(sh *shape) {
	if a.st != nil && a.omits() {
		a.st.shape, a.st.shaped = sh, a.v.judgement
	}
}

// recall makes ready for rows whose definitions the server has left out, as those
// it sent last for the statement hold. Only the first result of an execution can
// be such a one: what a procedure shows has definitions, and of its last result,
// which may have none, nothing is known.
func (a *answer) recall() error {
	if a.st == nil || a.st.shape == nil || a.later || a.st.shape.head.Columns() != a.resp.Columns {
		return errUnjudged
	}
	sh, key := a.st.shape, a.shapeKey()
	key.utf8 = sh.key.utf8 // as it was when they came
	told := a.st.shaped == a.v.judgement && sh.key == key
	if !told {
		var err error
		if sh, err = a.retell(sh, key); err != nil {
			return err
		}
		told = sh.head.EqualOut(&a.st.shape.head)
	}
	a.plan = sh.plan
	if err := a.begin(); err != nil {
		return err
	}
	if err := a.confirm(); err != nil {
		return err
	}
	a.remember(sh)
	if told {
		return a.server.CopyTo(a.client)
	}
	return sh.head.EachOut(a.client.WritePacket)
}

// retell judges definitions that came before once more: rules are others now, or
// the client has handed over a key.
func (a *answer) retell(old *shape, key shapeKey) (*shape, error) {
	sh := &shape{key: key}
	sh.head.Keep = true
	a.plan = &plan{}
	first := true
	err := old.head.EachIn(func(in []byte) error {
		out := in
		if !first {
			var err error
			if out, err = a.define(in, key.utf8); err != nil {
				return err
			}
		}
		first = false
		sh.head.Add(in, out)
		return nil
	})
	sh.plan = a.plan
	if sh.head.Complete(); err == nil && sh.head.Columns() != a.resp.Columns {
		err = errUnjudged
	}
	return sh, err
}

// disclose begins the answer to an account that may see all: the first execution of
// a statement that was prepared when it was restricted tells the client what the
// server's definitions are, should the server leave them out.
func (ss *session) disclose(cmd wire.Command, p []byte) error {
	if cmd != wire.ComStmtExecute || !ss.omits() {
		return nil
	}
	id, st, err := ss.statementOf(p)
	if st == nil {
		return err
	}
	kind, err := ss.resp.Next(ss.server)
	if err != nil {
		return err
	}
	switch kind {
	case wire.KindColumns:
	case wire.KindInfile:
		return errInfile
	default:
		return ss.server.CopyTo(ss.client)
	}
	ss.stmts.Drop(id)
	if !ss.resp.Omitted || st.shape == nil {
		return ss.server.CopyTo(ss.client)
	}
	return st.shape.head.EachIn(ss.client.WritePacket)
}
