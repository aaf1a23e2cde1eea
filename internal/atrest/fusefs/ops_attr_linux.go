package fusefs

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
)

func (fs *fileSystem) lookup(n *node, r *fuse.Request) (int, unix.Errno) {
	name, _, ok := fuse.Name(r.Rest())
	if !ok {
		return 0, unix.EINVAL
	}
	out, size := fuse.Out[fuse.EntryOut](r)
	var st unix.Stat_t
	var child *node
	low, errno := fs.lower(n, name, false)
	if errno == 0 {
		child, errno = fs.lookupAt(n, low.Name, &st)
	}
	if errno == unix.ENOENT {
		out.EntryValid = timeout // node 0: the kernel may believe that it is not there
		return size, 0
	}
	if errno != 0 {
		return 0, errno
	}
	fs.named(child, name)
	if fs.expire(child) {
		fs.forget(fuse.ForgetOne{NodeID: child.id, Nlookup: 1})
		return 0, unix.ESTALE
	}
	fs.entry(out, child, &st)
	return size, 0
}

func (fs *fileSystem) getattr(n *node, r *fuse.Request) (int, unix.Errno) {
	return fs.attrOut(n, r)
}

// attrOut replies with the attributes of n.
func (fs *fileSystem) attrOut(n *node, r *fuse.Request) (int, unix.Errno) {
	var st unix.Stat_t
	if err := unix.Fstat(n.fd, &st); err != nil {
		return 0, errnoOf(err)
	}
	out, size := fuse.Out[fuse.AttrOut](r)
	out.AttrValid = timeout
	fs.attr(&out.Attr, &st)
	out.Attr.Ino = n.ino
	if n.kind == unix.S_IFLNK {
		out.Attr.Size = uint64(fs.linkSize(n, st.Size))
	}
	return size, 0
}

func (fs *fileSystem) setattr(n *node, r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.SetattrIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	if fs.keepsTimes(n, in.Valid) {
		return fs.attrOut(n, r)
	}
	steps := []struct {
		due bool
		do  func() unix.Errno
	}{
		{in.Valid&(fuse.AttrUID|fuse.AttrGID) != 0, func() unix.Errno { return setOwner(n, in) }},
		{in.Valid&fuse.AttrMode != 0, func() unix.Errno { return fs.setMode(n, in.Mode) }},
		{in.Valid&fuse.AttrSize != 0, func() unix.Errno { return fs.setSize(n, in) }},
		{in.Valid&(fuse.AttrAtime|fuse.AttrMtime|fuse.AttrAtimeNow|fuse.AttrMtimeNow) != 0, func() unix.Errno { return setTimes(n, in) }},
	}
	for _, s := range steps {
		if s.due {
			if errno := s.do(); errno != 0 {
				return 0, errno
			}
		}
	}
	return fs.attrOut(n, r)
}

func setOwner(n *node, in *fuse.SetattrIn) unix.Errno {
	uid, gid := -1, -1
	if in.Valid&fuse.AttrUID != 0 {
		uid = int(in.UID)
	}
	if in.Valid&fuse.AttrGID != 0 {
		gid = int(in.GID)
	}
	return errnoOf(unix.Fchownat(n.fd, "", uid, gid, unix.AT_EMPTY_PATH))
}

// setMode is chmod(2). A symbolic link has no mode of its own.
func (fs *fileSystem) setMode(n *node, mode uint32) unix.Errno {
	if n.kind == unix.S_IFLNK {
		return unix.EOPNOTSUPP
	}
	return errnoOf(unix.Fchmodat(fs.proc, strconv.Itoa(n.fd), mode&0o7777, 0))
}

func (fs *fileSystem) setSize(n *node, in *fuse.SetattrIn) unix.Errno {
	fh := in.Fh
	if in.Valid&fuse.AttrFh == 0 {
		fh = 0
	}
	if in.Size > maxSize {
		return unix.EFBIG
	}
	return fs.withFile(n, fh, true, func(f *file) unix.Errno {
		err := f.content.Truncate(int64(in.Size))
		f.ahead.changed()
		if err != nil {
			return fs.refuse(n, err)
		}
		if in.Valid&fuse.AttrKillSuidgid != 0 {
			return killSuidgid(f.lower.fd)
		}
		return 0
	})
}

