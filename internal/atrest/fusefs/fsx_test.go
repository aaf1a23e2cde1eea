//go:build linux

package fusefs

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

var (
	fsxOps  = flag.Int("fsx.ops", 2500, "operations of a TestFsx run")
	fsxSeed = flag.Uint64("fsx.seed", 0, "seed of TestFsx; 0 draws one")
)

// TestFsx does random operations on one file through several handles and ways
// at once, and compares with a model in memory after each. Longer runs:
//
//	go test ./internal/atrest/fusefs -run TestFsx -timeout 0 -fsx.ops 2000000
func TestFsx(t *testing.T) {
	for _, c := range []struct {
		name, file string
		serveConfig
	}{
		{"through", "f", serveConfig{Key: 1}},
		{"back", "f", serveConfig{Key: 1, WriteBack: true}},
		{"a log", "ib_logfile0", serveConfig{Key: 1, WriteBack: true}},
		{"a log, through", "ib_logfile0", serveConfig{Key: 1}},
		{"no cipher", "f", serveConfig{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			seed := *fsxSeed
			if seed == 0 {
				seed = uint64(time.Now().UnixNano())
			}
			m := mountTest(t, c.serveConfig)
			x := &fsx{path: filepath.Join(m.dir, c.file), rng: rand.New(rand.NewPCG(seed, 0))}
			x.open(t)
			defer x.close()
			for i := range *fsxOps {
				if err := x.step(); err != nil {
					t.Fatalf("seed %d, operation %d: %v\nlast: %q", seed, i, err, x.last)
				}
			}
			x.close()
			if err := x.compareWhole(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			m.stop(t)
			m.remount(t)
			if err := x.compareWhole(); err != nil {
				t.Fatalf("seed %d: after mounting again: %v", seed, err)
			}
			m.stop(t)
			if c.Key != 0 {
				x.compareLower(t, m, seed)
			}
		})
	}
}

const fsxMax = 256 << 10 // longest file

// An fsx exercises a file.
type fsx struct {
	path   string
	rng    *rand.Rand
	want   []byte
	files  []*os.File // two ordinary handles
	direct *os.File
	last   []string // the last operations
}

func (x *fsx) open(t *testing.T) {
	t.Helper()
	for _, flags := range []int{unix.O_CREAT | unix.O_RDWR, unix.O_RDWR, unix.O_RDWR | unix.O_DIRECT} {
		f, err := os.OpenFile(x.path, flags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if flags&unix.O_DIRECT != 0 {
			x.direct = f
		} else {
			x.files = append(x.files, f)
		}
	}
}

func (x *fsx) close() {
	for _, f := range append(x.files, x.direct) {
		f.Close()
	}
}

// any returns one of the ordinary handles.
func (x *fsx) any() *os.File { return x.files[x.rng.IntN(len(x.files))] }

func (x *fsx) note(format string, args ...any) {
	x.last = append(x.last, fmt.Sprintf(format, args...))
	x.last = x.last[max(0, len(x.last)-12):]
}

// span draws a range; most are short, some aligned.
func (x *fsx) span() (off, n int) {
	off, n = x.rng.IntN(fsxMax), 1+x.rng.IntN(1<<(1+x.rng.IntN(17)))
	if x.rng.IntN(3) == 0 {
		off, n = off&^4095, (n+4095)&^4095
	}
	return off, max(1, min(n, fsxMax-off))
}

func (x *fsx) random(n int) []byte {
	b := make([]byte, n)
	if x.rng.IntN(8) == 0 {
		return b // zeros are content, too
	}
	for i := range b {
		b[i] = byte(x.rng.Uint32())
	}
	return b
}

// resize makes the model size bytes long.
func (x *fsx) resize(size int) {
	if size <= len(x.want) {
		x.want = x.want[:size:size]
		return
	}
	x.want = append(x.want, make([]byte, size-len(x.want))...)
}

// set puts b into the model.
func (x *fsx) set(b []byte, off int) {
	if off+len(b) > len(x.want) {
		x.resize(off + len(b))
	}
	copy(x.want[off:], b)
}

// step does one operation and checks what can be seen of it at once.
func (x *fsx) step() error {
	ops := []func() error{
		x.write, x.write, x.write, x.append, x.read, x.read, x.directWrite, x.directRead, x.truncate, x.truncatePath,
		x.allocate, x.punch, x.zeroRange, x.mapWrite, x.mapRead, x.sync, x.reopen, x.holes, x.copyRange, x.whole,
	}
	if err := ops[x.rng.IntN(len(ops))](); err != nil {
		return err
	}
	fi, err := x.any().Stat()
	if err == nil && fi.Size() != int64(len(x.want)) {
		err = fmt.Errorf("size %d, want %d", fi.Size(), len(x.want))
	}
	return err
}

func (x *fsx) write() error {
	off, n := x.span()
	x.note("write %d+%d", off, n)
	b := x.random(n)
	x.set(b, off)
	_, err := x.any().WriteAt(b, int64(off))
	return err
}

func (x *fsx) append() error {
	n := min(1+x.rng.IntN(300), fsxMax-len(x.want))
	if n <= 0 {
		return nil
	}
	x.note("append %d", n)
	f, err := os.OpenFile(x.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b := x.random(n)
	x.set(b, len(x.want))
	_, err = f.Write(b)
	return err
}

// compare checks what was read at off.
func (x *fsx) compare(got []byte, off int, err error) error {
	if err != nil && err != io.EOF {
		return err
	}
	want := x.want[min(off, len(x.want)):]
	if len(got) < len(want) && err == io.EOF {
		return fmt.Errorf("read at %d: %d bytes, want at least %d", off, len(got), len(want))
	}
	want = want[:min(len(want), len(got))]
	if len(got) > len(want) {
		return fmt.Errorf("read at %d: %d bytes, want %d", off, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("byte %d is %#x, want %#x", off+i, got[i], want[i])
		}
	}
	return nil
}

func (x *fsx) read() error {
	off, n := x.span()
	x.note("read %d+%d", off, n)
	b := make([]byte, n)
	k, err := x.any().ReadAt(b, int64(off))
	return x.compare(b[:k], off, err)
}

func (x *fsx) whole() error {
	x.note("read all")
	return x.compareWhole()
}

func (x *fsx) compareWhole() error {
	b, err := os.ReadFile(x.path)
	if err == nil && len(b) != len(x.want) {
		err = fmt.Errorf("content of %d bytes, want %d", len(b), len(x.want))
	}
	return x.compare(b, 0, err)
}

// aligned returns memory that O_DIRECT takes.
func aligned(n int) []byte {
	b := make([]byte, n+4096)
	skip := 4096 - int(uintptr(unsafe.Pointer(&b[0]))%4096)
	return b[skip:][:n]
}

func (x *fsx) directSpan() (off, n int) {
	off, n = x.span()
	grain := 512
	if x.rng.IntN(2) == 0 {
		grain = 4096
	}
	off, n = off/grain*grain, (n+grain-1)/grain*grain
	return off, min(n, fsxMax-off)
}

func (x *fsx) directWrite() error {
	off, n := x.directSpan()
	x.note("direct write %d+%d", off, n)
	b := aligned(n)
	copy(b, x.random(n))
	x.set(b, off)
	_, err := x.direct.WriteAt(b, int64(off))
	return err
}

func (x *fsx) directRead() error {
	off, n := x.directSpan()
	x.note("direct read %d+%d", off, n)
	b := aligned(n)
	k, err := unix.Pread(int(x.direct.Fd()), b, int64(off))
	if err == nil && k < n {
		err = io.EOF
	}
	return x.compare(b[:max(k, 0)], off, err)
}

func (x *fsx) newSize() int {
	size := x.rng.IntN(fsxMax)
	if x.rng.IntN(3) == 0 {
		size = min(max(0, len(x.want)+x.rng.IntN(64)-32), fsxMax)
	}
	return size
}

func (x *fsx) truncate() error {
	size := x.newSize()
	x.note("ftruncate %d", size)
	x.resize(size)
	return x.any().Truncate(int64(size))
}

func (x *fsx) truncatePath() error {
	size := x.newSize()
	x.note("truncate %d", size)
	x.resize(size)
	return os.Truncate(x.path, int64(size))
}

func (x *fsx) fallocate(mode uint32, off, n int) error {
	x.note("fallocate %#x %d+%d", mode, off, n)
	return unix.Fallocate(int(x.any().Fd()), mode, int64(off), int64(n))
}

func (x *fsx) allocate() error {
	off, n := x.span()
	if x.rng.IntN(2) == 0 {
		return x.fallocate(unix.FALLOC_FL_KEEP_SIZE, off, n)
	}
	x.resize(max(len(x.want), off+n))
	return x.fallocate(0, off, n)
}

// clear makes the model zeros as far as it reaches.
func (x *fsx) clear(off, n int) {
	if off < len(x.want) {
		clear(x.want[off:min(off+n, len(x.want))])
	}
}

func (x *fsx) punch() error {
	off, n := x.span()
	x.clear(off, n)
	return x.fallocate(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
}

func (x *fsx) zeroRange() error {
	off, n := x.span()
	if x.rng.IntN(2) == 0 {
		x.clear(off, n)
		return x.fallocate(unix.FALLOC_FL_ZERO_RANGE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	}
	x.resize(max(len(x.want), off+n))
	x.clear(off, n)
	return x.fallocate(unix.FALLOC_FL_ZERO_RANGE, off, n)
}

// mapped calls f with the whole file in memory.
func (x *fsx) mapped(f func(b []byte)) error {
	if len(x.want) == 0 {
		return nil
	}
	b, err := unix.Mmap(int(x.any().Fd()), 0, len(x.want), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	f(b)
	if x.rng.IntN(2) == 0 {
		err = unix.Msync(b, unix.MS_SYNC)
	}
	if uerr := unix.Munmap(b); err == nil {
		err = uerr
	}
	return err
}

func (x *fsx) mapWrite() error {
	off, n := x.span()
	n = min(n, len(x.want)-off)
	if n <= 0 {
		return nil
	}
	x.note("map write %d+%d", off, n)
	p := x.random(n)
	x.set(p, off)
	return x.mapped(func(b []byte) { copy(b[off:], p) })
}

func (x *fsx) mapRead() error {
	x.note("map read")
	var cerr error
	err := x.mapped(func(b []byte) { cerr = x.compare(b, 0, nil) })
	if err == nil {
		err = cerr
	}
	return err
}

func (x *fsx) sync() error {
	x.note("sync")
	if x.rng.IntN(2) == 0 {
		return unix.Fdatasync(int(x.any().Fd()))
	}
	return x.any().Sync()
}

func (x *fsx) reopen() error {
	x.note("reopen")
	i := x.rng.IntN(len(x.files))
	if err := x.files[i].Close(); err != nil {
		return err
	}
	var err error
	x.files[i], err = os.OpenFile(x.path, os.O_RDWR, 0)
	return err
}

// holes checks that what is said to be a hole is zeros.
func (x *fsx) holes() error {
	x.note("seek")
	fd := int(x.any().Fd())
	for off := int64(0); off < int64(len(x.want)); {
		data, err := unix.Seek(fd, off, unix.SEEK_DATA)
		if err == unix.ENXIO {
			data, err = int64(len(x.want)), nil
		}
		if err != nil {
			return err
		}
		if data < off || data > int64(len(x.want)) {
			return fmt.Errorf("data after %d at %d, size %d", off, data, len(x.want))
		}
		if !bytes.Equal(x.want[off:data], make([]byte, data-off)) {
			return fmt.Errorf("hole at %d to %d holds data", off, data)
		}
		if data == int64(len(x.want)) {
			return nil
		}
		if off, err = unix.Seek(fd, data, unix.SEEK_HOLE); err != nil {
			return err
		}
		if off <= data || off > int64(len(x.want)) {
			return fmt.Errorf("hole after %d at %d, size %d", data, off, len(x.want))
		}
	}
	return nil
}

// copyRange copies within the file, as servers copy databases.
func (x *fsx) copyRange() error {
	n := x.rng.IntN(len(x.want)/2 + 1)
	from, to := int64(x.rng.IntN(len(x.want)/2+1)), int64(len(x.want)/2)
	if n = min(n, int(to-from), len(x.want)-int(to)); n <= 0 {
		return nil
	}
	x.note("copy %d+%d to %d", from, n, to)
	src, dst := x.any(), x.any()
	for done := 0; done < n; {
		k, err := unix.CopyFileRange(int(src.Fd()), &from, int(dst.Fd()), &to, n-done, 0)
		if err != nil {
			return err
		}
		if k == 0 {
			return io.ErrUnexpectedEOF
		}
		x.set(append([]byte(nil), x.want[from-int64(k):from]...), int(to)-k)
		done += k
	}
	return nil
}

// compareLower opens the file below as package volume does.
func (x *fsx) compareLower(t *testing.T, m *mounted, seed uint64) {
	t.Helper()
	lower, err := disk.OS.OpenFile(filepath.Join(m.Lower, filepath.Base(x.path)), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := volume.Open(lower, testKeys(m.Key, 1), volume.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, fsxMax+1)
	n, err := f.ReadAt(b, 0)
	if err := x.compare(b[:n], 0, err); err != nil || n != len(x.want) {
		t.Errorf("seed %d: file below: %d bytes, want %d: %v", seed, n, len(x.want), err)
	}
}
