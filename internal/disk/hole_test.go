package disk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// countingFile counts reads and can refuse to tell of holes.
type countingFile struct {
	File
	reads int
	mute  bool
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	f.reads++
	return f.File.ReadAt(p, off)
}

func (f *countingFile) Hole(off, n int64) (bool, error) {
	h, ok := f.File.(interface {
		Hole(off, n int64) (bool, error)
	})
	if f.mute || !ok {
		return false, errors.ErrUnsupported
	}
	return h.Hole(off, n)
}

// TestReadSparse reads the same as ReadAt, at holes, data, both, and the end.
func TestReadSparse(t *testing.T) {
	const mib = 1 << 20
	inner, err := OS.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	f := &countingFile{File: inner}
	if _, err := f.WriteAt([]byte("data"), 5*mib); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(8*mib + 10); err != nil {
		t.Fatal(err)
	}
	hole, err := f.Hole(0, mib)
	if err != nil || !hole {
		t.Logf("this file system knows no holes: %v", err)
	}
	for name, c := range map[string]struct {
		off  int64
		n    int
		hole bool
	}{
		"hole":               {mib, mib, true},
		"data":               {5 * mib, mib, false},
		"hole, then data":    {4*mib + 1, mib, false},
		"hole up to the end": {8*mib - 5, 15, true},
		"across the end":     {8 * mib, mib, true},
		"at the end":         {8*mib + 10, 1, true},
		"behind the end":     {9 * mib, mib, true},
	} {
		for _, f.mute = range []bool{false, true} {
			want, got := bytes.Repeat([]byte{1}, c.n), bytes.Repeat([]byte{1}, c.n)
			wantN, wantErr := inner.ReadAt(want, c.off)
			f.reads = 0
			n, err := ReadSparse(f, got, c.off)
			if n != wantN || !bytes.Equal(got[:n], want[:n]) || (err == io.EOF) != (wantErr == io.EOF) || err != nil && err != io.EOF {
				t.Errorf("%s: %d bytes, %v; want %d, %v", name, n, err, wantN, wantErr)
			}
			if hole && (f.reads == 0) != (c.hole && !f.mute) {
				t.Errorf("%s: read %d times, mute %v", name, f.reads, f.mute)
			}
		}
	}
}
