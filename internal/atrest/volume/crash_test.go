package volume

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

// TestTornAppend tears each append to a file of any tail at every sector, with
// the new length on disk or not: what was there before must stay, whatever of
// the append arrived.
func TestTornAppend(t *testing.T) {
	keys := newTestKeys(t, 1)
	for _, start := range []int64{0, 496, 4080} {
		for tail := int64(0); tail < 17; tail++ {
			for _, n := range []int{1, 15, 17, 600} {
				size := start + tail
				tearAppend(t, keys, size, n)
			}
		}
	}
}

func tearAppend(t *testing.T, keys KeySource, size int64, n int) {
	t.Helper()
	f, lower := mustCreate(t, keys)
	synced := bytes.Repeat([]byte{0xa5}, int(size))
	if _, err := f.WriteAt(synced, 0); err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(lower.data)
	if _, err := f.WriteAt(bytes.Repeat([]byte{0x5a}, n), size); err != nil {
		t.Fatal(err)
	}
	after := lower.data
	for _, length := range []int{len(before), len(after)} {
		for cut := 0; cut <= len(after)+sectorSize; cut += sectorSize {
			for _, newFirst := range []bool{true, false} {
				torn := tear(before, after, length, cut, newFirst)
				if got, err := readAll(&memFile{data: torn, written: map[int64]bool{}}, keys); err != nil || !bytes.HasPrefix(got, synced) {
					t.Fatalf("%d bytes and %d more, torn at %d (new first: %v), length %d: synced bytes are lost: %v", size, n, cut, newFirst, length, err)
				}
			}
		}
	}
}

// tear returns a file of that length with the sectors before cut from the one
// and those behind it from the other.
func tear(before, after []byte, length, cut int, newFirst bool) []byte {
	a, b := make([]byte, length), make([]byte, length)
	copy(a, after)
	copy(b, before)
	if !newFirst {
		a, b = b, a
	}
	cut = min(cut, length)
	return append(bytes.Clone(a[:cut]), b[cut:]...)
}

func readAll(lower *memFile, keys KeySource) ([]byte, error) {
	f, err := Open(lower, keys, Options{})
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) || n < len(b) {
		return nil, fmt.Errorf("%d of %d bytes: %w", n, size, err)
	}
	return b, nil
}

// TestTornLikePlain tears writes of whole sectors anywhere, at every sector:
// what is read then is what a plain file would hold.
func TestTornLikePlain(t *testing.T) {
	keys := newTestKeys(t, 1)
	const size = 5 * UnitSize
	old, new := bytes.Repeat([]byte("old"), size/3+1)[:size], bytes.Repeat([]byte("nEw!"), size/4)
	for _, w := range []struct{ off, n int }{{0, size}, {512, 512}, {3584, 1024}, {4096, 8192}, {1024, 16384}} {
		f, lower := mustCreate(t, keys)
		if _, err := f.WriteAt(old, 0); err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(lower.data)
		if _, err := f.WriteAt(new[w.off:w.off+w.n], int64(w.off)); err != nil {
			t.Fatal(err)
		}
		plain := bytes.Clone(old)
		copy(plain[w.off:], new[w.off:w.off+w.n])
		for cut := 0; cut <= size; cut += sectorSize {
			for _, newFirst := range []bool{true, false} {
				torn := tear(before, lower.data, len(before), HeaderSize+cut, newFirst)
				got, err := readAll(&memFile{data: torn, written: map[int64]bool{}}, keys)
				if want := tear(old, plain, size, cut, newFirst); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("write of %d at %d, torn at %d (new first: %v): not what a plain file holds, %v", w.n, w.off, cut, newFirst, err)
				}
			}
		}
	}
}
