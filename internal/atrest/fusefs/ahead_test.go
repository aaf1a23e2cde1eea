//go:build linux

package fusefs

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
)

// An aheadStep does one thing to an ahead and says what came of it: W a write
// that ends inside a page, P one that ends with it, C another change, F a
// data-only sync, E the end of a sync ahead, X one that failed. Answers: + a sync
// ahead starts, s stale, d due, y synced, - nothing.
func aheadStep(a *ahead, step byte) byte {
	switch step {
	case 'W', 'P':
		if a.wrote(map[byte]int64{'W': 100, 'P': pageSize}[step]) {
			return '+'
		}
	case 'C':
		a.changed()
	case 'F':
		return "sdy"[a.asked(nil, &fuse.Request{Header: &fuse.Header{}})]
	case 'E', 'X':
		if a.running {
			a.end(step == 'E')
		}
	}
	return '-'
}

func TestAhead(t *testing.T) {
	used := strings.Repeat("WF", enoughPairs) // in turn, from now on synced ahead
	quiet := strings.Repeat("-s", enoughPairs)
	for _, c := range []struct{ name, steps, want string }{
		{"unused", "F", "s"},
		{"in turn", used + "WFEWFE", quiet + "+d-+d-"},
		{"asked late", used + "WEFF", quiet + "+-yy"},
		{"failed", used + "WFXF", quiet + "+d-s"},
		{"failed before it was asked for", used + "WXF", quiet + "+-s"},
		{"written meanwhile", used + "WWF", quiet + "+-s"},
		{"written meanwhile, ended", used + "WWEF", quiet + "+--s"},
		{"changed meanwhile", used + "WCF", quiet + "+-s"},
		{"changed afterwards", used + "WECF", quiet + "+--s"},
		{"written twice: not in turn", used + "WEWFW", quiet + "+--s-"},
		{"written with two requests", used + "PWFEPWFE", quiet + "-+d--+d-"},
		{"too many wait", used + "WFFFFF", quiet + "+dddds"},
	} {
		var a ahead
		var got []byte
		for i := range len(c.steps) {
			got = append(got, aheadStep(&a, c.steps[i]))
		}
		if string(got) != c.want {
			t.Errorf("%s: %s gave %s, want %s", c.name, c.steps, got, c.want)
		}
	}
}

// TestAheadNeverEarly has a file used at random and checks each answer that a
// sync ahead gave: it began after the last change, and did not fail.
func TestAheadNeverEarly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	early, answered := 0, 0
	for range 2000 {
		var a ahead
		changed, began, durable := 1, 0, 0 // times of the last of each
		for now := 2; now < 100; now++ {
			step := "WFE"[now%3]
			if now > 30 && rng.IntN(8) == 0 { // it is synced ahead by now
				step = "WWFFFEPCX"[rng.IntN(9)]
			}
			was := a.running
			got := aheadStep(&a, step)
			switch {
			case step == 'E' && was:
				durable = began
			case got == '+':
				changed, began = now, now
			case strings.IndexByte("WPC", step) >= 0:
				changed = now
			case got == 'd':
				answered++
				if began < changed || !a.running {
					early++
				}
			case got == 'y':
				answered++
				if durable < changed {
					early++
				}
			}
		}
	}
	if early > 0 || answered < 5000 {
		t.Errorf("%d of %d syncs were answered too early", early, answered)
	}
}

