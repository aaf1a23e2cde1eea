package gate

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/token"
)

// verdicts remembers statements that one account may run: programs send the same
// texts again and again. A change of tables or rules makes another access, and
// with it another memory. It is safe for concurrent use.
type verdicts struct {
	mu    sync.RWMutex
	known map[verdictKey]*known
	size  int // bytes of texts, with their allowance for shapes
}

// A verdictKey is what a verdict depends on, beside the access.
type verdictKey struct {
	mode     token.Mode
	database string
	sql      string
}

// A known is a statement that has been judged.
type known struct {
	verdict
	shape atomic.Pointer[shape] // of the latest result
}

// What an access remembers at most, in bytes. A statement that is longer has
// values in it and hardly comes again.
const (
	maxVerdicts    = 1 << 20
	maxKnownText   = 4 << 10
	knownAllowance = 4 << 10
)

// recall is judge for a statement that may have been judged before. The verdict
// has memory of its own then.
func (r *reader) recall(sql []byte) (verdict, *Refusal) {
	m := &r.access.verdicts
	m.mu.RLock()
	k := m.known[verdictKey{r.mode, r.database, string(sql)}]
	m.mu.RUnlock()
	if k != nil {
		return k.verdict, nil
	}
	v, ref := r.judge(sql)
	if ref != nil || len(sql) > maxKnownText {
		return v, ref
	}
	v.sql = slices.Clone(v.sql)
	k = &known{verdict: v}
	k.known = k
	m.add(verdictKey{r.mode, r.database, string(sql)}, k)
	return k.verdict, nil
}

func (m *verdicts) add(key verdictKey, k *known) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := 2*len(key.sql) + knownAllowance
	if m.size+size > maxVerdicts || m.known == nil {
		m.known, m.size = map[verdictKey]*known{}, 0
	}
	m.known[key] = k
	m.size += size
}

// A shape is how the results of a statement begin, and what is encrypted in
// them, for sessions that are alike. It never changes once a known has it.
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
	if a.plan == nil && a.v.known != nil {
		if sh := a.v.known.shape.Load(); sh != nil && sh.plan != nil && sh.key == a.shapeKey() {
			same, err := a.resp.SkipHead(a.server, a.client, &sh.head)
			if err != nil {
				return err
			}
			if same {
				a.plan = sh.plan
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
	if a.v.known == nil || a.server.Sequence() != 2 {
		return
	}
	if sh := a.v.known.shape.Load(); sh != nil && sh.plan == nil {
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
	a.v.known.shape.Store(a.shape)
	a.shape = nil
}
