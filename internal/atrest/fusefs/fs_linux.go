package fusefs

import (
	"container/list"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// A fileSystem answers the kernel's requests. It is a fuse.Handler.
type fileSystem struct {
	opts  Options
	stats counters
	base  int64 // lower offset of content byte 0
	root  *node
	// proc is /proc/self/fd, through which a descriptor that only names a file
	// becomes one that reads and writes it.
	proc int

	handles table[handle]
	rekeys  rekeys

	// changing is held shared by operations on nodes, exclusively while Rekey
	// puts a file in the place of another.
	changing sync.RWMutex

	fds descriptors

	mu    sync.Mutex
	nodes map[inode]*node // what the kernel knows; guarded by mu
	lent  map[inode]bool  // numbers of files that Rekey replaced, which are known by them; guarded by mu
	byID  table[node]     // the same by number

	idleMu sync.Mutex
	idle   *list.List // of *node whose file nobody used lately
}

// newFileSystem serves the tree under the open directory root.
func newFileSystem(root *os.File, o Options) (*fileSystem, error) {
	fs := &fileSystem{opts: o, nodes: map[inode]*node{}, lent: map[inode]bool{}, idle: list.New()}
	if o.Keys != nil {
		fs.base = volume.HeaderSize
	}
	proc, err := unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /proc/self/fd: %w", err)
	}
	fs.proc = proc
	fd, err := unix.Openat(int(root.Fd()), ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(proc)
		return nil, fmt.Errorf("open root of volume: %w", err)
	}
	var st unix.Stat_t
	n, errno := fs.remember(fd, &st)
	if errno != 0 {
		unix.Close(proc)
		return nil, fmt.Errorf("open root of volume: %w", errno)
	}
	fs.root = n
	fs.fds.setUp(int(root.Fd()), fileLimit())
	return fs, nil
}

// close gives everything back. No request is in progress any more.
func (fs *fileSystem) close() {
	fs.rekeys.close()
	fs.byID.each(func(n *node) {
		n.closeFile(true)
		fs.fds.remove(n)
	})
	fs.handles.each(func(h *handle) {
		if h.dir != nil {
			unix.Close(h.dir.fd)
		}
	})
	fs.fds.close()
	unix.Close(fs.proc)
}

// contentSize returns the size of the content of a lower file of that length.
func (fs *fileSystem) contentSize(lower int64) int64 {
	if fs.base == 0 {
		return lower
	}
	return volume.ContentSize(lower)
}

// reopen opens the file that fd names.
func (fs *fileSystem) reopen(fd, flags int) (int, error) {
	return unix.Openat(fs.proc, strconv.Itoa(fd), flags|unix.O_CLOEXEC, 0)
}

// procPath is a path for calls that take no descriptor.
func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// errnoOf returns what the kernel is told about err. What is no error of the
// system is one of the encrypted format: the file cannot be read.
func errnoOf(err error) unix.Errno {
	var errno unix.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &errno):
		return errno
	}
	return unix.EIO
}

// complain tells the log, once a file, why it cannot be used.
func (fs *fileSystem) complain(n *node, what string, err error) {
	if !n.complained.Swap(true) {
		fs.tell(n, what, err)
	}
}

// tell tells the log what is wrong with a file.
func (fs *fileSystem) tell(n *node, what string, err error) {
	if fs.opts.Log == nil {
		return
	}
	path := "inode " + strconv.FormatUint(n.key.ino, 10)
	if fs.pin(n) == 0 {
		defer fs.unpin(n)
		if p, err := os.Readlink(procPath(n.fd)); err == nil {
			path = p
		}
	}
	fs.opts.Log(fmt.Errorf("%s %s: %w", what, path, err))
}

// Handle implements fuse.Handler. The counter also tells Go's memory model what
// the kernel knows: that a request which follows from a reply, such as closing a
// file after its last read, comes after what was done for that reply.
func (fs *fileSystem) Handle(r *fuse.Request) (int, unix.Errno) {
	fs.stats.requests.Load()
	n, errno := fs.dispatch(r)
	fs.stats.requests.Add(1)
	return n, errno
}

// dispatch has the operation of r done.
func (fs *fileSystem) dispatch(r *fuse.Request) (int, unix.Errno) {
	switch r.Opcode {
	case fuse.OpRead:
		return fs.read(r)
	case fuse.OpWrite:
		return fs.write(r)
	case fuse.OpFsync:
		return fs.fsync(r)
	case fuse.OpForget, fuse.OpBatchForget:
		fuse.Forgets(r, fs.forget)
		return 0, 0
	case fuse.OpStatfs:
		return fs.statfs(r)
	case fuse.OpRelease:
		return fs.release(r)
	case fuse.OpReleasedir:
		return fs.releasedir(r)
	}
	n := fs.byID.get(r.NodeID)
	if n == nil {
		return 0, unix.ESTALE
	}
	if op := nodeOps[r.Opcode]; op != nil {
		fs.changing.RLock()
		defer fs.changing.RUnlock()
		if errno := fs.pin(n); errno != 0 {
			return 0, errno
		}
		defer fs.unpin(n)
		return op(fs, n, r)
	}
	return 0, unix.ENOSYS
}

// nodeOps are the operations on a node by opcode.
var nodeOps = [64]func(*fileSystem, *node, *fuse.Request) (int, unix.Errno){
	fuse.OpLookup:      (*fileSystem).lookup,
	fuse.OpGetattr:     (*fileSystem).getattr,
	fuse.OpSetattr:     (*fileSystem).setattr,
	fuse.OpReadlink:    (*fileSystem).readlink,
	fuse.OpSymlink:     (*fileSystem).symlink,
	fuse.OpMknod:       (*fileSystem).mknod,
	fuse.OpMkdir:       (*fileSystem).mkdir,
	fuse.OpUnlink:      (*fileSystem).unlink,
	fuse.OpRmdir:       (*fileSystem).rmdir,
	fuse.OpRename:      (*fileSystem).rename,
	fuse.OpRename2:     (*fileSystem).rename2,
	fuse.OpLink:        (*fileSystem).link,
	fuse.OpOpen:        (*fileSystem).open,
	fuse.OpFlush:       (*fileSystem).flush,
	fuse.OpSetxattr:    (*fileSystem).setxattr,
	fuse.OpGetxattr:    (*fileSystem).getxattr,
	fuse.OpListxattr:   (*fileSystem).listxattr,
	fuse.OpRemovexattr: (*fileSystem).removexattr,
	fuse.OpOpendir:     (*fileSystem).opendir,
	fuse.OpReaddir:     (*fileSystem).readdir,
	fuse.OpReaddirplus: (*fileSystem).readdir,
	fuse.OpFsyncdir:    (*fileSystem).fsyncdir,
	fuse.OpCreate:      (*fileSystem).create,
	fuse.OpTmpfile:     (*fileSystem).tmpfile,
	fuse.OpFallocate:   (*fileSystem).fallocate,
	fuse.OpLseek:       (*fileSystem).lseek,
}
