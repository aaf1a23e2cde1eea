package volume

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/veildb/veildb/internal/disk"
)

// TestRekey moves files of all kinds of lengths, with holes, to a new key.
func TestRekey(t *testing.T) {
	old, both := newTestKeys(t, 1), newTestKeys(t, 1, 2)
	for _, size := range []int64{0, 1, 15, 16, 17, 4095, 4096, 5000, rekeyChunk, 2*rekeyChunk + 33} {
		f, lower := mustCreate(t, old)
		want := make([]byte, size)
		r := rand.New(rand.NewPCG(1, uint64(size)))
		for off := int64(0); off < size; off += 3 * 4096 { // the rest are holes
			n := min(4096, size-off)
			for i := range n {
				want[off+i] = byte(r.Uint32())
			}
			if _, err := f.WriteAt(want[off:off+n], off); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		to := newMemFile()
		err := f.Rekey(t.Context(), to, both, RekeyOptions{Commit: func() (disk.File, error) { return to, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Header(); got.KeyVersion != 2 || len(to.data) != len(lower.data) {
			t.Errorf("size %d: header %+v, %d bytes below, %d before", size, got, len(to.data), len(lower.data))
		}
		again, err := Open(to, both, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, g := range map[string]*File{"moved": f, "opened": again} {
			got := make([]byte, size)
			if _, err := g.ReadAt(got, 0); err != nil && err != io.EOF || !bytes.Equal(got, want) {
				t.Errorf("size %d, %s: content differs, %v", size, name, err)
			}
		}
		for page := range lower.written {
			if !lower.written[page] && to.written[page] {
				t.Errorf("size %d: page %d was a hole", size, page)
			}
		}
	}
}

// TestRekeyFails fails each lower operation in turn: the file stays as it was,
// under the old key.
func TestRekeyFails(t *testing.T) {
	old, both := newTestKeys(t, 1), newTestKeys(t, 1, 2)
	want := bytes.Repeat([]byte("content"), 200000)
	for step := 0; ; step++ {
		f, _ := mustCreate(t, old)
		if _, err := f.WriteAt(want, 0); err != nil {
			t.Fatal(err)
		}
		to, n := newMemFile(), 0
		to.fail = func(string, int64, int) (int, error) {
			if n++; n > step {
				return 0, errBoom
			}
			return 0, nil
		}
		committed := false
		err := f.Rekey(t.Context(), to, both, RekeyOptions{Commit: func() (disk.File, error) {
			committed = true
			if step%2 == 0 {
				return nil, errBoom
			}
			return to, nil
		}})
		if err == nil {
			if !committed {
				t.Error("done without commit")
			}
			break
		}
		if !errors.Is(err, errBoom) {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) || f.Header().KeyVersion != 1 {
			t.Fatalf("step %d: the file is not as it was: %v", step, err)
		}
		if _, err := f.WriteAt([]byte("x"), 5); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, _ := mustCreate(t, old)
	if _, err := f.WriteAt(want, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Rekey(ctx, newMemFile(), both, RekeyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRekeyWhileUsed changes a file in all ways while it is moved, between
// keys again and again, and compares it with a model.
func TestRekeyWhileUsed(t *testing.T) {
	versions := []byte{1, 2, 3, 4, 5, 6}
	keys := newTestKeys(t, versions...)
	const most = 2 * rekeyChunk
	f, lower := mustCreate(t, keys)
	lower.quiet = true
	model := make([]byte, 0, most)
	var mu sync.Mutex // guards model, and that f is not changed while they are compared
	stop := make(chan struct{})
	var wg sync.WaitGroup
	changes := 0
	wg.Go(func() {
		r := rand.New(rand.NewPCG(7, 8))
		for {
			select {
			case <-stop:
				return
			default:
			}
			mu.Lock()
			if err := change(f, &model, r, most); err != nil {
				t.Error(err)
			}
			changes++
			mu.Unlock()
			runtime.Gosched()
		}
	})
	compare := func() {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		size, err := f.Size()
		got := make([]byte, len(model))
		if err == nil {
			_, err = f.ReadAt(got, 0)
		}
		if size != int64(len(model)) || err != nil && err != io.EOF || !bytes.Equal(got, model) {
			i := slices.IndexFunc(got, func(byte) bool { return true })
			for i = range min(len(got), len(model)) {
				if got[i] != model[i] {
					break
				}
			}
			t.Fatalf("%d bytes, want %d; differs from %d; %v", size, len(model), i, err)
		}
	}
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return changes >= 30
	}
	for round := 0; round < 12 || !enough(); round++ {
		k := *keys
		k.current = uint32(versions[round%len(versions)])
		to := newMemFile()
		to.quiet = true
		// Each wait lets the writer in: at least one change a chunk.
		err := f.Rekey(t.Context(), to, &k, RekeyOptions{
			Wait: func(context.Context, int) error {
				mu.Lock()
				defer mu.Unlock()
				return change(f, &model, rand.New(rand.NewPCG(9, uint64(round))), most)
			},
			Commit: func() (disk.File, error) { return to, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		compare()
		if f.Header().KeyVersion != k.current {
			t.Fatalf("key version %d, want %d", f.Header().KeyVersion, k.current)
		}
	}
	close(stop)
	wg.Wait()
	compare()
}

// change does one random change to f and model.
func change(f *File, model *[]byte, r *rand.Rand, most int) error {
	m := *model
	switch r.IntN(10) {
	case 0:
		size := r.IntN(most)
		if err := f.Truncate(int64(size)); err != nil {
			return err
		}
		if size < len(m) {
			clear(m[size:])
		}
		*model = m[:size]
		return nil
	default:
		off, n := r.IntN(most-70000), 1+r.IntN(70000)
		if r.IntN(2) == 0 {
			off, n = off&^4095, (n+4095)&^4095
		}
		n = min(n, most-off)
		p := make([]byte, n)
		for i := range p {
			p[i] = byte(i*7 + off)
		}
		if _, err := f.WriteAt(p, int64(off)); err != nil {
			return err
		}
		if end := off + n; end > len(m) {
			m = m[:end]
		}
		copy(m[off:], p)
		*model = m
		return nil
	}
}

// countingLower counts the bytes that are read of it.
type countingLower struct {
	*memFile
	read int
}

func (f *countingLower) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.memFile.ReadAt(p, off)
	f.read += n
	return n, err
}

// TestRekeyReadsNoHoles copies the one chunk of a file that has data.
func TestRekeyReadsNoHoles(t *testing.T) {
	lower := &countingLower{memFile: newMemFile()}
	f, err := Create(lower, newTestKeys(t, 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("data"), 5*rekeyChunk+7); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(20*rekeyChunk + 9); err != nil {
		t.Fatal(err)
	}
	lower.read = 0
	to := newMemFile()
	err = f.Rekey(t.Context(), to, newTestKeys(t, 1, 2), RekeyOptions{Commit: func() (disk.File, error) { return to, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if lower.read > 3*rekeyChunk { // the chunk, and that of the end
		t.Errorf("read %d bytes of %d", lower.read, len(lower.data))
	}
	got := make([]byte, 20*rekeyChunk+9)
	if n, err := f.ReadAt(got, 0); n != len(got) || err != nil && err != io.EOF || string(bytes.Trim(got, "\x00")) != "data" {
		t.Errorf("%d bytes, %v: content differs", n, err)
	}
}
