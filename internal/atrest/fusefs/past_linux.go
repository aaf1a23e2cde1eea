package fusefs

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
)

// Some handles go past the kernel's page cache: those of logs, which servers sync
// with each commit, so that a write and a sync are one request each, where the
// cache makes two of a write that crosses pages; and those that ask for O_DIRECT.
// With write-back caching the writes of a log outlive this process that way, too.
//
// With write-back caching, what is cached and not yet written down, a handle past
// the cache would miss: the kernel may know of a longer file than we do. All
// handles of a file are therefore of one kind while one of that kind that matters
// is open. A cached handle that only reads holds nothing back.
//
// The kernel keeps a file's times itself in that mode, and does not move them
// when a write goes past its cache. So it is made to forget the file once the
// last such handle is closed: programs that compare times, to copy what has
// changed, see those of the lower file then. It could be told to, but whoever
// tells it waits for locks that others hold while they wait for us, and were this
// process killed then, it would neither end nor let them go.

// named notes that the kernel was told of n as name.
func (fs *fileSystem) named(n *node, name string) {
	if n.kind == unix.S_IFREG && n.isLog.Load() != isLog(name) {
		n.isLog.Store(isLog(name))
	}
}

// expire reports whether LOOKUP is to say that what the kernel knows of n is
// stale, since there are other times now. The kernel asks once more then, and
// has forgotten n unless a program has it open. It is told so in answer to one
// LOOKUP alone, as a second in succession would reach the program.
func (fs *fileSystem) expire(n *node) bool {
	if fs.opts.Cache != WriteBack || !n.outdated.Load() {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.past > 0 || time.Since(n.expired) < time.Second {
		return false
	}
	n.expired = time.Now()
	return n.outdated.Swap(false)
}

// renamed is named for the file with that lower name, if the kernel knows it.
func (fs *fileSystem) renamed(dir *node, lower, name string) {
	var st unix.Statx_t // without times, see lowerFile.Size
	if unix.Statx(dir.fd, lower, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO, &st) != nil {
		return
	}
	fs.mu.Lock()
	n := fs.nodes[inode{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}]
	fs.mu.Unlock()
	if n != nil {
		fs.named(n, name)
	}
}

// enter counts a new handle of n and reports whether it goes past the page
// cache. writes says that it may write, asked that it asks for O_DIRECT.
func (fs *fileSystem) enter(n *node, writes, asked bool) (past bool) {
	past = asked || n.isLog.Load()
	if fs.opts.Cache == WriteThrough {
		return past
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	past = n.past > 0 || n.cached == 0 && past
	switch {
	case past:
		n.past++
	case writes:
		n.cached++
	}
	return past
}

// leave ends what enter began for h.
func (fs *fileSystem) leave(h *handle) {
	if fs.opts.Cache == WriteThrough {
		return
	}
	n := h.file.node
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case h.direct:
		n.past--
	case h.writes:
		n.cached--
	}
}

// keepsTimes reports whether n keeps the times that it has below though the
// kernel writes down those that it knows: they are older while writes go past
// its cache.
func (fs *fileSystem) keepsTimes(n *node, valid uint32) bool {
	const written = fuse.AttrFh | fuse.AttrMtime | fuse.AttrCtime // no program asks with a handle
	if fs.opts.Cache == WriteThrough || valid != written {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.past > 0
}

// isLog reports whether servers write a log under that name and sync it with
// each commit: write-ahead logs of PostgreSQL, redo logs of InnoDB and Aria,
// binary and relay logs.
func isLog(name string) bool {
	base, suffix, dotted := strings.Cut(name, ".")
	switch {
	case !dotted:
		return len(name) == 24 && only(name, "0123456789ABCDEF") ||
			strings.HasPrefix(name, "ib_logfile") || strings.HasPrefix(name, "#ib_redo")
	case base == "xlogtemp", base == "aria_log": // the first becomes a log of PostgreSQL
		return only(suffix, "0123456789")
	}
	// A table of PostgreSQL has a number as well, but none with zeros before it.
	return len(suffix) == 6 && suffix[0] == '0' && only(suffix, "0123456789")
}

// only reports whether s, which is not empty, consists of characters in set.
func only(s, set string) bool { return s != "" && strings.Trim(s, set) == "" }
