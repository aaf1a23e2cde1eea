package fusefs

import (
	"bytes"
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// A directory is an open directory of a program.
type directory struct {
	fd int

	mu  sync.Mutex // guards the place of fd, and buf
	buf []byte
}

func (fs *fileSystem) opendir(n *node, r *fuse.Request) (int, unix.Errno) {
	fd, err := fs.reopen(n.fd, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return 0, errnoOf(err)
	}
	h := &handle{dir: &directory{fd: fd}}
	out, size := fuse.Out[fuse.OpenOut](r)
	out.Fh, _ = fs.handles.add(h)
	out.OpenFlags = fuse.OpenCacheDir | fuse.OpenKeepCache
	return size, 0
}

func (fs *fileSystem) releasedir(r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.ReleaseIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	if h := fs.handles.remove(in.Fh); h != nil && h.dir != nil {
		unix.Close(h.dir.fd)
	}
	return 0, 0
}

func (fs *fileSystem) fsyncdir(_ *node, r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.FsyncIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	h := fs.handles.get(in.Fh)
	if h == nil || h.dir == nil {
		return 0, unix.EBADF
	}
	fs.stats.syncs.Add(1)
	return 0, errnoOf(again(func() error { return unix.Fsync(h.dir.fd) }))
}

// readdir serves READDIR and READDIRPLUS. Places in a directory are those of
// the lower one, so nothing is kept between requests.
func (fs *fileSystem) readdir(n *node, r *fuse.Request) (int, unix.Errno) {
	in, _, ok := fuse.In[fuse.IoIn](r)
	if !ok {
		return 0, unix.EINVAL
	}
	h := fs.handles.get(in.Fh)
	if h == nil || h.dir == nil {
		return 0, unix.EBADF
	}
	d := h.dir
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := unix.Seek(d.fd, int64(in.Offset), unix.SEEK_SET); err != nil {
		return 0, errnoOf(err)
	}
	names, errno := fs.namesOf(n, false)
	if errno == unix.ENOENT {
		names, errno = volume.PlainNames, 0 // there is nothing in it but . and ..
	}
	if errno != 0 {
		return 0, errno
	}
	out := r.Reply[:min(in.Size, fuse.MaxIO)]
	plus := r.Opcode == fuse.OpReaddirplus
	used := 0
	for {
		// No more than fits: what is read and not used is read again.
		want := min(max((len(out)-used)/2, 1024), 64<<10)
		if len(d.buf) < want {
			d.buf = make([]byte, want)
		}
		k, err := unix.Getdents(d.fd, d.buf[:want])
		if err != nil {
			if used > 0 {
				return used, 0
			}
			return 0, errnoOf(err)
		}
		if k == 0 {
			return used, 0
		}
		for b := d.buf[:k]; len(b) > 0; {
			var e lowerEntry
			b = e.decode(b)
			name, shown := fs.shown(n, names, e.name)
			if !shown {
				continue
			}
			if used+fuse.DirentLen(len(name), plus) > len(out) {
				return used, 0
			}
			used = fs.addEntry(n, out, used, &e, name, plus)
		}
	}
}

// addEntry puts e, which programs know as name, into out at used.
func (fs *fileSystem) addEntry(dir *node, out []byte, used int, e *lowerEntry, name string, plus bool) int {
	d := fuse.Dirent{Ino: e.ino, Off: e.off, Type: uint32(e.kind)}
	if !plus {
		return fuse.AppendDirent(out, used, d, []byte(name), nil)
	}
	var entry fuse.EntryOut // node 0: the kernel looks it up itself
	if name != "." && name != ".." {
		var st unix.Stat_t
		if child, errno := fs.lookupAt(dir, string(e.name), &st); errno == 0 {
			fs.named(child, name)
			fs.entry(&entry, child, &st)
		}
	}
	return fuse.AppendDirent(out, used, d, []byte(name), &entry)
}

// A lowerEntry is one entry as getdents64(2) returns it.
type lowerEntry struct {
	ino, off uint64
	kind     byte
	name     []byte
}

// decode takes the first entry off b, which the kernel wrote: the number, the
// place of the next entry, the length of this one in two bytes, its kind, and
// its name with zeros after it.
func (e *lowerEntry) decode(b []byte) (rest []byte) {
	const lengthAt, kindAt, nameAt = 16, 18, 19
	e.ino, e.off = binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])
	length := binary.NativeEndian.Uint16(b[lengthAt:])
	e.kind, e.name = b[kindAt], b[nameAt:length]
	if i := bytes.IndexByte(e.name, 0); i >= 0 {
		e.name = e.name[:i]
	}
	return b[length:]
}
