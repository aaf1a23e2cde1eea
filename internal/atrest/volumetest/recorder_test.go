package volumetest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// A recorder is a disk, as a file in a file system of its own, that logs what is
// written to it and when it is flushed. A loop device on the file carries the
// file system below a volume. From the log, states follow that the disk could
// have been in after a power failure at any moment: all that was flushed, and
// any part of the rest.
//
// The log is a row of events, each a header of 16 bytes, then data:
//
//	0  8  offset on the disk, or flushed
//	8  8  length of the data
type recorder struct {
	fs.Inode
	disk *os.File
	size int64

	mu  sync.Mutex
	log *os.File
}

const flushed = ^uint64(0) // the offset of a flush

// recorderEnv makes the test binary a recorder: disk, log and mount point, each
// on a line. It is a process of its own: one that waits for a file system that
// it serves itself can wait for ever.
const recorderEnv = "VEILDB_TEST_RECORDER"

// serveRecorder serves until it is unmounted.
func serveRecorder(config string) error {
	paths := strings.Split(config, "\n")
	disk, err := os.OpenFile(paths[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := disk.Stat()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(paths[1], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	root := &fs.Inode{}
	server, err := fs.Mount(paths[2], root, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, MaxWrite: 1 << 20},
		OnAdd: func(ctx context.Context) {
			root.AddChild("disk", root.NewPersistentInode(ctx, &recorder{disk: disk, size: info.Size(), log: log}, fs.StableAttr{Mode: syscall.S_IFREG}), false)
		},
	})
	if err != nil {
		return err
	}
	fmt.Println("recording")
	server.Wait()
	return log.Sync()
}

var (
	_ fs.NodeOpener    = (*recorder)(nil)
	_ fs.NodeGetattrer = (*recorder)(nil)
	_ fs.NodeReader    = (*recorder)(nil)
	_ fs.NodeWriter    = (*recorder)(nil)
	_ fs.NodeFsyncer   = (*recorder)(nil)
)

func (r *recorder) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (r *recorder) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size, out.Blocks, out.Nlink = syscall.S_IFREG|0o600, uint64(r.size), uint64(r.size/512), 1
	return 0
}

func (r *recorder) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	n, err := r.disk.ReadAt(dest, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fs.ToErrno(err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

func (r *recorder) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.record(uint64(off), data); err != nil {
		return 0, fs.ToErrno(err)
	}
	if _, err := r.disk.WriteAt(data, off); err != nil {
		return 0, fs.ToErrno(err)
	}
	return uint32(len(data)), 0
}

func (r *recorder) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fs.ToErrno(r.record(flushed, nil))
}

// record appends an event; it is in the log before whoever wrote goes on.
func (r *recorder) record(off uint64, data []byte) error {
	event := binary.LittleEndian.AppendUint64(make([]byte, 0, 16+len(data)), off)
	event = binary.LittleEndian.AppendUint64(event, uint64(len(data)))
	_, err := r.log.Write(append(event, data...))
	return err
}

// startRecorder has a recorder serve the disk in file point/disk, until the
// returned function is called or the test ends.
func startRecorder(t testing.TB, disk, log, point string) (end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), recorderEnv+"="+strings.Join([]string{disk, log, point}, "\n"))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		if unix.Unmount(point, 0) != nil {
			unix.Unmount(point, unix.MNT_DETACH)
		}
		cmd.Wait()
	})
	t.Cleanup(end)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "recording\n" {
		t.Fatalf("the recorder does not start: %q, %v", line, err)
	}
	return end
}

// A replay makes states of a disk from the log of a recorder.
type replay struct {
	log     *os.File
	durable *os.File // the disk with all that was flushed before at
	at      int64    // in the log
}

// newReplay starts with the disk as it was before the log began, which it
// changes.
func newReplay(t testing.TB, disk, log string) *replay {
	t.Helper()
	r := &replay{}
	var err error
	if r.durable, err = os.OpenFile(disk, os.O_RDWR, 0); err == nil {
		r.log, err = os.Open(log)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.log.Close(); r.durable.Close() })
	return r
}

// An event of a log, without its data.
type event struct {
	off  uint64
	data int64 // where the data begin in the log
	size int64
}

// events are those between two places of the log.
func (r *replay) events(from, to int64) ([]event, error) {
	var all []event
	for at := from; at+16 <= to; {
		var head [16]byte
		if _, err := r.log.ReadAt(head[:], at); err != nil {
			return nil, err
		}
		e := event{binary.LittleEndian.Uint64(head[:]), at + 16, int64(binary.LittleEndian.Uint64(head[8:]))}
		if at = e.data + e.size; at <= to {
			all = append(all, e)
		}
	}
	return all, nil
}