// TestSyncAheadFails checks that a sync that failed is told to each handle once,
// though nobody had asked for it, and to one that was opened only then, but not
// to one that was opened when another had heard of it.
func TestSyncAheadFails(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	fs := &fileSystem{}
	f := &file{node: &node{}, lower: &lowerFile{pipe[1]}, users: 1} // a pipe cannot be synced
	h := &handle{file: f}
	f.ahead.pairs = enoughPairs
	if !f.ahead.wrote(100) {
		t.Fatal("no sync ahead")
	}
	if err := fs.willSync(f)(); err != nil {
		t.Fatal(err)
	}
	if f.users != 1 {
		t.Errorf("%d users", f.users)
	}
	f.lower.fd = openTemp(t)
	next, _ := fs.newHandle(f, unix.O_RDWR)
	check := func(name string, h *handle, wants ...unix.Errno) {
		for i, want := range wants {
			if errno := fs.syncOrWait(h, &fuse.Request{Header: &fuse.Header{}}); errno != want {
				t.Errorf("%s: sync %d: %v, want %v", name, i, errno, want)
			}
		}
	}
	check("opened after the failure", next, unix.EIO, 0)
	last, _ := fs.newHandle(f, unix.O_RDWR)
	check("opened after it was told", last, 0)
	check("opened before it", h, unix.EIO, 0)
}

// TestUntoldFailureStays checks that an idle file keeps a failure that nobody was
// told of, and is closed once somebody was.
func TestUntoldFailureStays(t *testing.T) {
	own, err := unix.Dup(openTemp(t))
	if err != nil {
		t.Fatal(err)
	}
	n := &node{}
	f := &file{node: n, lower: &lowerFile{own}}
	f.content = plainFile{f.lower}
	f.faults.Add(1)
	n.file = f
	if n.closeFile(false); n.file != f {
		t.Fatal("the failure is forgotten")
	}
	if errno := f.heard(&handle{file: f}, 0); errno != unix.EIO {
		t.Errorf("told %v", errno)
	}
	if n.closeFile(false); n.file != nil {
		t.Error("the file stays open though its failure was told")
	}
}

// TestSyncsDoNotOvertake has a sync begin while another has taken an error of the
// lower file and has not counted it yet.
func TestSyncsDoNotOvertake(t *testing.T) {
	f := &file{node: &node{}, lower: &lowerFile{openTemp(t)}}
	f.syncing.Lock()
	got := make(chan unix.Errno)
	go func() { got <- f.sync(&handle{file: f}, true) }()
	select {
	case errno := <-got:
		t.Fatalf("told %v before the other is counted", errno)
	case <-time.After(20 * time.Millisecond):
	}
	f.faults.Add(1)
	f.syncing.Unlock()
	if errno := <-got; errno != unix.EIO {
		t.Errorf("told %v", errno)
	}
}

func openTemp(t *testing.T) int {
	f, err := os.Create(filepath.Join(tempDir(t), "f"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return int(f.Fd())
}

// TestGoneWhileSynced has the file go, and its last use end, while a sync ahead
// goes on: it is closed after that, not before.
func TestGoneWhileSynced(t *testing.T) {
	fs := &fileSystem{}
	fd := openTemp(t)
	own, err := unix.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{}
	f := &file{node: n, lower: &lowerFile{own}, users: 1}
	f.content = plainFile{f.lower}
	n.file = f
	then := fs.willSync(f)
	n.leaveFile()
	fs.put(f)
	if _, err := unix.FcntlInt(uintptr(own), unix.F_GETFD, 0); err != nil {
		t.Fatalf("the file is closed before the sync: %v", err)
	}
	if err := then(); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(uintptr(own), unix.F_GETFD, 0); err != unix.EBADF {
		t.Errorf("the file is open after its last use: %v", err)
	}
}

// TestLogIsSyncedAhead writes and syncs in turn on a mount: from the ninth time on
// a sync follows each write by itself, and all are answered.
func TestLogIsSyncedAhead(t *testing.T) {
	for _, c := range []serveConfig{{Key: 1}, {Key: 1, WriteBack: true}} {
		m := mountTest(t, c)
		f, err := os.Create(filepath.Join(m.dir, "ib_logfile0"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 * enoughPairs {
			if _, err := f.WriteAt([]byte("a commit"), int64(i)*16); err != nil {
				t.Fatal(err)
			}
			if err := unix.Fdatasync(int(f.Fd())); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
		m.stop(t)
		if want := "synced 24, 16 ahead"; !slices.Contains(m.log(), want) {
			t.Errorf("log %q, want %q", m.log(), want)
		}
	}
}
