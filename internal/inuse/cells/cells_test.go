package cells

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/aead"
	"github.com/veildb/veildb/internal/crypto/secret"
)

var update = flag.Bool("update", false, "make what testdata lacks; what it has is frozen")

var errNoVersion = errors.New("no such version")

// ring is a KeySource in memory.
type ring struct {
	current atomic.Uint32
	deks    map[uint32]*secret.Bytes
}

// newRing makes version v's key 32 bytes of seed+v.
func newRing(t testing.TB, seed byte, versions ...uint32) *ring {
	t.Helper()
	r := &ring{deks: map[uint32]*secret.Bytes{}}
	for _, v := range versions {
		k, err := secret.From(bytes.Repeat([]byte{seed + byte(v)}, 32))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		r.deks[v] = k
		r.current.Store(v)
	}
	return r
}

func (r *ring) Current() uint32 { return r.current.Load() }

func (r *ring) DEK(v uint32) (*secret.Bytes, error) {
	if k := r.deks[v]; k != nil {
		return k, nil
	}
	return nil, errNoVersion
}

func newSealer(t testing.TB, keys KeySource) *Sealer {
	t.Helper()
	s, err := NewSealer(keys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	ssn    = ColumnLabel(Column{"", "person", "ssn"})
	salary = ColumnLabel(Column{"", "person", "salary"})
)

func TestRoundTrip(t *testing.T) {
	keys := newRing(t, 1, 7)
	s, o := newSealer(t, keys), NewOpener(keys)
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			cell, err := s.Append([]byte("before"), v, ssn)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(cell, []byte("before")) {
				t.Fatal("dst was overwritten")
			}
			if spare := cell[len(cell):cap(cell)]; bytes.Trim(spare, "\x00") != nil && len(bytes.Trim(spare, "\x00")) > 0 {
				t.Errorf("plaintext left behind the cell: %.40x", spare)
			}
			got, buf, err := o.Open([]byte("buf"), cell[len("before"):], ssn)
			if err != nil {
				t.Fatal(err)
			}
			if !same(got, v) {
				t.Errorf("got %T %.40v, want %T %.40v", got, got, v, v)
			}
			if !bytes.HasPrefix(buf, []byte("buf")) {
				t.Error("buf was overwritten")
			}
			if b, ok := got.([]byte); ok && len(b) != cap(b) {
				t.Error("an append to the value would write into buf")
			}
		})
	}
	sizes := map[any]int{int64(1): 55, "0123456789": Overhead + 10, "": Overhead}
	for v, want := range sizes {
		if cell, _ := s.Append(nil, v, ssn); len(cell) != want {
			t.Errorf("%v: cell of %d bytes, want %d", v, len(cell), want)
		}
	}
	if _, err := s.Append(nil, nil, ssn); !errors.Is(err, ErrUnknownType) {
		t.Errorf("nil: got error %v, want ErrUnknownType", err)
	}
}

// TestTampered flips every bit of a cell, cuts it everywhere and moves it.
func TestTampered(t *testing.T) {
	keys := newRing(t, 1, 7)
	s, o := newSealer(t, keys), NewOpener(keys)
	cell, err := s.Append(nil, "hunter2", ssn)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, cell []byte, label Label, want ...error) {
		t.Helper()
		v, buf, err := o.Open(nil, cell, label)
		ok := false
		for _, w := range want {
			ok = ok || errors.Is(err, w)
		}
		if !ok || v != nil || len(buf) != 0 {
			t.Errorf("%s: got %v, %d bytes, error %v, want %v", what, v, len(buf), err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: plaintext in the error %v", what, err)
		}
	}
	for i := range cell {
		for bit := range 8 {
			bad := bytes.Clone(cell)
			bad[i] ^= 1 << bit
			want := ErrTampered
			if i >= 2 && i < headerSize {
				want = ErrWrongKey
			}
			check(fmt.Sprintf("byte %d bit %d", i, bit), bad, ssn, want)
		}
	}
	for n := range cell {
		check(fmt.Sprintf("cut to %d", n), cell[:n], ssn, ErrTampered)
	}
	check("one byte more", append(bytes.Clone(cell), 0), ssn, ErrTampered)
	check("nil", nil, ssn, ErrTampered)
	check("other column", cell, salary, ErrTampered)
	check("other table", cell, ColumnLabel(Column{"", "people", "ssn"}), ErrTampered)
	check("other database", cell, ColumnLabel(Column{"hr", "person", "ssn"}), ErrTampered)
	check("expression", cell, ExpressionLabel([]Column{{"", "person", "ssn"}}), ErrTampered)

	// What the doc says is not bound: the row. This is a statement, not a wish.
	other, _ := s.Append(nil, "other", ssn)
	if v, _, err := o.Open(nil, other, ssn); err != nil || v != "other" {
		t.Errorf("cell of another row: %v, %v", v, err)
	}
}

