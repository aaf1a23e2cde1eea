package volumetest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
)

// A victim is what a crash ends.
type victim int

const (
	theServer victim = iota
	theMount
	serverThenMount
	mountThenServer
	victims
)

func (v victim) String() string {
	return [...]string{"the server", "the mount", "the server, then the mount", "the mount, then the server"}[v]
}

// TestCrash kills the server, the program that serves its mount, or both, at
// random moments under load. Afterwards the server must recover by itself, and
// hold all that it had acknowledged.
func TestCrash(t *testing.T) {
	for _, engine := range []string{target.Postgres, target.MariaDB} {
		for _, cache := range []string{"through", "back"} {
			t.Run(engine+"/"+cache, func(t *testing.T) {
				t.Parallel()
				crashes(t, engine, cache)
			})
		}
	}
}

// renewal is after how many crashes the tables are made anew, so that checking
// them does not take ever longer.
const renewal = 10

func crashes(t *testing.T, engine, cache string) {
	rng := newRand(t)
	v := mountVolume(t, "", cache)
	s := startServer(t, engine, filepath.Join(v.point, "data"), durable[engine])
	l := newLoad(t, s)
	i, who := 0, theServer
	t.Cleanup(func() {
		if t.Failed() && v.mount != nil {
			t.Logf("after crash %d, of %s; the mount said: %s; the server: %s", i+1, who, v.mount.output(), s.log())
		}
	})
	n := *cycles
	if n == 0 {
		n = 1
		if cache == "through" {
			n = 3
		}
	}
	commits := 0
	for i = range n {
		who = theMount + victim(i)%(victims-theMount)
		if *cycles > 0 {
			who = victim(rng.IntN(int(victims)))
		}
		before := l.commits()
		l.start(rng)
		// Some movements come first, so that there is something to lose.
		eventually(t, "a commit", func() bool { return l.commits() > before+5 || l.failed() })
		if *cycles > 0 {
			time.Sleep(time.Duration(rng.IntN(600)) * time.Millisecond)
		}
		crash(t, s, v, who)
		l.stop()
		commits += l.commits() - before
		s.recover(t)
		l.verify(t)
		if *cycles == 0 || i%5 == 4 || i == n-1 {
			s.checkEngine(t)
		}
		if t.Failed() {
			return
		}
		if i%renewal == renewal-1 {
			l.renew(t)
		}
	}
	t.Logf("%d crashes, %d acknowledged movements", n, commits)
}

// crash kills who, and mounts again if that is needed.
func crash(t *testing.T, s *server, v *volumeDir, who victim) {
	t.Helper()
	switch who {
	case theServer:
		s.Kill()
		return
	case theMount:
		// The server sees its files fail, and may end by itself.
		v.kill()
		select {
		case <-s.Done():
		case <-time.After(300 * time.Millisecond):
		}
		s.Kill()
	case serverThenMount:
		s.Kill()
		v.kill()
	case mountThenServer:
		v.kill()
		s.Kill()
	}
	v.start(t)
}

// failed reports whether a worker ended by itself.
func (l *load) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.errs) > 0
}

// newRand draws by the flag -seed, and says by which if that fails.
func newRand(t testing.TB) *rand.Rand {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("drawn with -seed %d", s)
		}
	})
	h := uint64(0)
	for _, c := range fmt.Sprint(t.Name()) {
		h = h*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(s, h))
}
