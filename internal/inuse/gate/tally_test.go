package gate

import (
	"sync"
	"testing"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/lineage"
)

// TestTally: no result is lost or counted twice, whoever settles meanwhile, and
// each event of a session comes before those that follow it.
func TestTally(t *testing.T) {
	var mu sync.Mutex
	results, rows := map[string]int64{}, map[string]int64{}
	var kinds []string
	srv := New(Config{Audit: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		kinds = append(kinds, e.Kind)
		if e.Kind == "ciphertext" {
			key := e.User + " " + e.Rule + " " + e.Class
			results[key] += e.Results
			rows[key] += e.Rows
		}
	}})
	version := &policy.Version{Number: 3}
	a := &answer{session: &session{srv: srv, id: 7, user: "app", rules: version}}
	plans := make([]*plan, maxTallied+5) // more than are held
	for i := range plans {
		plans[i] = &plan{cols: []int{0}, rules: map[string]policy.Level{"one": policy.Ciphertext, "two": policy.Blocked}}
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				srv.settleAll()
			}
		}
	}()
	const n = 1000
	for i := range n {
		a.plan, a.rows, a.v = plans[i%len(plans)], 2, verdict{judgement: &judgement{Verdict: &lineage.Verdict{Class: lineage.ClassSelect}}}
		a.report()
	}
	close(stop)
	<-done
	a.report()
	srv.cfg.Audit(Event{Kind: "logout", Session: 7})
	mu.Lock()
	defer mu.Unlock()
	for _, rule := range []string{"one", "two"} {
		if key := "app " + rule + " select"; results[key] != n+1 || rows[key] != 2*(n+1) {
			t.Errorf("rule %s: %d results with %d rows, want %d with %d", rule, results[key], rows[key], n+1, 2*(n+1))
		}
	}
	if last := kinds[len(kinds)-1]; last != "logout" {
		t.Errorf("%s came after the session's end", last)
	}
}
