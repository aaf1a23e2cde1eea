//go:build linux

package fusefs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const benchSize = 128 << 20 // bytes of a file of which parts are written and read

// An arm is one of the file systems that a benchmark compares.
type arm struct {
	name  string
	files [benchFiles]*os.File // the same file, opened ordinarily and with O_DIRECT
	spent []time.Duration
}

const (
	ordinary = iota
	direct
	benchFiles
)

// BenchmarkMount compares the lower file system, the mount without a cipher
// ("fuse") and the mount ("tde"): each iteration does the operation once on
// each, in an order that is drawn. It reports medians in µs and their ratios to
// the lower file system's.
func BenchmarkMount(b *testing.B) {
	for _, op := range []struct {
		name string
		size int // bytes moved
		do   func(a *arm, i int) error
	}{
		{"write+fdatasync/size=1536", 1536, logWrite},
		{"write/size=8192", 8192, func(a *arm, i int) error { return randomWrite(a, ordinary, 8192) }},
		{"write/size=16384/direct", 16384, func(a *arm, i int) error { return randomWrite(a, direct, 16384) }},
		{"write+fdatasync/size=16384/direct", 16384, func(a *arm, i int) error {
			return randomSynced(a, 16384)
		}},
		{"read/size=16384/direct", 16384, func(a *arm, i int) error { return randomRead(a, 16384) }},
		{"write/size=16384/direct/threads=4", 4 * 16384, func(a *arm, i int) error {
			return together(4, func() error { return randomWrite(a, direct, 16384) })
		}},
		{"write/size=1048576", 1 << 20, func(a *arm, i int) error { return sequentialWrite(a, i) }},
		{"read/size=1048576", 1 << 20, func(a *arm, i int) error { return sequentialRead(a, i) }},
		{"create+unlink", 0, createUnlink},
		{"stat", 0, statFresh},
	} {
		b.Run(op.name, func(b *testing.B) {
			arms := benchArms(b)
			b.SetBytes(int64(op.size))
			for i := range b.N + 5 {
				rand.Shuffle(len(arms), func(i, j int) { arms[i], arms[j] = arms[j], arms[i] })
				for _, a := range arms {
					start := time.Now()
					if err := op.do(a, i); err != nil {
						b.Fatalf("%s: %v", a.name, err)
					}
					if i >= 5 { // the first ones warm up
						a.spent = append(a.spent, time.Since(start))
					}
				}
			}
			report(b, arms)
		})
	}
}

func report(b *testing.B, arms []*arm) {
	median := map[string]float64{}
	for _, a := range arms {
		slices.Sort(a.spent)
		median[a.name] = float64(a.spent[len(a.spent)/2]) / 1000
		b.ReportMetric(median[a.name], a.name+"-µs")
	}
	for _, a := range []string{"fuse", "tde"} {
		b.ReportMetric(median[a]/median["lower"], a+"/lower")
	}
}

// benchArms makes the arms, on one file system.
func benchArms(b *testing.B) []*arm {
	b.Helper()
	arms := []*arm{
		{name: "lower"}, {name: "fuse"}, {name: "tde"},
	}
	dirs := []string{tempDir(b), mountTest(b, serveConfig{}).dir, mountTest(b, serveConfig{Key: 1}).dir}
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(rand.Uint32())
	}
	for i, a := range arms {
		for j, flags := range []int{ordinary: os.O_CREATE | os.O_RDWR, direct: os.O_RDWR | unix.O_DIRECT} {
			f, err := os.OpenFile(filepath.Join(dirs[i], "file"), flags, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { f.Close() })
			a.files[j] = f
		}
		for off := int64(0); off < benchSize; off += int64(len(block)) {
			if _, err := a.files[ordinary].WriteAt(block, off); err != nil {
				b.Fatal(err)
			}
		}
		if err := a.files[ordinary].Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return arms
}

func logWrite(a *arm, i int) error {
	var buf [1536]byte
	buf[0] = byte(i)
	if _, err := a.files[ordinary].WriteAt(buf[:], int64(i)*1536%(8<<20)); err != nil {
		return err
	}
	return unix.Fdatasync(int(a.files[ordinary].Fd()))
}

var buffers = sync.Pool{New: func() any { b := aligned(1 << 20); return &b }}

func randomWrite(a *arm, file, size int) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	_, err := a.files[file].WriteAt((*buf)[:size], rand.Int64N(int64(benchSize/size))*int64(size))
	return err
}

func randomSynced(a *arm, size int) error {
	if err := randomWrite(a, direct, size); err != nil {
		return err
	}
	return unix.Fdatasync(int(a.files[direct].Fd()))
}

func randomRead(a *arm, size int) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	_, err := a.files[direct].ReadAt((*buf)[:size], rand.Int64N(int64(benchSize/size))*int64(size))
	return err
}

func together(n int, f func() error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func sequentialWrite(a *arm, i int) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	_, err := a.files[ordinary].WriteAt(*buf, int64(i)*int64(len(*buf))%benchSize)
	return err
}

// sequentialRead reads what the mount's own cache does not hold. The lower file
// system's does: its cost is the copy.
func sequentialRead(a *arm, i int) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	off := int64(i) * int64(len(*buf)) % benchSize
	if off == 0 && a.name != "lower" {
		if err := unix.Fadvise(int(a.files[ordinary].Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return err
		}
	}
	_, err := a.files[ordinary].ReadAt(*buf, off)
	return err
}

func createUnlink(a *arm, i int) error {
	path := a.files[ordinary].Name() + fmt.Sprint(i)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(path)
}

// statFresh asks for attributes that a write has made stale.
func statFresh(a *arm, i int) error {
	if _, err := a.files[ordinary].WriteAt([]byte{1}, 0); err != nil {
		return err
	}
	_, err := os.Stat(a.files[ordinary].Name())
	return err
}
