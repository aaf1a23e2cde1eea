package aead

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

func mustGCM(t testing.TB, key []byte, im impl) *gcm {
	t.Helper()
	g, err := newGCM(key, im)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func random(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// buffer returns n bytes at any alignment inside a larger array filled with a
// mark, and a function that tells whether the bytes around them were changed.
func buffer(rng *rand.Rand, n int) (b []byte, intact func() bool) {
	const margin = 128
	off := margin + rng.IntN(64)
	all := bytes.Repeat([]byte{0xa5}, off+n+margin)
	return all[off : off+n : off+n], func() bool {
		return bytes.Count(all[:off], []byte{0xa5}) == off && bytes.Count(all[off+n:], []byte{0xa5}) == margin
	}
}

// TestAgainstStd compares with the standard library at every length up to
// several groups of GHASH, with additional data that begins and ends a group
// anywhere, and at some long lengths.
func TestAgainstStd(t *testing.T) {
	eachImpl(t, func(t *testing.T, im impl) {
		rng := rand.New(rand.NewPCG(38, uint64(im)))
		for n := range 2049 {
			compare(t, im, rng, n, rng.IntN(80))
			compare(t, im, rng, n, rng.IntN(301))
		}
		for _, n := range []int{0, 1, 16, 100, 256, 497, 511, 512, 1024} {
			for aadSize := range 1100 {
				compare(t, im, rng, n, aadSize)
			}
		}
		for range 30 {
			compare(t, im, rng, rng.IntN(70_000), rng.IntN(3000))
		}
	})
}

func compare(t *testing.T, im impl, rng *rand.Rand, n, aadSize int) {
	t.Helper()
	key, nonce := random(rng, KeySize), random(rng, nonceSize)
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	std, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	g := mustGCM(t, key, im)
	plain, plainIntact := buffer(rng, n)
	aad, aadIntact := buffer(rng, aadSize)
	cell, cellIntact := buffer(rng, n+Overhead)
	copy(plain, random(rng, n))
	copy(aad, random(rng, aadSize))
	want := std.Seal(slices.Clone(nonce), nonce, plain, aad)

	copy(cell, nonce)
	g.seal(cell, plain, aad)
	if !bytes.Equal(cell, want) {
		t.Fatalf("seal %d bytes with %d additional differs from the standard library", n, aadSize)
	}
	copy(cell[nonceSize:], plain)
	g.seal(cell, cell[nonceSize:nonceSize+n], aad)
	if !bytes.Equal(cell, want) {
		t.Fatalf("seal %d bytes with %d additional in place differs", n, aadSize)
	}
	back, backIntact := buffer(rng, n)
	if !g.open(back, cell, aad) || !bytes.Equal(back, plain) {
		t.Fatalf("open %d bytes with %d additional: not the plaintext", n, aadSize)
	}
	if !bytes.Equal(cell, want) {
		t.Fatalf("open %d bytes changed the cell", n)
	}
	if !g.open(cell[nonceSize:nonceSize+n], cell, aad) || !bytes.Equal(cell[nonceSize:nonceSize+n], plain) {
		t.Fatalf("open %d bytes with %d additional in place: not the plaintext", n, aadSize)
	}
	if !plainIntact() || !aadIntact() || !cellIntact() || !backIntact() {
		t.Fatalf("%d bytes with %d additional: wrote outside of the buffer", n, aadSize)
	}

	bad := slices.Clone(want)
	bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
	clear(back)
	if g.open(back, bad, aad) || !bytes.Equal(back, make([]byte, n)) {
		t.Fatalf("altered cell of %d bytes with %d additional opened, or left plaintext", n, aadSize)
	}
}

func TestOverlapPanics(t *testing.T) {
	eachImpl(t, func(t *testing.T, im impl) {
		s, o := pairOf(t, testKey, im)
		for name, f := range map[string]func(buf []byte){
			"seal ahead":       func(buf []byte) { s.Seal(buf[:0], buf[nonceSize+1:][:40], nil) },
			"seal behind":      func(buf []byte) { s.Seal(buf[:0], buf[nonceSize-1:][:40], nil) },
			"seal nonce":       func(buf []byte) { s.Seal(buf[:0], buf[:8], nil) },
			"seal tag":         func(buf []byte) { s.Seal(buf[:0], buf[nonceSize+17:][:8], nil) },
			"seal place":       func(buf []byte) { s.Seal(buf[:0], nil, buf[:4]) },
			"open ahead":       func(buf []byte) { o.Open(buf[:0], buf[:100], nil) },
			"open behind":      func(buf []byte) { o.Open(buf[13:13], buf[:100], nil) },
			"cell of no room":  func(buf []byte) { s.gcm.seal(buf[:40], buf[100:140], nil) },
			"plain of no room": func(buf []byte) { o.gcm.open(buf[:40], buf[100:140], nil) },
		} {
			func() {
				defer func() {
					if r := recover(); !strings.HasPrefix(fmt.Sprint(r), "aead: internal error:") {
						t.Errorf("%s: recovered %v, want a panic of our own", name, r)
					}
				}()
				f(make([]byte, 256))
			}()
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	eachImpl(t, func(t *testing.T, im impl) {
		s, o := pairOf(t, testKey, im)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				plain, aad := bytes.Repeat([]byte{byte(g)}, 100*g), []byte{byte(g)}
				var cell, back []byte
				for range 200 {
					var err error
					if cell, err = s.Seal(cell[:0], plain, aad); err != nil {
						t.Error(err)
					}
					if back, err = o.Open(back[:0], cell, aad); err != nil || !bytes.Equal(back, plain) {
						t.Errorf("goroutine %d: %d bytes, %v", g, len(back), err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestWipe waits for the garbage collector to wipe the keys of a Sealer and an
// Opener that nobody can reach.
func TestWipe(t *testing.T) {
	eachImpl(t, func(t *testing.T, im impl) {
		keysOf := func() [2]*gcm {
			s, o := pairOf(t, testKey, im)
			return [2]*gcm{s.gcm, o.gcm}
		}
		for _, g := range keysOf() {
			for start := time.Now(); !isZero(g); time.Sleep(time.Millisecond) {
				if time.Since(start) > time.Minute {
					t.Fatal("keys are not wiped")
				}
				runtime.GC()
			}
		}
	})
}

// isZero looks at memory that another goroutine may be wiping: nothing tells the
// race detector when the collector's clean-up has run.
//
//go:norace
func isZero(g *gcm) bool {
	for _, b := range unsafe.Slice((*byte)(unsafe.Pointer(g)), unsafe.Sizeof(*g)) {
		if b != 0 {
			return false
		}
	}
	return true
}

func TestImplementations(t *testing.T) {
	if available[len(available)-1] != implStd {
		t.Errorf("available = %v, want std last", available)
	}
	t.Log("implementations on this CPU:", available)
}
