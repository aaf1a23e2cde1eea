package aesxts

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/xts"
)

// eachImpl runs f for every implementation this CPU has and both key sizes.
func eachImpl(t *testing.T, f func(t *testing.T, c, reference *Cipher, rng *rand.Rand)) {
	for _, im := range available {
		for _, keySize := range []int{32, 64} {
			t.Run(fmt.Sprintf("%s/aes%d", im, keySize*4), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1619, uint64(keySize)))
				key := randomBytes(rng, keySize)
				f(t, mustCipher(t, key, im), mustCipher(t, key, implGeneric), rng)
			})
		}
	}
}

func mustCipher(t testing.TB, key []byte, im impl) *Cipher {
	t.Helper()
	c, err := newCipher(key, im)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, rng.Uint64())
	}
	return b[:n]
}

// buffer returns n bytes at any alignment inside a larger array filled with a
// mark, and a function that tells whether the bytes around them were changed.
func buffer(rng *rand.Rand, n int) (b []byte, intact func() bool) {
	const margin = 128
	off := margin + rng.IntN(64)
	all := bytes.Repeat([]byte{0xa5}, off+n+margin)
	return all[off : off+n : off+n], func() bool {
		around := slices.Concat(all[:off], all[off+n:])
		return bytes.Count(around, []byte{0xa5}) == len(around)
	}
}

func TestAgainstReference(t *testing.T) {
	eachImpl(t, func(t *testing.T, c, reference *Cipher, rng *rand.Rand) {
		// Every length up to three turns of the widest loop, then longer ones.
		for blocks := range 100 {
			compareRange(t, c, reference, rng, blocks, 0)
			compareRange(t, c, reference, rng, blocks, rng.IntN(200))
		}
		for range 20 {
			compareRange(t, c, reference, rng, rng.IntN(65536/blockSize+1), rng.IntN(4096))
		}
		compareRange(t, c, reference, rng, 1, maxUnitBlocks-1)
	})
}

func compareRange(t *testing.T, c, reference *Cipher, rng *rand.Rand, blocks, index int) {
	t.Helper()
	unit := rng.Uint64()
	plain := randomBytes(rng, blocks*blockSize)
	want := make([]byte, len(plain))
	reference.Encrypt(want, plain, unit, index)

	src, srcIntact := buffer(rng, len(plain))
	dst, dstIntact := buffer(rng, len(plain))
	copy(src, plain)
	c.Encrypt(dst, src, unit, index)
	if !bytes.Equal(dst, want) {
		t.Fatalf("encrypt %d blocks from %d of unit %#x differs from the reference", blocks, index, unit)
	}
	if !bytes.Equal(src, plain) {
		t.Fatalf("encrypt %d blocks changed its input", blocks)
	}
	c.Encrypt(src, src, unit, index)
	if !bytes.Equal(src, want) {
		t.Fatalf("encrypt %d blocks from %d of unit %#x in place differs", blocks, index, unit)
	}
	c.Decrypt(dst, src, unit, index)
	if !bytes.Equal(dst, plain) {
		t.Fatalf("decrypt %d blocks from %d of unit %#x is not the inverse", blocks, index, unit)
	}
	c.Decrypt(src, src, unit, index)
	if !bytes.Equal(src, plain) {
		t.Fatalf("decrypt %d blocks from %d of unit %#x in place is not the inverse", blocks, index, unit)
	}
	if !srcIntact() || !dstIntact() {
		t.Fatalf("%d blocks: wrote outside of the buffer", blocks)
	}
}

func TestUnitsAgainstReference(t *testing.T) {
	sizes := []int{16, 32, 48, 496, 512, 528, 1024, 2048, 4096, 8192, 16384, 65536}
	eachImpl(t, func(t *testing.T, c, reference *Cipher, rng *rand.Rand) {
		for _, size := range sizes {
			for range 6 {
				// The assembly gets 32 units at a time.
				compareUnits(t, c, reference, rng, size, 1+rng.IntN(min(3*32, 1<<17/size)))
			}
		}
	})
}

func compareUnits(t *testing.T, c, reference *Cipher, rng *rand.Rand, size, units int) {
	t.Helper()
	first := rng.Uint64() >> 1
	plain := randomBytes(rng, size*units)
	want := make([]byte, len(plain))
	for i := range units {
		reference.Encrypt(want[i*size:], plain[i*size:][:size], first+uint64(i), 0)
	}

	src, srcIntact := buffer(rng, len(plain))
	dst, dstIntact := buffer(rng, len(plain))
	copy(src, plain)
	c.EncryptUnits(dst, src, size, first)
	if !bytes.Equal(dst, want) {
		t.Fatalf("encrypt %d units of %d bytes from %#x differs from the reference", units, size, first)
	}
	c.EncryptUnits(src, src, size, first)
	if !bytes.Equal(src, want) {
		t.Fatalf("encrypt %d units of %d bytes in place differs", units, size)
	}
	c.DecryptUnits(dst, src, size, first)
	if !bytes.Equal(dst, plain) {
		t.Fatalf("decrypt %d units of %d bytes is not the inverse", units, size)
	}
	c.DecryptUnits(src, src, size, first)
	if !bytes.Equal(src, plain) {
		t.Fatalf("decrypt %d units of %d bytes in place is not the inverse", units, size)
	}
	if !srcIntact() || !dstIntact() {
		t.Fatalf("%d units of %d bytes: wrote outside of the buffer", units, size)
	}
}

