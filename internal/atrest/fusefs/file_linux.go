package fusefs

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// content is what a file's requests work on: *volume.File, or plainFile. Its
// methods are as there.
type content interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	WriteOver(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Size() (int64, error)
	Changing(off, end int64, change func() error) error
	Close() error
}

// plainFile stores content as it is.
type plainFile struct{ *lowerFile }

// WriteOver implements content.
func (f plainFile) WriteOver(p []byte, off int64) (int, error) { return f.WriteAt(p, off) }

// Changing implements content.
func (plainFile) Changing(_, _ int64, change func() error) error { return change() }

var (
	_ content = (*volume.File)(nil)
	_ content = plainFile{}
)

// A file is the open lower file of a node, one for all handles, so that whoever
// changes parts of a block excludes the others.
type file struct {
	node     *node
	lower    *lowerFile
	content  content
	writable bool
	users    int          // handles and operations; guarded by node.mu
	gone     bool         // the node is, users may not be; guarded by node.mu
	syncing  sync.Mutex   // held by a sync of the lower file until its failure is counted
	faults   atomic.Int64 // syncs that failed
	told     atomic.Int64 // of them, those that some handle was told of
	ahead    ahead
	followUp func() error // calls syncAhead; guarded by node.mu
}

// maxIdle is how many files stay open that nobody has open: servers reopen
// their files again and again.
const maxIdle = 256

// A handle is an open file or directory of a program.
type handle struct {
	file   *file
	dir    *directory
	direct bool         // past the kernel's page cache
	writes bool         // it may
	faults atomic.Int64 // failed syncs that this handle was told of
}

// acquire opens n's file for one more user.
func (fs *fileSystem) acquire(n *node, write bool) (*file, unix.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		f, err := fs.openFile(n, write)
		if err != nil {
			return nil, fs.refuse(n, err)
		}
		n.file = f
	} else if write && !n.file.writable {
		fd, err := fs.reopen(n.fd, unix.O_RDWR)
		if err == nil {
			err = unix.Dup3(fd, n.file.lower.fd, unix.O_CLOEXEC)
			unix.Close(fd)
		}
		if err != nil {
			return nil, errnoOf(err)
		}
		if u, ok := n.file.content.(*unwritten); ok {
			if err := fs.begin(n, u); err != nil {
				return nil, fs.refuse(n, err)
			}
		}
		n.file.writable = true
	}
	n.file.users++
	return n.file, 0
}

// openFile opens the lower file of n, for writing if that is allowed at all:
// another handle may want to write.
func (fs *fileSystem) openFile(n *node, write bool) (*file, error) {
	f := &file{node: n, writable: true}
	fd, err := fs.reopen(n.fd, unix.O_RDWR)
	if err != nil && !write {
		f.writable = false
		fd, err = fs.reopen(n.fd, unix.O_RDONLY)
	}
	if err != nil {
		return nil, err
	}
	return f, fs.openContent(f, fd, write)
}

// openContent makes fd, which it owns, the lower file of f. write says that
// somebody is to write it.
func (fs *fileSystem) openContent(f *file, fd int, write bool) error {
	f.lower = &lowerFile{fd}
	if fs.opts.Keys == nil {
		f.content = plainFile{f.lower}
		return nil
	}
	v, err := volume.Open(f.lower, fs.opts.Keys, fs.volumeOptions())
	if err == nil {
		f.content = v
		return nil
	}
	if errors.Is(err, volume.ErrEmpty) {
		if errors.Is(err, volume.ErrHeaderLost) {
			fs.complain(f.node, "open", fmt.Errorf("%w: it reads as zeros", err))
		}
		u := &unwritten{lowerFile: f.lower}
		f.content = u
		if f.writable = write; !write {
			return nil
		}
		err = fs.begin(f.node, u)
	}
	if err != nil {
		unix.Close(fd)
	}
	return err
}

// newContent makes the new file fd, which it owns, the lower file of f.
func (fs *fileSystem) newContent(f *file, fd int) (err error) {
	f.lower = &lowerFile{fd}
	if fs.opts.Keys == nil {
		f.content = plainFile{f.lower}
		return nil
	}
	if f.content, err = fs.createContent(f.lower); err != nil {
		unix.Close(fd)
	}
	return err
}

// createContent makes lower an encrypted file.
func (fs *fileSystem) createContent(lower *lowerFile) (*volume.File, error) {
	return volume.Create(lower, fs.opts.Keys, fs.volumeOptions())
}

// volumeOptions are how files are opened. A header need not be durable before
// content is: both are at the same fsync.
func (fs *fileSystem) volumeOptions() volume.Options {
	o := fs.opts.Volume
	o.Unsynced = true
	return o
}

