package gate

import (
	"sync"
	"time"

	"github.com/veildb/veildb/internal/sql/lineage"
)

// A tally sums up a session's results with ciphertext, which come by the
// thousand, for the audit log: one event for those that are alike.
type tally struct {
	mu         sync.Mutex
	session    uint64
	user, host string
	entries    []tallied
}

// A tallied is what results of one plan add up to.
type tallied struct {
	plan          *plan
	class         lineage.Class
	rules         uint64
	first         time.Time
	results, rows int64
}

const (
	tallyDelay = 100 * time.Millisecond // how long an event may so wait
	maxTallied = 64                     // of one tally
)

// tallies are those that hold something.
type tallies struct {
	log   func(Event)
	mu    sync.Mutex
	held  map[uint64]*tally // by session
	timer *time.Timer       // settles them, nil if there are none
}

// add counts a result. The caller calls settle when full reports so.
func (t *tally) add(a *answer) (full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rules := a.session.rules.Number
	for i := range t.entries {
		if e := &t.entries[i]; e.plan == a.plan && e.class == a.v.Class && e.rules == rules {
			e.results++
			e.rows += a.rows
			return false
		}
	}
	if len(t.entries) == 0 {
		t.session, t.user, t.host = a.id, a.user, a.host
		a.srv.tallies.hold(t, a.srv.settleAll)
	}
	t.entries = append(t.entries, tallied{a.plan, a.v.Class, rules, time.Now(), 1, a.rows})
	return len(t.entries) >= maxTallied
}

// take empties a tally and returns its events.
func (t *tally) take() (events []Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.entries {
	rules:
		for rule, level := range n.plan.rules {
			e := Event{
				Time: n.first, Session: t.session, Kind: "ciphertext", User: t.user, Host: t.host, Level: level.String(),
				Rules: n.rules, Rule: rule, Class: string(n.class), Columns: len(n.plan.cols), Rows: n.rows, Results: n.results,
			}
			for i := range events { // other statements with an equal outcome
				if o := &events[i]; o.Rule == e.Rule && o.Level == e.Level && o.Class == e.Class && o.Columns == e.Columns && o.Rules == e.Rules {
					o.Rows, o.Results = o.Rows+e.Rows, o.Results+e.Results
					continue rules
				}
			}
			events = append(events, e)
		}
	}
	clear(t.entries)
	t.entries = t.entries[:0]
	return events
}

// hold keeps a tally that has begun, to be settled soon.
func (ts *tallies) hold(t *tally, settle func()) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.held == nil {
		ts.held = map[uint64]*tally{}
	}
	ts.held[t.session] = t
	if ts.timer == nil {
		ts.timer = time.AfterFunc(tallyDelay, settle)
	}
}

// audit tells the audit log of an event, and before it of what the session has
// held back.
func (s *Server) audit(e Event) {
	s.settle(e.Session)
	s.tallies.log(e)
}

// settle tells the audit log what a session has held back.
func (s *Server) settle(session uint64) {
	s.tallies.mu.Lock()
	t := s.tallies.held[session]
	delete(s.tallies.held, session)
	s.tallies.mu.Unlock()
	if t != nil {
		s.tell(t)
	}
}

// settleAll is settle for all sessions.
func (s *Server) settleAll() {
	s.tallies.mu.Lock()
	held := s.tallies.held
	s.tallies.held, s.tallies.timer = nil, nil
	s.tallies.mu.Unlock()
	for _, t := range held {
		s.tell(t)
	}
}

func (s *Server) tell(t *tally) {
	for _, e := range t.take() {
		s.tallies.log(e)
	}
}
