package fusefs

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
)

func (fs *fileSystem) read(r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.IoIn](r)
	if !ok || in.Size > fuse.MaxIO {
		return 0, unix.EINVAL
	}
	h := fs.handles.get(in.Fh)
	if h == nil || h.file == nil {
		return 0, unix.EBADF
	}
	n, err := h.file.content.ReadAt(r.Reply[:in.Size], int64(in.Offset))
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fs.refuse(h.file.node, err)
	}
	fs.stats.readBytes.Add(uint64(n))
	return n, 0
}

func (fs *fileSystem) write(r *fuse.Request) (int, unix.Errno) {
	in, data, ok := fuse.In[fuse.IoIn](r)
	if !ok || uint64(in.Size) > uint64(len(data)) {
		return 0, unix.EINVAL
	}
	h := fs.handles.get(in.Fh)
	if h == nil || h.file == nil {
		return 0, unix.EBADF
	}
	n, err := h.file.content.WriteOver(data[:in.Size], int64(in.Offset))
	if err != nil && n == 0 {
		h.file.ahead.changed() // a part may be written
		return 0, fs.refuse(h.file.node, err)
	}
	if h.file.ahead.wrote(int64(in.Offset) + int64(n)) {
		r.Then = fs.willSync(h.file)
	}
	if in.IoFlags&fuse.WriteKillSuidgid != 0 {
		if errno := killSuidgid(h.file.lower.fd); errno != 0 {
			return 0, errno
		}
	}
	if h.direct && !h.file.node.outdated.Load() {
		h.file.node.outdated.Store(true)
	}
	if h.direct && in.Flags&unix.O_DSYNC != 0 { // else the kernel asks for it
		if errno := h.file.sync(h, in.Flags&unix.O_SYNC != unix.O_SYNC); errno != 0 {
			return 0, errno
		}
	}
	fs.stats.writtenBytes.Add(uint64(n))
	out, size := fuse.Out[fuse.WriteOut](r)
	out.Size = uint32(n)
	return size, 0
}

// killSuidgid takes away the bits that a write by another than the owner must
// take away. Root's own writes do not.
func killSuidgid(fd int) unix.Errno {
	var st unix.Statx_t // without times, see lowerFile.Size
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MODE, &st); err != nil {
		return errnoOf(err)
	}
	mode := uint32(st.Mode) &^ unix.S_ISUID
	if mode&unix.S_IXGRP != 0 {
		mode &^= unix.S_ISGID
	}
	if mode == uint32(st.Mode) {
		return 0
	}
	return errnoOf(unix.Fchmod(fd, mode&0o7777))
}

func (fs *fileSystem) fsync(r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.FsyncIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	h := fs.handles.get(in.Fh)
	if h == nil || h.file == nil {
		return 0, unix.EBADF
	}
	fs.stats.syncs.Add(1)
	if in.Flags&fuse.FsyncDatasync != 0 {
		return 0, fs.syncOrWait(h, r)
	}
	return 0, h.file.sync(h, false)
}

// flush ends one use of a handle. With write-back caching the kernel has
// written everything down by then; a failure was told to it.
func (fs *fileSystem) flush(*node, *fuse.Request) (int, unix.Errno) { return 0, 0 }

func (fs *fileSystem) open(n *node, r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.OpenIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	if n.kind != unix.S_IFREG {
		return 0, unix.ENXIO
	}
	f, errno := fs.acquire(n, in.Flags&unix.O_ACCMODE != unix.O_RDONLY)
	if errno != 0 {
		return 0, errno
	}
	if in.Flags&unix.O_TRUNC != 0 {
		err := f.content.Truncate(0)
		f.ahead.changed()
		if err != nil {
			fs.put(f)
			return 0, fs.refuse(n, err)
		}
	}
	out, size := fuse.Out[fuse.OpenOut](r)
	fs.openOut(out, f, in.Flags)
	return size, 0
}

// openOut makes a handle of f and tells the kernel.
func (fs *fileSystem) openOut(out *fuse.OpenOut, f *file, flags uint32) {
	h, id := fs.newHandle(f, flags)
	*out = fuse.OpenOut{Fh: id, OpenFlags: fs.openFlags(h)}
}

func (fs *fileSystem) release(r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.ReleaseIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	if h := fs.handles.remove(in.Fh); h != nil && h.file != nil {
		fs.leave(h)
		fs.put(h.file)
	}
	return 0, 0
}

func (fs *fileSystem) fallocate(n *node, r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.FallocateIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	h := fs.handles.get(in.Fh)
	if h == nil || h.file == nil {
		return 0, unix.EBADF
	}
	err := fs.allocate(h.file, in.Mode, int64(in.Offset), int64(in.Length))
	h.file.ahead.changed()
	return 0, fs.refuseChange(n, err)
}

// refuseChange is refuse for an error that may be nil.
func (fs *fileSystem) refuseChange(n *node, err error) unix.Errno {
	if err == nil {
		return 0
	}
	return fs.refuse(n, err)
}

func (fs *fileSystem) lseek(_ *node, r *fuse.Request) (int, unix.Errno) {
	if fs.opts.Cache == WriteBack {
		// The kernel asks without writing down what it holds back, and then
		// would take data for a hole. After ENOSYS it finds no holes at all.
		return 0, unix.ENOSYS
	}
	in, _, ok := fuse.In[fuse.LseekIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	h := fs.handles.get(in.Fh)
	if h == nil || h.file == nil {
		return 0, unix.EBADF
	}
	off, err := fs.seek(h.file, int64(in.Offset), int(in.Whence))
	if err != nil {
		return 0, errnoOf(err)
	}
	out, size := fuse.Out[fuse.LseekOut](r)
	out.Offset = uint64(off)
	return size, 0
}