func TestWrongKey(t *testing.T) {
	cell, err := newSealer(t, newRing(t, 1, 7)).Append(nil, "x", ssn)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := NewOpener(newRing(t, 2, 7)).Open(nil, cell, ssn); !errors.Is(err, ErrWrongKey) {
		t.Errorf("other key: got error %v, want ErrWrongKey", err)
	}
	_, _, err = NewOpener(newRing(t, 1, 6)).Open(nil, cell, ssn)
	if !errors.Is(err, ErrWrongKey) || !errors.Is(err, errNoVersion) {
		t.Errorf("unknown version: got error %v, want ErrWrongKey and the source's", err)
	}
	if _, err := NewSealer(&ring{}); !errors.Is(err, errNoVersion) {
		t.Errorf("sealer without key: got error %v, want the source's", err)
	}
}

func TestRotation(t *testing.T) {
	keys := newRing(t, 1, 1, 2, 3)
	keys.current.Store(1)
	s, o := newSealer(t, keys), NewOpener(keys)
	var all [][]byte
	seal := func() keyID {
		cell, err := s.Append(nil, int64(len(all)), ssn)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cell)
		return keyID(cell[2:headerSize])
	}
	first := seal()
	if id := seal(); id != first || id.version() != 1 {
		t.Errorf("second cell under %x, want %x", id, first)
	}
	keys.current.Store(2)
	if id := seal(); id != first {
		t.Error("a new version is taken up at rotation only, for speed")
	}
	if err := s.Rotate(); err != nil {
		t.Fatal(err)
	}
	second := seal()
	if second.version() != 2 || bytes.Equal(second.salt(), first.salt()) {
		t.Errorf("after Rotate: key %x, before %x", second, first)
	}
	keys.current.Store(3)
	s.key.Load().used.Store(cellsPerKey - 1)
	if id := seal(); id != second {
		t.Error("rotated one cell early")
	}
	if id := seal(); id.version() != 3 {
		t.Errorf("after 2^20 cells: key %x, want version 3", id)
	}
	for i, cell := range all {
		if v, _, err := o.Open(nil, cell, ssn); err != nil || v != int64(i) {
			t.Errorf("cell %d: %v, %v", i, v, err)
		}
	}
	keys.current.Store(9)
	s.key.Load().used.Store(cellsPerKey)
	if _, err := s.Append(nil, "x", ssn); !errors.Is(err, errNoVersion) {
		t.Errorf("rotation without key: got error %v, want the source's", err)
	}
}

// TestKnownKeysAreBounded opens cells of more Sealers than an Opener remembers.
func TestKnownKeysAreBounded(t *testing.T) {
	keys := newRing(t, 1, 1)
	o := NewOpener(keys)
	s := newSealer(t, keys)
	for i := range maxKnown + 10 {
		cell, _ := s.Append(nil, int64(i), ssn)
		if _, _, err := o.Open(nil, cell, ssn); err != nil {
			t.Fatal(err)
		}
		s.Rotate()
	}
	if n := len(o.known); n > maxKnown {
		t.Errorf("%d keys kept, want at most %d", n, maxKnown)
	}
	forged := make([]byte, Overhead)
	forged[0], forged[1], forged[5] = magic, layout, 1
	n := len(o.known)
	if _, _, err := o.Open(nil, forged, ssn); !errors.Is(err, ErrWrongKey) || len(o.known) != n {
		t.Errorf("forged key: error %v, %d keys kept, want ErrWrongKey and %d", err, len(o.known), n)
	}
}

