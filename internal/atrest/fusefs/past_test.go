//go:build linux

package fusefs

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestIsLog(t *testing.T) {
	for name, want := range map[string]bool{
		"000000010000000A000000FF": true, "xlogtemp.1234": true, // PostgreSQL
		"ib_logfile0": true, "ib_logfile101": true, "#ib_redo12": true, "#ib_redo13_tmp": true, // InnoDB
		"aria_log.00000001": true, "binlog.000001": true, "mysql-bin.012345": true, "relay-bin.000007": true,
		"16384": false, "16384.1": false, "16384.123456": false, "16384_fsm": false, "pg_control": false,
		"000000010000000a000000ff": false, "000000010000000A000000FF.partial": false, "0000": false,
		"ibdata1": false, "undo001": false, "t1.ibd": false, "aria_log_control": false, "aria_log.": false,
		"00000001.history": false, "binlog.index": false, "binlog.00000x": false, "": false, ".": false,
	} {
		if got := isLog(name); got != want {
			t.Errorf("isLog(%q) = %v", name, got)
		}
	}
}

// TestLogBecomesAnother checks that a file goes by the name it has now.
func TestLogBecomesAnother(t *testing.T) {
	for _, cache := range []CacheMode{WriteThrough, WriteBack} {
		fs := &fileSystem{opts: Options{Cache: cache}}
		n := &node{kind: unix.S_IFREG}
		for _, name := range []string{"ib_logfile0", "kept", "binlog.000001", "binlog.old"} {
			fs.named(n, name)
			if past := fs.enter(n, false, false); past != isLog(name) {
				t.Errorf("cache %v: %s past the cache: %v", cache, name, past)
			} else if past {
				n.past = 0 // closed
			}
		}
	}
}

// TestLogIsWrittenAtOnce checks that with write-back caching the write of a log
// is in the lower file before anybody syncs, and outlives the mount.
func TestLogIsWrittenAtOnce(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, WriteBack: true})
	want := bytes.Repeat([]byte("a commit "), 1000)
	for _, name := range []string{"ib_logfile0", "xlogtemp.1"} {
		f, err := os.Create(filepath.Join(m.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if name == "xlogtemp.1" { // as PostgreSQL does
			if err := os.Rename(f.Name(), filepath.Join(m.dir, "000000010000000000000001")); err != nil {
				t.Fatal(err)
			}
			f.Close()
			if f, err = os.OpenFile(filepath.Join(m.dir, "000000010000000000000001"), os.O_RDWR, 0); err != nil {
				t.Fatal(err)
			}
			defer f.Close()
		}
		if _, err := f.Write(want); err != nil {
			t.Fatal(err)
		}
	}
	m.kill(t)
	m.remount(t)
	for _, name := range []string{"ib_logfile0", "000000010000000000000001"} {
		got, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes after the mount was killed, %v", name, len(got), err)
		}
	}
}

// TestTimeOfLog checks that the time of a log, which the kernel does not keep,
// is that of its last write once it is closed, whatever it is called by then.
func TestTimeOfLog(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, WriteBack: true})
	path := filepath.Join(m.dir, "ib_logfile0")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for newPath := filepath.Join(m.dir, "ib_logfile1"); ; {
		if _, err := f.Write([]byte("more")); err != nil {
			t.Fatal(err)
		}
		low, err := os.Stat(filepath.Join(m.Lower, "ib_logfile0"))
		if err != nil {
			t.Fatal(err)
		}
		if low.ModTime().After(before.ModTime()) { // the clock of files has moved
			if err := os.Rename(path, newPath); err != nil {
				t.Fatal(err)
			}
			path = newPath
			break
		}
		time.Sleep(time.Millisecond)
	}
	f.Close()
	low, err := os.Stat(filepath.Join(m.Lower, "ib_logfile1"))
	if err != nil {
		t.Fatal(err)
	}
	if !low.ModTime().After(before.ModTime()) {
		t.Fatalf("below it is %v, as before the writes", low.ModTime())
	}
	deadline := time.Now().Add(time.Minute)
	for {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.ModTime().Equal(low.ModTime()) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the mount says %v, below it is %v", st.ModTime(), low.ModTime())
		}
		time.Sleep(time.Millisecond)
	}
}

// TestExpiryIsNotSeen has programs look at a log, and open it, while others write
// and close it, so that the kernel is told again and again that it is stale.
func TestExpiryIsNotSeen(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, WriteBack: true})
	path := filepath.Join(m.dir, "binlog.000001")
	var wg sync.WaitGroup
	end := time.Now().Add(3 * time.Second)
	for _, use := range []func() error{
		func() error { return os.WriteFile(path, []byte("more"), 0o600) },
		func() error { _, err := os.Stat(path); return err },
		func() error { _, err := os.ReadFile(path); return err },
		func() error { return os.Chmod(path, 0o600) },
		func() error { return os.Rename(path, path) },
	} {
		if err := use(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for time.Now().Before(end) {
				if err := use(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestHandlesOfOneKind checks that O_DIRECT sees what another handle holds back,
// and that no handle holds back what one past the cache is to see.
func TestHandlesOfOneKind(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1, WriteBack: true})
	for _, order := range [][2]int{{0, unix.O_DIRECT}, {unix.O_DIRECT, 0}} {
		path := filepath.Join(m.dir, "f")
		a, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|order[0], 0o600)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.OpenFile(path, os.O_RDWR|order[1], 0)
		if err != nil {
			t.Fatal(err)
		}
		page := aligned(4096)
		for i, f := range []*os.File{a, b, a, b} {
			other := []*os.File{b, a}[i%2]
			for k := range page {
				page[k] = byte(i + 1)
			}
			if _, err := f.WriteAt(page, int64(8192*i+4096)); err != nil {
				t.Fatal(err)
			}
			clear(page)
			if n, err := other.ReadAt(page, int64(8192*i)); err != nil || !bytes.Equal(page, make([]byte, 4096)) {
				t.Fatalf("order %v: hole before write %d: %d bytes, %v", order, i, n, err)
			}
			if n, err := other.ReadAt(page, int64(8192*i+4096)); err != nil || page[0] != byte(i+1) {
				t.Fatalf("order %v: write %d: %d bytes, %v", order, i, n, err)
			}
		}
		a.Close()
		b.Close()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
