package secret

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

func mustFrom(t testing.TB, s string) *Bytes {
	t.Helper()
	b, err := From([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestNeverPrints(t *testing.T) {
	const key = "correct horse battery staple 42!"
	b := mustFrom(t, key)
	type holder struct {
		Public  *Bytes
		Value   Bytes
		private *Bytes
		value   Bytes
	}
	h := holder{b, *b, b, *b}

	var out strings.Builder
	for _, verb := range []string{"v", "+v", "#v", "s", "q", "x", "X", "d", "o", "b", "c", "U", "e", "p", "T", "08x", "-40s"} {
		for _, v := range []any{b, *b, &b, h, &h, []*Bytes{b}, []Bytes{*b}, map[string]*Bytes{"k": b}, fmt.Errorf("%w", errors.New(b.String()))} {
			fmt.Fprintf(&out, "%"+verb+"\n", v)
		}
	}
	fmt.Fprintln(&out, b, *b, h)
	for _, v := range []any{b, *b, h, map[string]any{"k": b}} {
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(j)
	}
	for _, hd := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(hd).Info("m", "k", b, "v", *b, "h", h, slog.Group("g", "k", b))
	}

	got := out.String()
	for name, leak := range map[string]string{
		"text": key[:8], "hex": hex.EncodeToString([]byte(key[:4])), "HEX": strings.ToUpper(hex.EncodeToString([]byte(key[:4]))),
		"decimal": "99 111 114", "base64": "Y29ycmVj",
	} {
		if strings.Contains(got, leak) {
			t.Errorf("the key shows as %s %q in:\n%s", name, leak, got)
		}
	}
	if n := strings.Count(got, redacted); n < 60 {
		t.Errorf("%s printed %d times, want many more; output:\n%s", redacted, n, got)
	}
}

func TestLife(t *testing.T) {
	src := []byte("0123456789abcdef0123456789abcdef")
	b, err := From(src)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(src, make([]byte, len(src))) {
		t.Errorf("From left %q in its argument", src)
	}
	view := b.Reveal()
	if string(view) != "0123456789abcdef0123456789abcdef" || cap(view) != len(view) || b.Len() != 32 {
		t.Errorf("Reveal = %q, cap %d, Len %d", view, cap(view), b.Len())
	}
	c, err := b.Clone()
	if err != nil {
		t.Fatal(err)
	}
	if !b.Equal(c) {
		t.Error("clone differs")
	}
	c.Reveal()[31] ^= 1
	if b.Equal(c) || b.Equal(mustFrom(t, "short")) {
		t.Error("Equal on different secrets")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(view, make([]byte, 32)) {
		t.Errorf("after Close the memory holds %q", view)
	}
	if err := errors.Join(b.Close(), (*Bytes)(nil).Close()); err != nil {
		t.Errorf("second Close: %v", err)
	}
	defer func() {
		if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "secret: internal error:") {
			t.Errorf("Reveal after Close: recovered %v", r)
		}
	}()
	b.Reveal()
}

func TestSizes(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 32, 4095, 4096, 4097, 16384, 16385, MaxSize} {
		b, err := New(n)
		if err != nil {
			t.Fatalf("New(%d): %v", n, err)
		}
		v := b.Reveal()
		if len(v) != n || !bytes.Equal(v, make([]byte, n)) {
			t.Errorf("New(%d): %d bytes, or not zero", n, len(v))
		}
		for i := range v {
			v[i] = 0xff
		}
		b.Close()
	}
	for _, n := range []int{-1, MaxSize + 1} {
		if _, err := New(n); !errors.Is(err, ErrSize) {
			t.Errorf("New(%d) = %v, want ErrSize", n, err)
		}
	}
	big := bytes.Repeat([]byte{7}, MaxSize+1)
	if _, err := From(big); !errors.Is(err, ErrSize) || big[0] != 0 {
		t.Errorf("From too big = %v, first byte %d; want ErrSize and a wiped argument", err, big[0])
	}
}

// TestSlotsDoNotOverlap fills many live secrets of mixed sizes and looks whether
// one wrote into another.
func TestSlotsDoNotOverlap(t *testing.T) {
	var live []*Bytes
	for i := range 3000 {
		b, err := New(1 + i%100)
		if err != nil {
			t.Fatal(err)
		}
		for j := range b.Reveal() {
			b.Reveal()[j] = byte(i)
		}
		if i%3 == 0 {
			b.Close()
			continue
		}
		live = append(live, b)
	}
	for _, b := range live {
		v := b.Reveal()
		for _, c := range v {
			if c != v[0] {
				t.Fatalf("secret of %d bytes was overwritten: %x", len(v), v)
			}
		}
		b.Close()
	}
}

func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for range 500 {
				b, err := New(32)
				if err != nil {
					t.Error(err)
					return
				}
				v := b.Reveal()
				for i := range v {
					if v[i] != 0 {
						t.Error("a fresh secret is not zero")
						return
					}
					v[i] = byte(g + 1)
				}
				b.Close()
			}
		})
	}
	wg.Wait()
}

func TestForgottenClose(t *testing.T) {
	defer leakGrace.Store(leakGrace.Swap(0))
	view := func() []byte {
		b, err := From([]byte("forgotten key ..forgotten key .."))
		if err != nil {
			t.Fatal(err)
		}
		return b.Reveal()
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
		pool.mu.Lock() // orders the look below after the wipe
		wiped := bytes.Equal(view, make([]byte, len(view)))
		pool.mu.Unlock()
		if wiped {
			return
		}
	}
	t.Error("a secret that nobody closed was never wiped")
}

func TestRandom(t *testing.T) {
	a, err := Random(32)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Random(32)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.Equal(b) || bytes.Equal(a.Reveal(), make([]byte, 32)) {
		t.Error("not random")
	}
}

// faults reports whether reading p[i] is a memory fault.
func faults(read func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() != nil }()
	read()
	return false
}

func BenchmarkSecret(b *testing.B) {
	b.Run("op=new+close/size=32", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := New(32)
			if err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
	})
	b.Run("op=hold/size=32/count=10000", func(b *testing.B) { // a key for each of many files
		live := make([]*Bytes, 10_000)
		for b.Loop() {
			for i := range live {
				s, err := New(32)
				if err != nil {
					b.Fatal(err)
				}
				live[i] = s
			}
			for _, s := range live {
				s.Close()
			}
		}
	})
	b.Run("op=reveal/size=32", func(b *testing.B) {
		s, err := New(32)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		var sum byte
		for b.Loop() {
			sum += s.Reveal()[0]
		}
		_ = sum
	})
}
