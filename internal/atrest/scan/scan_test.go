package scan

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/disk/disktest"
)

type testKeys struct{ dek *secret.Bytes }

func newTestKeys(t testing.TB) *testKeys {
	t.Helper()
	dek, err := secret.Random(32)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dek.Close() })
	return &testKeys{dek}
}

func (k *testKeys) Current() uint32                   { return 1 }
func (k *testKeys) DEK(uint32) (*secret.Bytes, error) { return k.dek, nil }

// newVolume makes a volume and returns a view of it.
func newVolume(t testing.TB, keys volume.KeySource) *volume.Dir {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lower")
	if err := volume.InitDir(path, keys, volume.Config{}); err != nil {
		t.Fatal(err)
	}
	d, err := volume.ViewDir(path, keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// put writes content into the file name of the tree, encrypted.
func put(t testing.TB, d *volume.Dir, name string, content []byte) {
	t.Helper()
	lower, err := disk.CreateNew(filepath.Join(d.Root().Name(), name), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f, err := volume.Create(lower, d.Keys(), volume.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

const canary = "a canary with åäö"

var words = strings.Repeat(canary+" and some more words. ", 4000)

func utf16Bytes(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

// TestClean scans what a database may write: nothing of it may be taken for
// plaintext, whatever its length.
func TestClean(t *testing.T) {
	keys := newTestKeys(t)
	d := newVolume(t, keys)
	for _, size := range []int{0, 1, 15, 16, 17, 31, 511, 512, 513, 4095, 4096, 4097, 9000} {
		put(t, d, fmt.Sprintf("words%d", size), []byte(words[:size]))
	}
	put(t, d, "zeros", make([]byte, 3<<20))
	put(t, d, "big", bytes.Repeat([]byte(words), 40))
	if err := os.WriteFile(filepath.Join(d.Root().Name(), "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(d.Root().Name(), "big"), filepath.Join(d.Root().Name(), "linked")); err != nil {
		t.Fatal(err)
	}
	for name, view := range map[string]volume.KeySource{"with keys": keys, "without": nil} {
		v, err := volume.ViewDir(d.Path(), view)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		r, err := Run(t.Context(), v, Options{Canaries: [][]byte{[]byte(canary)}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Total != 0 || r.Units < 1500 || r.Files != 19 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestFindings plants plaintext of each kind.
func TestFindings(t *testing.T) {
	noise := make([]byte, 300<<10)
	rand.Read(noise)
	page := make([]byte, 8192)
	copy(page, "\x00\x00\x00\x00\x10\x20\x30\x40\x00\x00\x00\x00\x28\x00\x00\x1f\x00\x20\x04\x20\x00\x00\x00\x00")
	for i := 7000; i < 8192; i++ {
		page[i] = byte(i % 7)
	}
	for _, c := range []struct {
		name  string
		plant func(t *testing.T, d *volume.Dir) error
		want  []Kind
		where int64 // offset of the first finding
	}{
		{"plain file in the tree", func(t *testing.T, d *volume.Dir) error {
			return os.WriteFile(filepath.Join(d.Root().Name(), "f"), []byte(words[:10000]), 0o600)
		}, []Kind{NoHeader, Canary, Pattern}, 0},
		{"plain file beside the tree", func(t *testing.T, d *volume.Dir) error {
			return os.WriteFile(filepath.Join(d.Path(), "f"), noise, 0o600)
		}, []Kind{Foreign}, 0},
		{"plain file beside the configuration", func(t *testing.T, d *volume.Dir) error {
			return os.WriteFile(d.Private("f"), page, 0o600)
		}, []Kind{Foreign, Pattern}, 0},
		{"canary across two reads", func(t *testing.T, d *volume.Dir) error {
			return plantAt(d, volume.HeaderSize+readSize-volume.HeaderSize-5, []byte(canary))
		}, []Kind{Canary}, readSize - 5},
		{"canary at the end of a part", func(t *testing.T, d *volume.Dir) error {
			return plantAt(d, partSize-1, []byte(canary))
		}, []Kind{Canary}, partSize - 1},
		{"canary in UTF-16", func(t *testing.T, d *volume.Dir) error {
			return plantAt(d, 5001, utf16Bytes(canary))
		}, []Kind{Canary}, 5001},
		{"unit of plain text", func(t *testing.T, d *volume.Dir) error {
			return plantAt(d, 3*4096+99, []byte("\x00some plain words that are long enough for anybody to read"))
		}, []Kind{Text}, 3*4096 + 100},
		{"PostgreSQL page", func(t *testing.T, d *volume.Dir) error {
			return plantAt(d, 4096+8192, page)
		}, []Kind{Pattern}, 4096 + 8192 + 4096}, // its first half is nearly all zeros
		{"SQLite database", func(t *testing.T, d *volume.Dir) error {
			return plantAt(d, 4096, append([]byte("SQLite format 3\x00"), noise[:4080]...))
		}, []Kind{Magic}, 4096},
		{"canary in the mount's log", func(t *testing.T, d *volume.Dir) error {
			return os.WriteFile(d.Private("mount.log"), []byte("some text before it, long enough to be text: "+canary), 0o600)
		}, []Kind{Canary}, 45},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newVolume(t, newTestKeys(t))
			put(t, d, "file", bytes.Repeat(noise[:64<<10], 16))
			if err := c.plant(t, d); err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), d, Options{Canaries: [][]byte{[]byte(canary)}})
			if err != nil {
				t.Fatal(err)
			}
			seen := map[Kind]bool{}
			for _, f := range r.Findings {
				seen[f.Kind] = true
				if strings.Contains(fmt.Sprint(f), "canary with") {
					t.Errorf("the report shows plaintext: %v", f)
				}
			}
			for _, k := range c.want {
				if !seen[k] {
					t.Errorf("not found: %s; %.2000v", k, r.Findings)
				}
				delete(seen, k)
			}
			if len(seen) > 0 {
				t.Errorf("found as well: %.2000v", r.Findings)
			}
			if len(r.Findings) > 0 && c.where != 0 && r.Findings[0].Offset != c.where {
				t.Errorf("found at %d, not %d", r.Findings[0].Offset, c.where)
			}
		})
	}
}

// plantAt writes b into the lower file "file" at off, growing it with
// ciphertext.
func plantAt(d *volume.Dir, off int64, b []byte) error {
	f, err := os.OpenFile(filepath.Join(d.Root().Name(), "file"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(b, off)
	return err
}

func TestCanaryLengths(t *testing.T) {
	d := newVolume(t, newTestKeys(t))
	for _, n := range []int{0, 5, maxCanary} {
		if _, err := Run(t.Context(), d, Options{Canaries: [][]byte{make([]byte, n)}}); !errors.Is(err, ErrCanary) {
			t.Errorf("canary of %d bytes: %v", n, err)
		}
	}
}

func TestManyFindings(t *testing.T) {
	d := newVolume(t, newTestKeys(t))
	for i := range 50 {
		if err := os.WriteFile(filepath.Join(d.Root().Name(), fmt.Sprint(i)), []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Run(t.Context(), d, Options{MaxFindings: 20})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 20 || r.Total != 100 {
		t.Errorf("%d findings of %d", len(r.Findings), r.Total)
	}
}

// TestRandomUnits judges many random units: none may be reported.
func TestRandomUnits(t *testing.T) {
	unit := make([]byte, unitSize)
	for range 20000 {
		rand.Read(unit)
		for _, n := range []int{unitSize, 512, 2048} {
			var notes notebook
			if judgeUnit(&notes, target{}, 0, unit[:n]); len(notes) > 0 {
				t.Fatalf("random unit reported: %v", notes)
			}
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	unit := make([]byte, unitSize)
	rand.Read(unit)
	b.SetBytes(unitSize)
	for b.Loop() {
		var notes notebook
		judgeUnit(&notes, target{}, 0, unit)
	}
}

// TestHoles leaves holes alone, and finds what is written behind them.
func TestHoles(t *testing.T) {
	const size = 200 << 20
	d := newVolume(t, newTestKeys(t))
	put(t, d, "sparse", []byte("content"))
	path := filepath.Join(d.Root().Name(), "sparse")
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	before := disktest.BytesRead(t)
	r, err := Run(t.Context(), d, Options{})
	if err != nil || r.Total != 0 || r.Bytes < size {
		t.Fatalf("%+v, %v", r, err)
	}
	if n := disktest.BytesRead(t) - before; n > size/4 {
		t.Errorf("read %d bytes of a hole", n)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Across the boundary of two reads.
	_, err = f.WriteAt([]byte("Erika Mustermann"), 100<<20-5)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err = Run(t.Context(), d, Options{Canaries: [][]byte{[]byte("Erika Mustermann")}})
	if err != nil || len(r.Findings) == 0 || r.Findings[0].Kind != Canary || r.Findings[0].Offset != 100<<20-5 {
		t.Errorf("canary behind a hole: %+v, %v", r, err)
	}
}
