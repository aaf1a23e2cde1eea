package volumetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/bench/target"
)

// TestFullDisk fills the file system below a volume under load. The server must
// be told, nothing acknowledged may be lost, and with space again the server
// must work again, if need be after a restart.
func TestFullDisk(t *testing.T) {
	long(t)
	for _, engine := range []string{target.Postgres, target.MariaDB} {
		for _, cache := range []string{"through", "back"} {
			t.Run(engine+"/"+cache, func(t *testing.T) { fullDisk(t, engine, cache) })
		}
	}
}

func fullDisk(t *testing.T, engine, cache string) {
	rng := newRand(t)
	dir := tempDir(t)
	disk, lower := filepath.Join(dir, "disk"), filepath.Join(dir, "lower")
	if err := os.Mkdir(lower, 0o755); err != nil {
		t.Fatal(err)
	}
	newDisk(t, disk, diskSize)
	mountDisk(t, disk, lower)
	t.Cleanup(func() { unix.Unmount(lower, unix.MNT_DETACH) })
	v := mountVolume(t, filepath.Join(lower, "volume"), cache)
	s := startServer(t, engine, filepath.Join(v.point, "data"), durable[engine])
	l := newLoad(t, s)
	for round := range 3 {
		l.start(rng)
		before := l.commits()
		eventually(t, "a commit", func() bool { return l.commits() > before+20 || l.failed() })
		ballast := filepath.Join(lower, "ballast")
		fill(t, ballast, lower)
		// Until the server refuses, or waits for space.
		last, since := l.commits(), time.Now()
		eventually(t, "the full disk", func() bool {
			if n := l.commits(); n != last {
				last, since = n, time.Now()
				fill(t, ballast, lower)
			}
			return l.failed() || time.Since(since) > 5*time.Second
		})
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		errs := l.stop()
		if !toldFull(errs, s) {
			t.Errorf("round %d: nobody said that the disk is full: %v; the server's log: %s", round+1, errs, s.log())
		}
		// A server that gave up is started again; the volume is as it was.
		select {
		case <-s.Done():
			s.recover(t)
		case <-time.After(time.Second):
			eventually(t, "an answer", func() bool { return s.db.Ping() == nil })
		}
		if ended(v.mount.done) {
			t.Fatalf("the mount ended: %v; it said: %s", v.mount.err, v.mount.output())
		}
		l.verify(t)
		s.checkEngine(t)
		if t.Failed() {
			t.Fatalf("round %d; the server's log: %s", round+1, s.log())
		}
		t.Logf("round %d: %d acknowledged; %s", round+1, l.commits()-before, firstLine(errs))
	}
}

// fill leaves nearly no space in the file system of dir.
func fill(t testing.TB, ballast, dir string) {
	t.Helper()
	f, err := os.OpenFile(ballast, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // not even an inode
	}
	defer f.Close()
	var st unix.Statfs_t
	info, err := f.Stat()
	if err == nil {
		err = unix.Statfs(dir, &st)
	}
	if err != nil {
		t.Fatal(err)
	}
	for piece := int64(st.Bfree) * st.Bsize; piece >= 4096; piece /= 2 {
		if unix.Fallocate(int(f.Fd()), 0, info.Size(), piece) == nil {
			if info, err = f.Stat(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// toldFull reports whether the client or the server's log was told of a full
// disk.
func toldFull(errs []error, s *server) bool {
	text := fmt.Sprint(errs) + string(s.log())
	for _, words := range []string{"No space left", "is full", "Disk full", "Disk is full", "rrcode: 28", "SQLSTATE 53100", "disk full"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func firstLine(errs []error) []byte {
	if len(errs) == 0 {
		return []byte("no error, the server waited")
	}
	line, _, _ := bytes.Cut([]byte(errs[0].Error()), []byte("\n"))
	return line
}
