package fusefs

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
)

// Servers write a log and sync it, in turn, with each commit. A file that is used
// like that is synced ahead: whoever has answered the WRITE starts the lower sync
// at once, while the program still wakes up and asks for it. Its FSYNC finds the
// sync under way and is answered at its end; or has come late, and is answered
// at once.
//
// An FSYNC is answered by a sync ahead only if that began after the last change
// of the file. Anything else has it do a sync of its own, and has the file show
// again that it is used in turn.

// enoughPairs is how many times in succession a WRITE and a data-only FSYNC must
// follow each other before a file is synced ahead. A sync that nobody asks for
// costs the disk one write; so one in some is bearable.
const enoughPairs = 8

// maxDue is how many requests wait for one sync ahead; others sync themselves.
const maxDue = 4

const pageSize = 4096

// ahead is what a file's syncs ahead are decided by. The zero value is ready.
type ahead struct {
	mu      sync.Mutex
	changes uint64 // of the file, so far
	synced  uint64 // changes that a sync ahead has made durable, if any did
	written bool   // a WRITE was the last request that counts
	part    bool   // it may have been the first of two
	pairs   int    // in succession, up to enoughPairs

	running bool
	covers  uint64 // changes when the running sync began
	due     [maxDue]dueSync
	waiting int // how many of due
}

// A dueSync is an FSYNC that waits for a sync ahead.
type dueSync struct {
	handle *handle
	answer fuse.Answer
}

// changed notes a change of the file other than wrote does. It is called between
// the change and its answer.
func (a *ahead) changed() {
	a.mu.Lock()
	a.changes++
	a.written, a.pairs = false, 0
	a.mu.Unlock()
}

// wrote notes a WRITE up to end, between that and its answer, and reports whether
// a sync ahead is to follow the answer. The kernel may write two pages that it
// caches with two requests.
func (a *ahead) wrote(end int64) (start bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes++
	if a.written && !a.part {
		a.pairs = 0
	}
	a.written, a.part = true, end%pageSize == 0
	if a.pairs < enoughPairs || a.running || a.part {
		return false
	}
	a.running, a.covers = true, a.changes
	return true
}

// state says what an FSYNC finds.
type state int

const (
	stale  state = iota // it has to sync
	due                 // the running sync ahead answers it
	synced              // a sync ahead has done it
)

// asked notes a data-only FSYNC. For due, it is kept for the end of the sync.
func (a *ahead) asked(h *handle, r *fuse.Request) state {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.written {
		a.pairs = min(a.pairs+1, enoughPairs)
	}
	a.written = false
	switch {
	case a.synced == a.changes && a.changes > 0:
		return synced
	case a.running && a.covers == a.changes && a.waiting < maxDue:
		a.due[a.waiting] = dueSync{h, r.Later()}
		a.waiting++
		return due
	}
	return stale
}

// end notes the end of the running sync ahead and returns who waits for it.
func (a *ahead) end(ok bool) ([maxDue]dueSync, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = false
	if ok {
		a.synced = a.covers
	}
	list, n := a.due, a.waiting
	clear(a.due[:n])
	a.waiting = 0
	return list, n
}

// syncAhead does what wrote asked for and answers who waits for it. f has one
// more user until then.
func (fs *fileSystem) syncAhead(f *file) error {
	defer fs.put(f)
	fs.stats.syncsAhead.Add(1)
	errno := f.syncLower(true)
	list, n := f.ahead.end(errno == 0)
	var failed error
	for _, d := range list[:n] {
		if err := d.answer.Give(f.heard(d.handle, errno)); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// willSync returns the call of syncAhead that is to follow an answer, and keeps f,
// which is in use, open until then.
func (fs *fileSystem) willSync(f *file) func() error {
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	f.users++
	if f.followUp == nil {
		f.followUp = func() error { return fs.syncAhead(f) }
	}
	return f.followUp
}

// syncOrWait is the data-only FSYNC r on h.
func (fs *fileSystem) syncOrWait(h *handle, r *fuse.Request) unix.Errno {
	switch h.file.ahead.asked(h, r) {
	case due:
		return 0
	case synced:
		return h.file.heard(h, 0)
	}
	return h.file.sync(h, true)
}
