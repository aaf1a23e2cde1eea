package encdb

import (
	"sync"
	"time"
)

// A Limiter counts failed attempts of each user over all connections. It is
// safe for concurrent use.
type Limiter struct {
	most   int
	window time.Duration

	mu    sync.Mutex
	users map[string]failures
}

type failures struct {
	n     int
	until time.Time
}

// maxUsers is how many users a Limiter tells apart at a time; those beyond
// share one count.
const maxUsers = 4096

// NewLimiter allows each user most failures in a window.
func NewLimiter(most int, window time.Duration) *Limiter {
	return &Limiter{most: most, window: window, users: map[string]failures{}}
}

// allowed reports whether user may try again.
func (l *Limiter) allowed(user string, now time.Time) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, ok := l.users[user]
	if !ok && len(l.users) >= maxUsers {
		f = l.users[""]
	}
	return f.n < l.most || now.After(f.until)
}

// failed counts a failure of user.
func (l *Limiter) failed(user string, now time.Time) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.users[user]; !ok && len(l.users) >= maxUsers {
		for u, f := range l.users {
			if now.After(f.until) {
				delete(l.users, u)
			}
		}
		if len(l.users) >= maxUsers {
			user = ""
		}
	}
	f := l.users[user]
	if now.After(f.until) {
		f = failures{until: now.Add(l.window)}
	}
	f.n++
	l.users[user] = f
}