// refuse returns the error number for a file that does not open. What the
// encrypted format finds wrong is told to the log.
func (fs *fileSystem) refuse(n *node, err error) unix.Errno {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return errno
	}
	fs.complain(n, "open", err)
	return unix.EIO
}

// put takes a user of f away.
func (fs *fileSystem) put(f *file) {
	n := f.node
	n.mu.Lock()
	f.users--
	last := f.users == 0
	if last && f.gone {
		f.content.Close()
		last = false
	}
	n.mu.Unlock()
	if last {
		fs.keepIdle(n)
	}
}

// keepIdle keeps n's file open though nobody uses it, and closes the one that
// was used least lately if there are too many.
func (fs *fileSystem) keepIdle(n *node) {
	fs.idleMu.Lock()
	var victim *node
	if n.idle != nil {
		fs.idle.MoveToBack(n.idle)
	} else {
		n.idle = fs.idle.PushBack(n)
		if fs.idle.Len() > maxIdle {
			victim = fs.idle.Remove(fs.idle.Front()).(*node)
			victim.idle = nil
		}
	}
	fs.idleMu.Unlock()
	if victim != nil {
		victim.closeFile(false)
	}
}

// notIdle takes n, which is about to go, out of the list of idle files.
func (fs *fileSystem) notIdle(n *node) {
	fs.idleMu.Lock()
	defer fs.idleMu.Unlock()
	if n.idle != nil {
		fs.idle.Remove(n.idle)
		n.idle = nil
	}
}

// leaveFile closes n's file, if it has one, at the end of its last use. n is
// about to go.
func (n *node) leaveFile() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		return
	}
	if n.file.gone = true; n.file.users == 0 {
		n.file.content.Close()
	}
	n.file = nil
}

// closeFile closes n's file, if it has one that nobody uses or must go anyway. One
// with a failure that nobody was told of stays for the next handle to hear of it.
func (n *node) closeFile(anyway bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		return
	}
	idle := n.file.users == 0 && n.file.told.Load() == n.file.faults.Load()
	if anyway || idle {
		n.file.content.Close()
		n.file = nil
	}
}

// withFile calls f with n's open file: that of the handle fh if there is one.
func (fs *fileSystem) withFile(n *node, fh uint64, write bool, f func(*file) unix.Errno) unix.Errno {
	if h := fs.handles.get(fh); h != nil && h.file != nil && h.file.node == n {
		return f(h.file)
	}
	if n.kind != unix.S_IFREG {
		return unix.EINVAL
	}
	file, errno := fs.acquire(n, write)
	if errno != 0 {
		return errno
	}
	defer fs.put(file)
	return f(file)
}

// sync makes f durable, for h.
func (f *file) sync(h *handle, dataOnly bool) unix.Errno {
	return f.heard(h, f.syncLower(dataOnly))
}

// syncLower makes f durable and counts failures. The lower file reports an error
// once a descriptor, and f has one for all handles: each of them must see it. So
// no sync ends well while another may have taken an error and not counted it yet.
func (f *file) syncLower(dataOnly bool) unix.Errno {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	errno := f.lower.sync(dataOnly)
	if errno != 0 {
		f.faults.Add(1)
	}
	return errno
}

// heard returns what h is told of a sync that ended with errno: of a failure
// that it did not hear of yet, too.
func (f *file) heard(h *handle, errno unix.Errno) unix.Errno {
	now := f.faults.Load()
	if h.faults.Swap(now) != now && errno == 0 {
		errno = unix.EIO
	}
	if errno != 0 {
		f.told.Store(now) // less than another has stored: somebody hears of it twice
	}
	return errno
}

// openFlags are what the kernel is told about a new handle.
func (fs *fileSystem) openFlags(h *handle) uint32 {
	var flags uint32
	if h.direct {
		flags = fuse.OpenDirectIO | fuse.OpenParallelWrites
	} else {
		flags = fuse.OpenKeepCache
	}
	if fs.opts.Cache == WriteThrough {
		flags |= fuse.OpenNoFlush
	}
	return flags
}

// newHandle makes a handle of f, whose user it becomes. It is to hear of failed
// syncs that nobody was told of, as with any file of the kernel: whoever wrote may
// have closed the file while it was synced ahead.
func (fs *fileSystem) newHandle(f *file, flags uint32) (*handle, uint64) {
	h := &handle{file: f, writes: flags&unix.O_ACCMODE != unix.O_RDONLY}
	h.direct = fs.enter(f.node, h.writes, flags&unix.O_DIRECT != 0)
	h.faults.Store(f.told.Load())
	id, _ := fs.handles.add(h)
	return h, id
}