func TestAgainstXCrypto(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 19))
	for _, im := range available {
		for range 200 {
			key := randomBytes(rng, 32<<rng.IntN(2))
			x, err := xts.NewCipher(aes.NewCipher, key)
			if err != nil {
				t.Fatal(err)
			}
			c := mustCipher(t, key, im)
			unit, src := rng.Uint64(), randomBytes(rng, blockSize*(1+rng.IntN(300)))
			got, want := make([]byte, len(src)), make([]byte, len(src))
			x.Encrypt(want, src, unit)
			if c.Encrypt(got, src, unit, 0); !bytes.Equal(got, want) {
				t.Fatalf("%s: encrypt %d bytes of unit %#x: got %x, want %x", im, len(src), unit, got, want)
			}
			x.Decrypt(want, src, unit)
			if c.Decrypt(got, src, unit, 0); !bytes.Equal(got, want) {
				t.Fatalf("%s: decrypt %d bytes of unit %#x: got %x, want %x", im, len(src), unit, got, want)
			}
		}
	}
}

func TestNew(t *testing.T) {
	equal := append(testKey(32), testKey(32)...)
	for _, test := range []struct {
		name string
		key  []byte
		want error
	}{
		{"empty", nil, ErrKeySize},
		{"AES-128 key", make([]byte, 16), ErrKeySize},
		{"AES-192-XTS", testKey(48), ErrKeySize},
		{"long", testKey(65), ErrKeySize},
		{"zero", make([]byte, 32), ErrWeakKey},
		{"equal halves", equal, ErrWeakKey},
		{"AES-128-XTS", testKey(32), nil},
		{"AES-256-XTS", testKey(64), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := New(test.key)
			if !errors.Is(err, test.want) || (c == nil) != (test.want != nil) {
				t.Errorf("New(%x) = %v, %v; want %v", test.key, c != nil, err, test.want)
			}
		})
	}
}

func TestNewCopiesKey(t *testing.T) {
	for _, im := range available {
		key := testKey(64)
		c := mustCipher(t, key, im)
		a, b := make([]byte, 64), make([]byte, 64)
		c.Encrypt(a, a, 1, 0)
		clear(key)
		c.Encrypt(b, b, 1, 0)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: cipher changed with the caller's key", im)
		}
	}
}

func TestImplementations(t *testing.T) {
	names := Implementations()
	if names[len(names)-1] != "generic" {
		t.Errorf("Implementations() = %v, want generic last", names)
	}
	if c := mustCipher(t, testKey(32), available[0]); c.Implementation() != names[0] {
		t.Errorf("Implementation() = %q, want %q", c.Implementation(), names[0])
	}
	t.Log("implementations on this CPU:", strings.Join(names, " "))
}

func TestMisusePanics(t *testing.T) {
	c := mustCipher(t, testKey(64), available[0])
	buf := make([]byte, 8192)
	wiped := mustCipher(t, testKey(64), available[0])
	wiped.Wipe()
	for _, test := range []struct {
		name string
		f    func()
	}{
		{"partial block", func() { c.Encrypt(buf, buf[:17], 0, 0) }},
		{"short output", func() { c.Decrypt(buf[:16], buf[4096:4128], 0, 0) }},
		{"output ahead of input", func() { c.Encrypt(buf[:64], buf[16:80], 0, 0) }},
		{"output behind input", func() { c.Decrypt(buf[63:127], buf[:64], 0, 0) }},
		{"negative index", func() { c.Encrypt(buf, buf, 0, -1) }},
		{"index past the unit", func() { c.Encrypt(buf[:16], buf[:16], 0, maxUnitBlocks) }},
		{"range past the unit", func() { c.Encrypt(buf[:32], buf[:32], 0, maxUnitBlocks-1) }},
		{"index near overflow", func() { c.Encrypt(buf, buf, 0, math.MaxInt) }},
		{"unit size zero", func() { c.EncryptUnits(buf, buf, 0, 0) }},
		{"unit size negative", func() { c.EncryptUnits(buf, buf, -512, 0) }},
		{"unit size not whole blocks", func() { c.DecryptUnits(buf, buf, 500, 0) }},
		{"unit size over the limit", func() { c.DecryptUnits(buf, buf, 16*maxUnitBlocks+16, 0) }},
		{"not whole units", func() { c.EncryptUnits(buf, buf[:768], 512, 0) }},
		{"unit number overflow", func() { c.EncryptUnits(buf, buf[:1024], 512, math.MaxUint64) }},
		{"units overlap", func() { c.EncryptUnits(buf[512:], buf[:1024], 512, 0) }},
		{"wiped", func() { wiped.Encrypt(buf, buf, 0, 0) }},
		{"wiped, units", func() { wiped.DecryptUnits(buf, buf, 512, 0) }},
		{"zero value", func() { new(Cipher).Encrypt(buf, buf, 0, 0) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if r := recover(); !strings.HasPrefix(fmt.Sprint(r), "aesxts: internal error:") {
					t.Errorf("recovered %v, want a panic of our own", r)
				}
			}()
			test.f()
		})
	}
	if bytes.Count(buf, []byte{0}) != len(buf) {
		t.Error("a refused call wrote to its output")
	}
}

