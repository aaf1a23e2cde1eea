package fusefs

import (
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// replyEntry looks the lower name up and replies with it.
func (fs *fileSystem) replyEntry(dir *node, lower string, r *fuse.Request) (int, unix.Errno) {
	out, size := fuse.Out[fuse.EntryOut](r)
	var st unix.Stat_t
	n, errno := fs.lookupAt(dir, lower, &st)
	if errno != 0 {
		return 0, errno
	}
	fs.entry(out, n, &st)
	return size, 0
}

// own makes the new file that fd names the caller's. Its group is the
// directory's if that says so with its set-group-id bit: the lower file system
// saw to that. mode is set again if it has bits that a change of owner clears.
func (fs *fileSystem) own(dir *node, fd int, mode uint32, r *fuse.Request) error {
	gid := int(r.GID)
	var st unix.Stat_t
	if err := unix.Fstat(dir.fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_ISGID != 0 {
		gid = -1
	}
	if err := unix.Fchownat(fd, "", int(r.UID), gid, unix.AT_EMPTY_PATH); err != nil {
		return err
	}
	if mode&(unix.S_ISUID|unix.S_ISGID) != 0 && mode&unix.S_IFMT != unix.S_IFDIR {
		return unix.Fchmodat(fs.proc, strconv.Itoa(fd), mode&0o7777, 0)
	}
	return nil
}

// make has make create name in dir, under the lower name that it gets, gives it
// to the caller and replies with it.
func (fs *fileSystem) make(dir *node, name string, mode uint32, r *fuse.Request, make func(lower string) error) (int, unix.Errno) {
	low, errno := fs.lower(dir, name, true)
	if errno != 0 {
		return 0, errno
	}
	if err := volume.MakeEntry(dir.fd, low, make); err != nil {
		return 0, errnoOf(err)
	}
	fd, err := unix.Openat(dir.fd, low.Name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		if err = fs.own(dir, fd, mode, r); err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		flags := 0
		if mode&unix.S_IFMT == unix.S_IFDIR {
			flags = unix.AT_REMOVEDIR
		}
		volume.RemoveEntry(dir.fd, low, flags)
		return 0, errnoOf(err)
	}
	out, size := fuse.Out[fuse.EntryOut](r)
	var st unix.Stat_t
	n, errno := fs.remember(fd, &st)
	if errno != 0 {
		return 0, errno
	}
	fs.entry(out, n, &st)
	return size, 0
}

func (fs *fileSystem) mkdir(dir *node, r *fuse.Request) (int, unix.Errno) {
	in, rest, ok := fuse.In[fuse.MkdirIn](r)
	name, _, named := fuse.Name(rest)
	if !ok || !named {
		return 0, unix.EINVAL
	}
	return fs.make(dir, name, in.Mode&0o7777|unix.S_IFDIR, r, func(lower string) error {
		return unix.Mkdirat(dir.fd, lower, in.Mode&0o7777)
	})
}

func (fs *fileSystem) symlink(dir *node, r *fuse.Request) (int, unix.Errno) {
	name, rest, ok := fuse.Name(r.Rest())
	target, _, targeted := fuse.Name(rest)
	if !ok || !targeted {
		return 0, unix.EINVAL
	}
	target, err := fs.lowerTarget(target)
	if err != nil {
		return 0, errnoOf(err)
	}
	return fs.make(dir, name, unix.S_IFLNK, r, func(lower string) error {
		return unix.Symlinkat(target, dir.fd, lower)
	})
}

func (fs *fileSystem) mknod(dir *node, r *fuse.Request) (int, unix.Errno) {
	in, rest, ok := fuse.In[fuse.MknodIn](r)
	name, _, named := fuse.Name(rest)
	if !ok || !named {
		return 0, unix.EINVAL
	}
	if in.Mode&unix.S_IFMT == unix.S_IFREG {
		f, errno := fs.createFile(dir, name, in.Mode, r)
		if errno != 0 {
			return 0, errno
		}
		defer fs.put(f)
		out, size := fuse.Out[fuse.EntryOut](r)
		return size, fs.describe(out, f)
	}
	dev := unix.Mkdev(in.Rdev>>8&0xfff, in.Rdev&0xff|in.Rdev>>12&^0xff)
	return fs.make(dir, name, in.Mode, r, func(lower string) error {
		return unix.Mknodat(dir.fd, lower, in.Mode, int(dev))
	})
}

// describe fills out for f's node, which the kernel was told of.
func (fs *fileSystem) describe(out *fuse.EntryOut, f *file) unix.Errno {
	var st unix.Stat_t
	if err := unix.Fstat(f.lower.fd, &st); err != nil {
		return errnoOf(err)
	}
	fs.entry(out, f.node, &st)
	return 0
}

// create opens a file that may have to be made.
func (fs *fileSystem) create(dir *node, r *fuse.Request) (int, unix.Errno) {
	in, rest, ok := fuse.In[fuse.CreateIn](r)
	name, _, named := fuse.Name(rest)
	if !ok || !named {
		return 0, unix.EINVAL
	}
	f, errno := fs.createFile(dir, name, in.Mode, r)
	if errno == unix.EEXIST && in.Flags&unix.O_EXCL == 0 {
		// The kernel asked because it knew of no such file; nobody but us
		// makes one behind its back.
		return 0, unix.ESTALE
	}
	if errno != 0 {
		return 0, errno
	}
	return fs.replyCreated(f, in.Flags, r)
}

// replyCreated replies with the entry of f's node and a handle of f.
func (fs *fileSystem) replyCreated(f *file, flags uint32, r *fuse.Request) (int, unix.Errno) {
	entry, size := fuse.Out[fuse.EntryOut](r)
	if errno := fs.describe(entry, f); errno != 0 {
		return 0, errno
	}
	open, size2 := fuse.OutAt[fuse.OpenOut](r, size)
	fs.openOut(open, f, flags)
	return size + size2, 0
}

// createFile makes an encrypted file name in dir and opens it for one user. It
// gets its name last, when it has its header and its owner, so that whoever
// looks at the lower tree, a backup too, never finds less.
func (fs *fileSystem) createFile(dir *node, name string, mode uint32, r *fuse.Request) (*file, unix.Errno) {
	low, errno := fs.lower(dir, name, true)
	if errno != 0 {
		return nil, errno
	}
	f, errno := fs.unnamedFile(dir, mode, r)
	if errno != 0 {
		return nil, errno
	}
	err := volume.MakeEntry(dir.fd, low, func(lower string) error {
		return unix.Linkat(fs.proc, strconv.Itoa(f.lower.fd), dir.fd, lower, unix.AT_SYMLINK_FOLLOW)
	})
	if err != nil {
		fs.put(f)
		fs.forget(fuse.ForgetOne{NodeID: f.node.id, Nlookup: 1})
		return nil, errnoOf(err)
	}
	fs.named(f.node, name)
	return f, 0
}

// unnamedFile makes an encrypted file without a name in the file system of dir
// and opens it for one user. The kernel counts as told of its node.
func (fs *fileSystem) unnamedFile(dir *node, mode uint32, r *fuse.Request) (*file, unix.Errno) {
	fd, err := unix.Openat(dir.fd, ".", unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, mode&0o7777)
	if err != nil {
		return nil, errnoOf(err)
	}
	f := &file{writable: true, users: 1}
	if err := fs.own(dir, fd, mode, r); err != nil {
		unix.Close(fd)
		return nil, errnoOf(err)
	}
	if err := fs.newContent(f, fd); err != nil {
		return nil, errnoOf(err)
	}
	id, err := unix.Openat(fs.proc, strconv.Itoa(fd), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		f.content.Close()
		return nil, errnoOf(err)
	}
	var st unix.Stat_t
	n, errno := fs.remember(id, &st)
	if errno != 0 {
		f.content.Close()
		return nil, errno
	}
	f.node = n
	n.mu.Lock()
	n.file = f
	n.mu.Unlock()
	return f, 0
}

func (fs *fileSystem) tmpfile(dir *node, r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.CreateIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	f, errno := fs.unnamedFile(dir, in.Mode, r)
	if errno != 0 {
		return 0, errno
	}
	return fs.replyCreated(f, in.Flags, r)
}

func (fs *fileSystem) unlink(dir *node, r *fuse.Request) (int, unix.Errno) {
	return fs.remove(dir, r, 0)
}

func (fs *fileSystem) rmdir(dir *node, r *fuse.Request) (int, unix.Errno) {
	return fs.remove(dir, r, unix.AT_REMOVEDIR)
}

func (fs *fileSystem) remove(dir *node, r *fuse.Request, flags int) (int, unix.Errno) {
	name, _, ok := fuse.Name(r.Rest())
	if !ok {
		return 0, unix.EINVAL
	}
	low, errno := fs.lower(dir, name, false)
	if errno != 0 {
		return 0, errno
	}
	err := volume.RemoveEntry(dir.fd, low, flags)
	if err != nil && flags == unix.AT_REMOVEDIR {
		fs.forgetNames(dir, low)
	}
	return 0, errnoOf(err)
}

func (fs *fileSystem) rename(dir *node, r *fuse.Request) (int, unix.Errno) {
	in, rest, ok := fuse.In[fuse.RenameIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	return fs.move(dir, in.Newdir, rest, 0)
}

func (fs *fileSystem) rename2(dir *node, r *fuse.Request) (int, unix.Errno) {
	in, rest, ok := fuse.In[fuse.Rename2In](r)
	if !ok || in.Flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0 {
		return 0, unix.EINVAL
	}
	return fs.move(dir, in.Newdir, rest, in.Flags)
}

func (fs *fileSystem) move(dir *node, newDir uint64, names []byte, flags uint32) (int, unix.Errno) {
	from, rest, ok := fuse.Name(names)
	to, _, named := fuse.Name(rest)
	target := fs.byID.get(newDir)
	if !ok || !named || target == nil {
		return 0, unix.EINVAL
	}
	if errno := fs.pin(target); errno != 0 {
		return 0, errno
	}
	defer fs.unpin(target)
	low, errno := fs.lower(dir, from, false)
	if errno != 0 {
		return 0, errno
	}
	lowTo, errno := fs.lower(target, to, true)
	if errno != 0 {
		return 0, errno
	}
	err := volume.RenameEntry(dir.fd, low, target.fd, lowTo, uint(flags))
	if err != nil {
		fs.forgetNames(target, lowTo)
		return 0, errnoOf(err)
	}
	fs.renamed(target, lowTo.Name, to)
	if flags&unix.RENAME_EXCHANGE != 0 {
		fs.renamed(dir, low.Name, from)
	}
	return 0, 0
}

func (fs *fileSystem) link(dir *node, r *fuse.Request) (int, unix.Errno) {
	in, rest, ok := fuse.In[fuse.LinkIn](r)
	name, _, named := fuse.Name(rest)
	old := fs.byID.get(in.OldNodeID)
	if !ok || !named || old == nil {
		return 0, unix.EINVAL
	}
	if errno := fs.pin(old); errno != 0 {
		return 0, errno
	}
	defer fs.unpin(old)
	low, errno := fs.lower(dir, name, true)
	if errno != 0 {
		return 0, errno
	}
	err := volume.MakeEntry(dir.fd, low, func(lower string) error {
		return unix.Linkat(fs.proc, strconv.Itoa(old.fd), dir.fd, lower, unix.AT_SYMLINK_FOLLOW)
	})
	if err != nil {
		return 0, errnoOf(err)
	}
	fs.named(old, name)
	return fs.replyEntry(dir, low.Name, r)
}
