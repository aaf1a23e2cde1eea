package fusefs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

// Rekey re-encrypts the file that has these names in the tree of d, which s
// serves, under the current key while programs use it. They keep it open, and
// its inode number stays the same for them. wait is called before so many bytes
// are copied. The error matches unix.ENOENT if the file has not exactly these
// names any more when its turn comes; it keeps its key then.
func (s *Server) Rekey(ctx context.Context, d *volume.Dir, names []string, wait func(context.Context, int) error) error {
	fs := s.fs
	ctx, leave, err := fs.rekeys.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	fd, err := unix.Openat(fs.root.fd, names[0], unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var st unix.Stat_t
	n, errno := fs.remember(fd, &st)
	if errno != 0 {
		return errno
	}
	defer fs.forget(fuse.ForgetOne{NodeID: n.id, Nlookup: 1})
	if errno := fs.pin(n); errno != 0 {
		return errno
	}
	defer fs.unpin(n)
	f, errno := fs.acquire(n, false)
	if errno != 0 {
		return errno
	}
	defer fs.put(f)
	v := encrypted(f.content)
	if v == nil || v.Header().KeyVersion == fs.opts.Keys.Current() {
		return nil
	}
	to, err := d.NewSuccessor()
	if err != nil {
		return err
	}
	defer to.Close()
	replaced := false
	var late error // of a file that is replaced, and used, nonetheless
	err = v.Rekey(ctx, &lowerFile{int(to.Fd())}, fs.opts.Keys, volume.RekeyOptions{
		Wait: wait,
		// Nobody changes names or attributes meanwhile.
		Enter: s.Still,
		Commit: func() (disk.File, error) {
			if err := fs.readySuccessor(n, d, names, to); err != nil {
				return nil, err
			}
			var err error
			if replaced, err = fs.replace(n, f, d, names, to); !replaced {
				return nil, err
			}
			late = err
			return f.lower, nil
		},
	})
	if err != nil && !replaced {
		os.Remove(to.Name())
	}
	return errors.Join(err, late)
}

// Still keeps names and attributes of files as they are until what it returns is
// called. Programs that would change them, or ask for them, wait.
func (s *Server) Still() (release func()) {
	s.fs.changing.Lock()
	return s.fs.changing.Unlock
}

// rekeys are the calls of Rekey in progress; the file system waits for them
// before it closes what they use.
type rekeys struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
	cancel map[int]context.CancelFunc
	next   int
}

// enter lets a call begin. It must stop when the context it gets ends, and
// calls leave then.
func (r *rekeys) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, unix.ENOTCONN
	}
	ctx, cancel := context.WithCancel(ctx)
	if r.cancel == nil {
		r.cancel = map[int]context.CancelFunc{}
	}
	id := r.next
	r.next++
	r.cancel[id] = cancel
	r.wg.Add(1)
	return ctx, func() {
		r.mu.Lock()
		delete(r.cancel, id)
		r.mu.Unlock()
		cancel()
		r.wg.Done()
	}, nil
}

// close ends all calls and waits for them.
func (r *rekeys) close() {
	r.mu.Lock()
	r.closed = true
	for _, cancel := range r.cancel {
		cancel()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

var _ volume.HolePuncher = (*lowerFile)(nil)

// Punch implements volume.HolePuncher.
func (f *lowerFile) Punch(off, n int64) error {
	return again(func() error {
		return unix.Fallocate(f.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	})
}

// readySuccessor gives to what n has besides content, if names are all that n
// has.
func (fs *fileSystem) readySuccessor(n *node, d *volume.Dir, names []string, to *os.File) error {
	var st unix.Stat_t
	for _, name := range names {
		if err := unix.Fstatat(fs.root.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if (inode{uint64(st.Dev), st.Ino}) != n.key || int(st.Nlink) != len(names) {
			return unix.ENOENT
		}
	}
	from := filepath.Join(d.Root().Name(), names[0])
	if err := volume.CopyAttributes(from, to.Name(), &st, func(string) {}); err != nil {
		return err
	}
	return to.Sync()
}

// replace puts to in the place of n's lower file: under its names, and below the
// descriptors that n and f have of it. replaced is as that of volume.Dir.Replace.
func (fs *fileSystem) replace(n *node, f *file, d *volume.Dir, names []string, to *os.File) (replaced bool, err error) {
	name, err := fs.reopen(int(to.Fd()), unix.O_PATH)
	if err != nil {
		return false, err
	}
	defer unix.Close(name)
	flags := unix.O_RDWR
	if !f.writable {
		flags = unix.O_RDONLY
	}
	data, err := fs.reopen(int(to.Fd()), flags)
	if err != nil {
		return false, err
	}
	defer unix.Close(data)
	var st unix.Stat_t
	if err := unix.Fstat(name, &st); err != nil {
		return false, err
	}
	if replaced, err = d.Replace(to.Name(), names); !replaced {
		return false, err
	}
	// From here on nothing fails: both are descriptors of this process.
	n.mu.Lock()
	defer n.mu.Unlock()
	err = errors.Join(err,
		again(func() error { return unix.Dup3(name, n.fd, unix.O_CLOEXEC) }),
		again(func() error { return unix.Dup3(data, f.lower.fd, unix.O_CLOEXEC) }),
	)
	f.ahead.changed() // a sync of the old one says nothing of this
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.nodes, n.key)
	n.key = inode{uint64(st.Dev), st.Ino}
	fs.nodes[n.key] = n
	fs.lent[inode{n.key.dev, n.ino}] = true
	return true, err
}
