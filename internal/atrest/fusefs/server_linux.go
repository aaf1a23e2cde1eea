package fusefs

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
)

// A Server is a mounted volume.
type Server struct {
	conn *fuse.Conn
	fs   *fileSystem
	done chan struct{}
	err  error // valid after done
}

// counters count what was served, since the mount.
type counters struct {
	requests, readBytes, writtenBytes, syncs, syncsAhead atomic.Uint64
}

// Stats say what a Server has served. SyncsAhead counts syncs that it began before
// it was asked for them, and is no part of Syncs.
type Stats struct {
	Requests, ReadBytes, WrittenBytes, Syncs, SyncsAhead uint64
}

// Mount mounts the tree under the open directory root on the directory path,
// which must be absolute and without symbolic links, and serves it. root is the
// caller's again when Wait has returned. The process's umask becomes 0, its
// garbage is collected less often, and while it serves GOMAXPROCS grows and its
// threads stay on one CPU where that is of use. The error matches
// fuse.ErrMounted, fuse.ErrNoDevice, fuse.ErrNoHelper or fuse.ErrNotPermitted
// where that is the cause.
func Mount(root *os.File, path string, o Options) (*Server, error) {
	if err := fuse.Recover(path); err != nil {
		return nil, err
	}
	// Modes arrive with the program's own umask applied.
	unix.Umask(0)
	raiseFileLimit()
	fs, err := newFileSystem(root, o)
	if err != nil {
		return nil, err
	}
	conn, err := fuse.Mount(path, fuse.MountOptions{Source: o.Source, AllowOther: o.AllowOther, ReadOnly: o.ReadOnly})
	if err != nil {
		fs.close()
		return nil, err
	}
	if err := conn.Init(capabilities(o)); err != nil {
		err = errors.Join(err, conn.Unmount(), conn.Close())
		fs.close()
		return nil, fmt.Errorf("mount on %s: %w", path, err)
	}
	// Little garbage is made, and by default some megabytes of it would have it
	// collected.
	debug.SetGCPercent(gcPercent)
	s := &Server{conn: conn, fs: fs, done: make(chan struct{})}
	go func() {
		dev := fs.root.key.dev
		s.err = conn.Serve(fs, loops(o.Loops), func() (int, bool) { return fuse.InterruptedCPU(dev) })
		conn.Close()
		fs.close()
		close(s.done)
	}()
	return s, nil
}

// gcPercent makes the heap 16 MB before anything is collected.
const gcPercent = 400

// capabilities are what a mount with o wants of the kernel.
func capabilities(o Options) uint64 {
	caps := uint64(fuse.CapAsyncRead | fuse.CapBigWrites | fuse.CapMaxPages | fuse.CapAsyncDIO |
		fuse.CapDoReaddirplus | fuse.CapReaddirplusAuto | fuse.CapParallelDirOps | fuse.CapCacheSymlinks |
		fuse.CapExplicitInval | fuse.CapHandleKillpriv2 | fuse.CapDirectIOMmap | fuse.CapNoExport)
	if o.Cache == WriteBack {
		caps |= fuse.CapWritebackCache
	}
	return caps
}

func loops(n int) int {
	if n > 0 {
		return n
	}
	return max(8, min(2*runtime.NumCPU(), 32))
}

// raiseFileLimit lets the process have as many open files as it may.
func raiseFileLimit() {
	const enough = 1 << 20
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return
	}
	if r.Max < enough {
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: enough, Max: enough}) == nil {
			return
		}
	}
	r.Cur = r.Max
	unix.Setrlimit(unix.RLIMIT_NOFILE, &r)
}

// fileLimit is how many open files the process may have.
func fileLimit() uint64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return r.Cur
}

// Wait returns when the file system is unmounted, or an error when serving it
// has failed.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}

// Done is closed when Wait would return.
func (s *Server) Done() <-chan struct{} { return s.done }

// Unmount unmounts the file system. If somebody uses it, the error matches
// fuse.ErrBusy and service goes on.
func (s *Server) Unmount() error {
	if err := s.conn.Unmount(); err != nil {
		return err
	}
	return s.Wait()
}

// Stats returns what was served so far.
func (s *Server) Stats() Stats {
	c := &s.fs.stats
	return Stats{c.requests.Load(), c.readBytes.Load(), c.writtenBytes.Load(), c.syncs.Load(), c.syncsAhead.Load()}
}
