package gate

import (
	"sync"
	"time"
)

// guessing limits how many constants an account may compare with protected
// columns: every comparison tells whether a guess was right. It is a bucket for
// a minute's worth.
type guessing struct {
	mu   sync.Mutex
	left map[string]*bucket // by account
}

type bucket struct {
	left float64
	at   time.Time
}

// take takes n of an account's guesses, and reports whether there were so many.
func (g *guessing) take(account string, n, perMinute int, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left == nil {
		g.left = map[string]*bucket{}
	}
	b := g.left[account]
	if b == nil {
		b = &bucket{left: float64(perMinute), at: now}
		g.left[account] = b
	}
	b.left = min(float64(perMinute), b.left+now.Sub(b.at).Minutes()*float64(perMinute))
	b.at = now
	if b.left < float64(n) {
		return false
	}
	b.left -= float64(n)
	return true
}

// spend counts the guesses of a statement about to run, if any rule minds them.
func (ss *session) spend(j *judgement) *Refusal {
	if j.Guesses == 0 || ss.reader.guessable {
		return nil
	}
	ss.srv.count.guesses.Add(int64(j.Guesses))
	if !ss.srv.guesses.take(ss.user, j.Guesses, ss.srv.cfg.MaxGuesses, time.Now()) {
		return refuseGuesses
	}
	ss.event(Event{Kind: "condition", Rule: j.all.Rule, Class: string(j.Class), Rows: int64(j.Guesses)})
	return nil
}