func setTimes(n *node, in *fuse.SetattrIn) unix.Errno {
	pick := func(set, now uint32, sec uint64, nsec uint32) unix.Timespec {
		switch {
		case in.Valid&now != 0:
			return unix.Timespec{Nsec: unix.UTIME_NOW}
		case in.Valid&set != 0:
			return unix.NsecToTimespec(int64(sec)*1e9 + int64(nsec))
		}
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	}
	ts := []unix.Timespec{
		pick(fuse.AttrAtime, fuse.AttrAtimeNow, in.Atime, in.Atimensec),
		pick(fuse.AttrMtime, fuse.AttrMtimeNow, in.Mtime, in.Mtimensec),
	}
	return errnoOf(unix.UtimesNanoAt(n.fd, "", ts, unix.AT_EMPTY_PATH))
}

func (fs *fileSystem) statfs(r *fuse.Request) (int, unix.Errno) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(fs.root.fd, &st) }); err != nil {
		return 0, errnoOf(err)
	}
	out, size := fuse.Out[fuse.StatfsOut](r)
	out.Blocks, out.Bfree, out.Bavail = st.Blocks, st.Bfree, st.Bavail
	out.Files, out.Ffree = st.Files, st.Ffree
	out.Bsize, out.Namelen, out.Frsize = uint32(st.Bsize), uint32(st.Namelen), uint32(st.Frsize)
	return size, 0
}

func (fs *fileSystem) readlink(n *node, r *fuse.Request) (int, unix.Errno) {
	target, errno := fs.linkTarget(n, r.Reply)
	return copy(r.Reply, target), errno
}

// Extended attributes are those of the lower file. Access lists are not: the
// kernel checks modes only.

func (fs *fileSystem) getxattr(n *node, r *fuse.Request) (int, unix.Errno) {
	in, rest, ok := fuse.In[fuse.GetxattrIn](r)
	name, _, named := fuse.Name(rest)
	if !ok || !named || in.Size > fuse.MaxIO {
		return 0, unix.EINVAL
	}
	if strings.HasPrefix(name, "system.") {
		return 0, unix.EOPNOTSUPP
	}
	k, err := unix.Getxattr(procPath(n.fd), name, r.Reply[:in.Size])
	return xattrOut(r, in.Size, k, err)
}

func (fs *fileSystem) listxattr(n *node, r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.GetxattrIn](r)
	if !ok || in.Size > fuse.MaxIO {
		return 0, unix.EINVAL
	}
	k, err := unix.Listxattr(procPath(n.fd), r.Reply[:in.Size])
	return xattrOut(r, in.Size, k, err)
}

// xattrOut replies with k bytes that are there already or, if the program asked
// for size 0, with k.
func xattrOut(r *fuse.Request, size uint32, k int, err error) (int, unix.Errno) {
	if err != nil {
		return 0, errnoOf(err)
	}
	if size > 0 {
		return k, 0
	}
	out, n := fuse.Out[fuse.GetxattrOut](r)
	out.Size = uint32(k)
	return n, 0
}

func (fs *fileSystem) setxattr(n *node, r *fuse.Request) (int, unix.Errno) {
	in, rest, ok := fuse.In[fuse.SetxattrIn](r)
	name, value, named := fuse.Name(rest)
	if !ok || !named || uint64(in.Size) > uint64(len(value)) {
		return 0, unix.EINVAL
	}
	if strings.HasPrefix(name, "system.") {
		return 0, unix.EOPNOTSUPP
	}
	return 0, errnoOf(unix.Setxattr(procPath(n.fd), name, value[:in.Size], int(in.Flags)))
}

func (fs *fileSystem) removexattr(n *node, r *fuse.Request) (int, unix.Errno) {
	name, _, ok := fuse.Name(r.Rest())
	if !ok {
		return 0, unix.EINVAL
	}
	if strings.HasPrefix(name, "system.") {
		return 0, unix.EOPNOTSUPP
	}
	return 0, errnoOf(unix.Removexattr(procPath(n.fd), name))
}
