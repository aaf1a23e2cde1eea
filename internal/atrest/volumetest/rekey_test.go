package volumetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestKillRekey kills the program that serves a volume at random moments of a
// rekey, while its files are written, cut, renamed and linked. What is found
// then is whole and can be explained, and the next mount leaves nothing of it.
func TestKillRekey(t *testing.T) {
	for _, options := range [][]string{nil, {"--names", "encrypted"}} {
		t.Run("options="+strings.Join(options, " "), func(t *testing.T) {
			t.Parallel()
			killRekeys(t, options)
		})
	}
}

func killRekeys(t *testing.T, options []string) {
	if *control {
		t.Skip("plain directories have no keys")
	}
	rng := newRand(t)
	v := mountVolume(t, "", "through", options...)
	still := map[string][]byte{}
	for i := range 12 {
		name := filepath.Join(v.point, fmt.Sprintf("still %d", i))
		still[name] = bytes.Repeat([]byte{byte(i), 1, 2}, rng.IntN(200_000))
		if err := os.WriteFile(name, still[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := max(*cycles, 3)
	last := 100 * time.Millisecond // that a rekey took
	for i := range n {
		busy := newBusyFiles(v.point, rng.Uint64())
		veildb(t, "key", "rotate", v.key, "--dek")
		began, ended := time.Now(), make(chan error, 1)
		go func() {
			_, err := tryVeildb("volume", "rekey", v.lower, "--key", v.key)
			ended <- err
		}()
		wait := time.NewTimer(time.Duration(rng.Int64N(int64(last)*5/4 + 1)))
		var err error
		done := false
		select {
		case err = <-ended:
			done = true
			last = min(time.Since(began), 5*time.Second)
		case <-wait.C:
		}
		wait.Stop()
		if done && err != nil {
			t.Errorf("cycle %d: rekey: %v", i, err)
		}
		v.kill()
		busy.stop()
		if !done {
			<-ended
		}
		v.looksRight(t, i, false)
		v.start(t)
		for name, want := range still {
			if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
				t.Errorf("cycle %d: %s: %d bytes, %v; want %d", i, name, len(got), err, len(want))
			}
		}
		if i%2 == 0 {
			v.stop(t)
			v.looksRight(t, i, true)
			v.start(t)
		}
		if t.Failed() {
			return
		}
	}
}

// looksRight checks v, which is not mounted. Before the next mount a change of
// the configuration may be left half made; after it nothing is.
func (v *volumeDir) looksRight(t *testing.T, cycle int, tidy bool) {
	t.Helper()
	out, err := tryVeildb("volume", "check", v.lower, "--key", v.key, "--read", "--json")
	if err == nil {
		return
	}
	var r struct {
		Problems []struct{ Path, What, Severity string }
	}
	if jerr := json.Unmarshal([]byte(out), &r); jerr != nil {
		t.Errorf("cycle %d: volume check: %v", cycle, err)
		return
	}
	for _, p := range r.Problems {
		private := strings.HasPrefix(p.Path, ".veildb/") &&
			(strings.HasPrefix(p.What, "left by an interrupted") || strings.HasPrefix(p.What, "not a copy of the configuration"))
		long := strings.HasPrefix(p.What, "long name of an entry that is not there")
		if !tidy && private || long {
			t.Logf("cycle %d: %s: %s", cycle, p.Path, p.What)
			continue
		}
		t.Errorf("cycle %d, mounted since %v: %s: %s: %s", cycle, tidy, p.Severity, p.Path, p.What)
	}
}

// busyFiles are changed by several goroutines until their file system goes.
type busyFiles struct {
	halt chan struct{}
	wg   sync.WaitGroup
}

func newBusyFiles(dir string, seed uint64) *busyFiles {
	b := &busyFiles{halt: make(chan struct{})}
	for i := range 2 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		b.wg.Go(func() {
			for {
				select {
				case <-b.halt:
					return
				default:
				}
				if err := change(rng, filepath.Join(dir, fmt.Sprintf("busy %d", i))); err != nil {
					return
				}
			}
		})
	}
	return b
}

func (b *busyFiles) stop() {
	close(b.halt)
	b.wg.Wait()
}

// change does one random thing to the files at path. Only that the file system
// has gone is an error.
func change(rng *rand.Rand, path string) error {
	name := fmt.Sprintf("%s %d", path, rng.IntN(4))
	long := name + strings.Repeat("long", 50)
	var err error
	switch rng.IntN(8) {
	case 0:
		err = os.WriteFile(name, make([]byte, rng.IntN(50_000)), 0o600)
	case 1:
		err = os.Truncate(name, rng.Int64N(100_000))
	case 2:
		err = os.Rename(name, long)
	case 3:
		err = os.Rename(long, name)
	case 4:
		err = os.Remove(name)
	case 5:
		err = os.Link(name, name+" linked")
	case 6:
		err = os.Remove(name + " linked")
	default:
		var f *os.File
		if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			_, err = f.WriteAt(bytes.Repeat([]byte{byte(rng.Int())}, 1+rng.IntN(70_000)), rng.Int64N(300_000))
			if rng.IntN(4) == 0 {
				unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, rng.Int64N(100_000), 30_000)
			}
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}
	}
	if err != nil && !isGone(err) {
		return nil
	}
	return err
}

// isGone reports whether err says that nobody serves the file system any more.
func isGone(err error) bool {
	return errors.Is(err, unix.ENOTCONN) || errors.Is(err, unix.ECONNABORTED)
}
