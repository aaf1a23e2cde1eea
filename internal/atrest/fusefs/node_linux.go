package fusefs

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// inode is what a lower file is known by. It stays the file's own as long as a
// node holds it open.
type inode struct{ dev, ino uint64 }

// A node is a file, directory or anything else that the kernel knows. All names
// of a file are one node.
type node struct {
	id, generation uint64
	key            inode
	fd             int    // names the lower file, O_PATH; guarded by descriptors.mu, fixed while pinned
	kind           uint32 // S_IFMT of its mode
	ino            uint64 // what programs see; it stays when Rekey replaces the file
	lookups        uint64 // how often the kernel was told of it; guarded by fileSystem.mu
	complained     atomic.Bool
	names          atomic.Pointer[volume.DirNames] // of a directory, once known; see namesOf
	idle           *list.Element                   // guarded by fileSystem.idleMu

	// See descriptors, whose mu guards these.
	pins   int
	handle unix.FileHandle
	place  *list.Element

	isLog atomic.Bool // by the name that the kernel was told last

	mu     sync.Mutex
	file   *file // the open lower file, or nil; guarded by mu
	past   int   // handles past the page cache, with write-back caching; guarded by mu
	cached int   // other handles that may write; guarded by mu

	outdated atomic.Bool // written past the page cache since expire said so last
	expired  time.Time   // when it did; guarded by mu
}

// timeout is how long the kernel may believe what it was told: nobody else
// changes the tree.
const timeout = 24 * 3600 // seconds

// fileTimeout is timeout for the name of a file with write-back caching: it asks
// again, so that expire is.
const fileTimeout = 1 // second

// lookupAt finds the lower name in the node dir and tells the kernel of it: one
// FORGET is due for each success.
func (fs *fileSystem) lookupAt(dir *node, lower string, st *unix.Stat_t) (*node, unix.Errno) {
	fd, err := unix.Openat(dir.fd, lower, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errnoOf(err)
	}
	return fs.remember(fd, st)
}

// remember makes the file that fd names, which it owns, a node that the kernel
// is told of once more, and fills st.
func (fs *fileSystem) remember(fd int, st *unix.Stat_t) (*node, unix.Errno) {
	if err := unix.Fstat(fd, st); err != nil {
		unix.Close(fd)
		return nil, errnoOf(err)
	}
	key := inode{uint64(st.Dev), st.Ino}
	fs.mu.Lock()
	if n := fs.nodes[key]; n != nil {
		if is, taken := fs.fds.isFile(n, fd); is {
			n.lookups++
			fs.mu.Unlock()
			if !taken {
				unix.Close(fd)
			}
			return n, 0
		}
	}
	n := &node{key: key, fd: fd, kind: st.Mode & unix.S_IFMT, lookups: 1, ino: key.ino}
	if fs.lent[key] {
		n.ino |= 1 << 62 // a file that Rekey replaced is known by that number
	}
	n.id, n.generation = fs.byID.add(n)
	fs.nodes[key] = n
	fs.fds.add(n)
	fs.mu.Unlock()
	return n, 0
}

// forget takes back that the kernel was told of a node.
func (fs *fileSystem) forget(one fuse.ForgetOne) {
	fs.mu.Lock()
	n := fs.byID.get(one.NodeID)
	if n == nil || n == fs.root {
		fs.mu.Unlock()
		return
	}
	n.lookups -= min(one.Nlookup, n.lookups)
	gone := n.lookups == 0
	if gone {
		if fs.nodes[n.key] == n {
			delete(fs.nodes, n.key)
		}
		delete(fs.lent, inode{n.key.dev, n.ino})
		fs.byID.remove(n.id)
	}
	fs.mu.Unlock()
	if gone {
		fs.notIdle(n)
		n.leaveFile()
		fs.fds.remove(n)
	}
}

// entry fills e with what the kernel is to know about n.
func (fs *fileSystem) entry(e *fuse.EntryOut, n *node, st *unix.Stat_t) {
	*e = fuse.EntryOut{NodeID: n.id, Generation: n.generation, EntryValid: timeout, AttrValid: timeout}
	if fs.opts.Cache == WriteBack && n.kind == unix.S_IFREG {
		e.EntryValid = fileTimeout
	}
	fs.attr(&e.Attr, st)
	e.Attr.Ino = n.ino
	if n.kind == unix.S_IFLNK {
		e.Attr.Size = uint64(fs.linkSize(n, st.Size))
	}
}

// attr translates the attributes of a lower file.
func (fs *fileSystem) attr(a *fuse.Attr, st *unix.Stat_t) {
	size, blocks := st.Size, st.Blocks
	if st.Mode&unix.S_IFMT == unix.S_IFREG && fs.base != 0 {
		size = fs.contentSize(size)
		blocks = max(blocks-fs.base/512, 0)
	}
	*a = fuse.Attr{
		Ino: st.Ino, Size: uint64(size), Blocks: uint64(blocks),
		Atime: uint64(st.Atim.Sec), Mtime: uint64(st.Mtim.Sec), Ctime: uint64(st.Ctim.Sec),
		Atimensec: uint32(st.Atim.Nsec), Mtimensec: uint32(st.Mtim.Nsec), Ctimensec: uint32(st.Ctim.Nsec),
		Mode: st.Mode, Nlink: uint32(st.Nlink), UID: st.Uid, GID: st.Gid,
		Rdev: uint32(unix.Major(uint64(st.Rdev))<<8 | unix.Minor(uint64(st.Rdev))&0xff | unix.Minor(uint64(st.Rdev))&^0xff<<12), Bsize: uint32(st.Blksize),
	}
}