func TestClose(t *testing.T) {
	keys := newRing(t, 1, 1)
	s, o := newSealer(t, keys), NewOpener(keys)
	cell, _ := s.Append(nil, "x", ssn)
	o.Open(nil, cell, ssn)
	s.Close()
	o.Close()
	if _, err := s.Append(nil, "x", ssn); !errors.Is(err, ErrClosed) {
		t.Errorf("Append: got %v, want ErrClosed", err)
	}
	if err := s.Rotate(); !errors.Is(err, ErrClosed) {
		t.Errorf("Rotate: got %v, want ErrClosed", err)
	}
	if _, _, err := o.Open(nil, cell, ssn); !errors.Is(err, ErrClosed) {
		t.Errorf("Open: got %v, want ErrClosed", err)
	}
}

// TestConcurrent seals and opens from many goroutines across rotations.
func TestConcurrent(t *testing.T) {
	keys := newRing(t, 1, 1)
	s, o := newSealer(t, keys), NewOpener(keys)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var cell, buf []byte
			for i := range 2000 {
				if i%100 == 0 {
					s.key.Load().used.Store(cellsPerKey - 3)
				}
				v := int64(g*1_000_000 + i)
				var err error
				if cell, err = s.Append(cell[:0], v, ssn); err != nil {
					t.Error(err)
					return
				}
				var got any
				if got, buf, err = o.Open(buf[:0], cell, ssn); err != nil || got != v {
					t.Errorf("got %v, %v, want %v", got, err, v)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestGolden opens cells written by earlier versions: the format is frozen.
// Each line of the file is a label, the value, and the cell in hex.
func TestGolden(t *testing.T) {
	const path = "testdata/v1.cells"
	keys := newRing(t, 0x10, 7)
	labels := map[string]Label{
		"person.ssn":    ssn,
		"hr.person.ssn": ColumnLabel(Column{"hr", "person", "ssn"}),
		"expression":    ExpressionLabel([]Column{{"", "person", "ssn"}, {"", "person", "salary"}}),
	}
	if _, err := os.Lstat(path); *update && errors.Is(err, fs.ErrNotExist) {
		s := newSealer(t, keys)
		var out strings.Builder
		for _, line := range []struct {
			label string
			v     any
		}{
			{"person.ssn", int64(-2)}, {"person.ssn", 1.5}, {"person.ssn", true}, {"person.ssn", "Łódź"}, {"person.ssn", ""},
			{"person.ssn", []byte{0, 255}}, {"person.ssn", time.Date(2026, 2, 28, 23, 59, 59, 7, time.UTC)},
			{"person.ssn", time.Date(2026, 2, 28, 23, 59, 59, 7, time.FixedZone("", 19800))},
			{"person.ssn", uint64(1 << 63)}, {"person.ssn", float32(0.5)}, {"hr.person.ssn", int64(1)}, {"expression", int64(2)},
		} {
			cell, err := s.Append(nil, line.v, labels[line.label])
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s %T %q %x\n", line.label, line.v, fmt.Sprint(line.v), cell)
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o, n := NewOpener(keys), 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var label, typ, text, cellHex string
		if _, err := fmt.Sscanf(sc.Text(), "%s %s %q %s", &label, &typ, &text, &cellHex); err != nil {
			t.Fatal(err)
		}
		cell, err := hex.DecodeString(cellHex)
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := o.Open(nil, cell, labels[label])
		if err != nil || fmt.Sprintf("%T", v) != typ || fmt.Sprint(v) != text {
			t.Errorf("%s: got %T %v, %v, want %s %s", label, v, v, err, typ, text)
		}
	}
	if n != 12 {
		t.Errorf("%d cells in %s, want 12", n, path)
	}
}

// FuzzOpen feeds an Opener whatever looks like a cell: behind a correct key ID,
// which is the farthest an outsider gets, and as is.
func FuzzOpen(f *testing.F) {
	// A fixed cell: fuzzing runs in several processes, and a cell another one
	// sealed would be no forgery.
	text, err := os.ReadFile("testdata/v1.cells")
	if err != nil {
		f.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	good, err := hex.DecodeString(line[strings.LastIndexByte(line, ' ')+1:])
	if err != nil {
		f.Fatal(err)
	}
	o := NewOpener(newRing(f, 0x10, 7))
	if v, _, err := o.Open(nil, good, ssn); err != nil || v != int64(-2) {
		f.Fatalf("the cell itself: %v, %v", v, err)
	}
	f.Add(good)
	f.Add(good[:Overhead])
	f.Add([]byte{magic, layout})
	f.Fuzz(func(t *testing.T, cell []byte) {
		for _, c := range [][]byte{cell, append(bytes.Clone(good[:headerSize]), cell...)} {
			v, buf, err := o.Open(nil, c, ssn)
			if err == nil {
				if !bytes.Equal(c, good) {
					t.Fatalf("forged cell opens: %v", v)
				}
				continue
			}
			if v != nil || buf != nil || !errors.Is(err, ErrTampered) && !errors.Is(err, ErrWrongKey) {
				t.Fatalf("got %v, %x, %v", v, buf, err)
			}
		}
	})
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	keys := newRing(t, 1, 1)
	s, o := newSealer(t, keys), NewOpener(keys)
	label := ExpressionLabel([]Column{{"", "person", "ssn"}})
	for name, v := range map[string]any{"int": int64(1) << 40, "string": "0123456789abcdef", "time": time.Now()} {
		cell, buf := make([]byte, 0, 256), make([]byte, 0, 256)
		if n := testing.AllocsPerRun(100, func() { cell, _ = s.Append(cell[:0], v, label) }); n != 0 {
			t.Errorf("seal %s: %v allocations", name, n)
		}
		// The value itself: its interface, and for a string its bytes.
		want := map[string]float64{"int": 1, "string": 2, "time": 1}[name]
		if n := testing.AllocsPerRun(100, func() { _, buf, _ = o.Open(buf[:0], cell, label) }); n > want {
			t.Errorf("open %s: %v allocations, want %v", name, n, want)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	s := newSealer(b, newRing(b, 1, 1))
	benchValues(b, func(b *testing.B, v any) {
		cell := make([]byte, 0, 2<<16)
		for b.Loop() {
			cell, _ = s.Append(cell[:0], v, ssn)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	keys := newRing(b, 1, 1)
	s, o := newSealer(b, keys), NewOpener(keys)
	benchValues(b, func(b *testing.B, v any) {
		cell, _ := s.Append(nil, v, ssn)
		buf := make([]byte, 0, 2<<16)
		for b.Loop() {
			_, buf, _ = o.Open(buf[:0], cell, ssn)
		}
	})
}

// BenchmarkAEAD is the cipher alone on what an integer's cell encrypts.
func BenchmarkAEAD(b *testing.B) {
	a, err := aead.NewSealer(make([]byte, aead.KeySize))
	if err != nil {
		b.Fatal(err)
	}
	plain, dst := make([]byte, 9), make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = a.Seal(dst[:0], plain, ssn.aad)
	}
}

func benchValues(b *testing.B, f func(*testing.B, any)) {
	for _, c := range []struct {
		name string
		v    any
		size int64
	}{{"int", int64(12345), 8}, {"string/size=16", strings.Repeat("x", 16), 16}, {"string/size=500", strings.Repeat("x", 500), 500}, {"string/size=65536", strings.Repeat("x", 65536), 65536}} {
		b.Run("value="+c.name, func(b *testing.B) {
			b.SetBytes(c.size)
			b.ReportAllocs()
			f(b, c.v)
		})
	}
}
