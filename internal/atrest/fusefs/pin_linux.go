package fusefs

import (
	"container/list"
	"sync"

	"golang.org/x/sys/unix"
)

// A node names its lower file by an open descriptor, and the kernel may know of
// more files than a process may have descriptors. Those used least lately are
// closed then, and opened again by the file handle that the lower file system
// gives them. That takes CAP_DAC_READ_SEARCH and a file system with handles
// (ext4, XFS, Btrfs, tmpfs); without them all stay open.

// descriptors are those of nodes.
type descriptors struct {
	mu      sync.Mutex // guards what follows, and fd, pins, handle and place of nodes
	most    int        // how many are kept open; 0: all
	open    int
	lately  list.List // of *node with an open descriptor, the least lately used first
	mount   int       // a directory of the file system, for its handles
	mountOf uint64    // its device
}

// setUp decides how many descriptors are kept, of limit that there may be. root
// is an open directory of the tree.
func (d *descriptors) setUp(root int, limit uint64) {
	mount, err := unix.Openat(root, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	var st unix.Stat_t
	if unix.Fstat(mount, &st) != nil || !hasHandles(mount) {
		unix.Close(mount)
		return
	}
	// Half is for open files; some are for the process itself.
	d.mount, d.mountOf, d.most = mount, uint64(st.Dev), int(min(max(limit, 512)-384, 1<<21)/2)
}

// hasHandles reports whether files can be opened by handle where dir is.
func hasHandles(dir int) bool {
	h, _, err := unix.NameToHandleAt(dir, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return false
	}
	fd, err := unix.OpenByHandleAt(dir, h, unix.O_PATH|unix.O_CLOEXEC)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// close gives back what setUp took.
func (d *descriptors) close() {
	if d.most > 0 {
		unix.Close(d.mount)
	}
}

// pin opens n's descriptor if need be and keeps it open until unpin.
func (fs *fileSystem) pin(n *node) unix.Errno {
	d := &fs.fds
	if d.most == 0 {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n.fd < 0 {
		fd, err := unix.OpenByHandleAt(d.mount, n.handle, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC)
		if err != nil {
			return errnoOf(err)
		}
		d.hold(n, fd)
	}
	n.pins++
	return 0
}

// unpin ends what pin began.
func (fs *fileSystem) unpin(n *node) {
	d := &fs.fds
	if d.most == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n.pins--
	if n.place != nil {
		d.lately.MoveToBack(n.place)
	}
}

// add takes over the descriptor of a new node.
func (d *descriptors) add(n *node) {
	if d.most == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hold(n, n.fd)
}

// remove closes n's descriptor for good.
func (d *descriptors) remove(n *node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(n)
}

// hold makes fd n's descriptor and closes others if there are too many. The
// caller holds mu.
func (d *descriptors) hold(n *node, fd int) {
	n.fd = fd
	d.open++
	n.place = d.lately.PushBack(n)
	for range d.lately.Len() {
		if d.open <= d.most {
			return
		}
		victim := d.lately.Front().Value.(*node)
		if victim.pins > 0 || victim == n || !d.closeKnown(victim) {
			d.lately.MoveToBack(victim.place)
		}
	}
}

// closeKnown closes the descriptor of n, if its file can be found again.
func (d *descriptors) closeKnown(n *node) bool {
	if n.key.dev != d.mountOf {
		return false
	}
	h, _, err := unix.NameToHandleAt(n.fd, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return false
	}
	n.handle = h
	d.drop(n)
	return true
}

// drop closes n's descriptor, if it is open. The caller holds mu.
func (d *descriptors) drop(n *node) {
	if n.fd < 0 {
		return
	}
	unix.Close(n.fd)
	n.fd = -1
	if n.place != nil {
		d.lately.Remove(n.place)
		n.place = nil
		d.open--
	}
}

// isFile reports whether n is the file that fd names, which has n's inode
// number. It is not if n's file has gone and its number was given again, as can
// be when n has no descriptor that keeps the file. If n has none and is the
// file, it takes fd, and taken says so.
func (d *descriptors) isFile(n *node, fd int) (is, taken bool) {
	if d.most == 0 {
		return true, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n.fd >= 0 {
		return true, false
	}
	h, _, err := unix.NameToHandleAt(fd, "", unix.AT_EMPTY_PATH)
	if err != nil || h.Type() != n.handle.Type() || string(h.Bytes()) != string(n.handle.Bytes()) {
		return false, false
	}
	d.hold(n, fd)
	return true, true
}