func TestEmptyAndAdjacent(t *testing.T) {
	c := mustCipher(t, testKey(64), available[0])
	c.Encrypt(nil, nil, 0, maxUnitBlocks)
	c.EncryptUnits(nil, nil, 512, math.MaxUint64)
	buf := make([]byte, 1024)
	c.Encrypt(buf[512:], buf[:512], 0, 0)
	c.EncryptUnits(buf[:512], buf[512:], 512, math.MaxUint64)
}

func TestWipe(t *testing.T) {
	for _, im := range available {
		c := mustCipher(t, testKey(64), im)
		c.Wipe()
		if *c != (Cipher{}) {
			t.Errorf("%s: Wipe left key material", im)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	eachImpl(t, func(t *testing.T, c, reference *Cipher, rng *rand.Rand) {
		plain := randomBytes(rng, 4096)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				got, want := make([]byte, len(plain)), make([]byte, len(plain))
				for i := range 20 {
					unit := uint64(g*1000 + i)
					reference.Encrypt(want, plain, unit, i)
					c.Encrypt(got, plain, unit, i)
					if !bytes.Equal(got, want) {
						t.Errorf("goroutine %d: unit %d differs", g, unit)
					}
					c.DecryptUnits(got, want, 512, unit)
					c.EncryptUnits(got, got, 512, unit)
					if !bytes.Equal(got, want) {
						t.Errorf("goroutine %d: units from %d differ", g, unit)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestNoAllocation(t *testing.T) {
	eachImpl(t, func(t *testing.T, c, _ *Cipher, rng *rand.Rand) {
		buf := make([]byte, 65536)
		n := testing.AllocsPerRun(10, func() {
			c.Encrypt(buf[:4096], buf[4096:8192], 7, 3)
			c.Decrypt(buf, buf, 7, 0)
			c.EncryptUnits(buf, buf, 512, 7)
			c.DecryptUnits(buf, buf, 4096, 7)
		})
		if n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// FuzzXTS checks that all implementations agree on whatever it is given, and
// that decryption undoes encryption.
func FuzzXTS(f *testing.F) {
	f.Add([]byte("sixteen byte key and another one"), []byte("some data to encrypt, longer than a block"), uint64(0), uint16(0), uint8(1))
	f.Add(testKey(64), make([]byte, 2048), uint64(1)<<40, uint16(4095), uint8(32))
	f.Fuzz(func(t *testing.T, key, data []byte, unit uint64, index uint16, unitBlocks uint8) {
		data = data[:len(data)/blockSize*blockSize]
		reference, err := newCipher(key, implGeneric)
		if err != nil {
			return
		}
		want, got := make([]byte, len(data)), make([]byte, len(data))
		reference.Encrypt(want, data, unit, int(index))
		size := blockSize * (1 + int(unitBlocks))
		units := data[:len(data)/size*size]
		first := unit >> 1
		wantUnits := make([]byte, len(units))
		reference.EncryptUnits(wantUnits, units, size, first)
		for _, im := range available {
			c := mustCipher(t, key, im)
			if c.Encrypt(got, data, unit, int(index)); !bytes.Equal(got, want) {
				t.Errorf("%s: encrypt: got %x, want %x", im, got, want)
			}
			if c.Decrypt(got, got, unit, int(index)); !bytes.Equal(got, data) {
				t.Errorf("%s: decrypt: got %x, want %x", im, got, data)
			}
			if c.EncryptUnits(got, units, size, first); !bytes.Equal(got[:len(units)], wantUnits) {
				t.Errorf("%s: encrypt units: got %x, want %x", im, got[:len(units)], wantUnits)
			}
			if c.DecryptUnits(got, wantUnits, size, first); !bytes.Equal(got[:len(units)], units) {
				t.Errorf("%s: decrypt units: got %x, want %x", im, got[:len(units)], units)
			}
		}
	})
}