// places draws n places of the log, in order. Half of them are just before
// flushes, those more likely that have much to flush.
func (r *replay) places(from, to int64, n int, rng *rand.Rand) ([]int64, error) {
	events, err := r.events(from, to)
	if err != nil {
		return nil, err
	}
	var writes []int64 // for each write, where the next flush is
	pending := 0
	for _, e := range events {
		if e.off != flushed {
			pending++
			continue
		}
		for ; pending > 0; pending-- {
			writes = append(writes, e.data-16)
		}
	}
	all := make([]int64, n)
	for i := range all {
		if i%2 == 1 && len(writes) > 0 {
			all[i] = writes[rng.IntN(len(writes))]
		} else {
			all[i] = from + rng.Int64N(to-from+1)
		}
	}
	slices.Sort(all)
	return all, nil
}

// copyTo writes the data of e, or the sectors of it that keep tells, to disk.
func (r *replay) copyTo(disk *os.File, e event, keep func(sector int) bool) error {
	data := make([]byte, e.size)
	if _, err := r.log.ReadAt(data, e.data); err != nil {
		return err
	}
	if keep == nil {
		_, err := disk.WriteAt(data, int64(e.off))
		return err
	}
	const sector = 512
	for i := 0; i*sector < len(data); i++ {
		if keep(i) {
			if _, err := disk.WriteAt(data[i*sector:min((i+1)*sector, len(data))], int64(e.off)+int64(i*sector)); err != nil {
				return err
			}
		}
	}
	return nil
}

// losses are what a power failure did to the writes that were not flushed.
type losses struct{ inFlight, lost, torn int }

func (l *losses) add(o losses) {
	l.inFlight, l.lost, l.torn = l.inFlight+o.inFlight, l.lost+o.lost, l.torn+o.torn
}

func (l losses) String() string {
	return fmt.Sprintf("%d writes in flight, %d lost, %d torn", l.inFlight, l.lost, l.torn)
}

// state writes to path a disk after a power failure at the place to of the log,
// which must not be before that of the last call.
func (r *replay) state(path string, to int64, rng *rand.Rand) (losses, error) {
	pending, err := r.advance(to)
	if err != nil {
		return losses{}, err
	}
	if out, err := exec.Command("cp", "--sparse=always", r.durable.Name(), path).CombinedOutput(); err != nil {
		return losses{}, fmt.Errorf("copy disk: %w: %s", err, out)
	}
	disk, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return losses{}, err
	}
	defer disk.Close()
	l := losses{inFlight: len(pending)}
	share := rng.Float64() // some states lose nearly all, some nearly nothing
	for _, w := range pending {
		switch {
		case rng.Float64() < share:
			l.lost++
			continue
		case rng.IntN(3) == 0:
			l.torn++
			err = r.copyTo(disk, w, func(int) bool { return rng.IntN(2) == 0 })
		default:
			err = r.copyTo(disk, w, nil)
		}
		if err != nil {
			return losses{}, err
		}
	}
	return l, nil
}

// advance brings the durable disk to the last flush before the place to, and
// returns the writes since.
func (r *replay) advance(to int64) (pending []event, err error) {
	events, err := r.events(r.at, to)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if e.off != flushed {
			pending = append(pending, e)
			continue
		}
		for _, w := range pending {
			if err := r.copyTo(r.durable, w, nil); err != nil {
				return nil, err
			}
		}
		pending = pending[:0]
		r.at = e.data
	}
	return pending, nil
}

// newDisk makes an ext4 file system in the file path.
func newDisk(t testing.TB, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, nil, sbin("mkfs.ext4"), "-q", "-F", "-J", "size=8", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", path)
}

// mountDisk mounts the file system in the file disk on the directory point.
func mountDisk(t testing.TB, disk, point string) {
	t.Helper()
	run(t, nil, "mount", "-t", "ext4", "-o", "loop,nodiscard,noatime", disk, point)
}

// unmountDisk undoes mountDisk. Who used the file system has ended; the kernel
// may notice late.
func unmountDisk(t testing.TB, point string) {
	t.Helper()
	var err error
	eventually(t, "unmounting the disk", func() bool {
		_, err = tryRun(nil, "umount", point)
		return err == nil
	})
}

// sbin finds a program of the administrator's.
func sbin(name string) string {
	if p, err := exec.LookPath(name); err == nil {
		return p
	}
	return filepath.Join("/sbin", name)
}
