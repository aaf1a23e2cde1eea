package aesxts

import (
	"crypto/aes"
	"fmt"
	"testing"

	"golang.org/x/crypto/xts"
)

var benchAlgs = []struct {
	name    string
	keySize int
}{{"aes128", 32}, {"aes256", 64}}

// BenchmarkXTS processes one data unit of size bytes with each call, as
// "openssl speed -evp aes-256-xts" does. impl=auto is what New chooses;
// impl=x-crypto is golang.org/x/crypto/xts, for comparison.
func BenchmarkXTS(b *testing.B) {
	for _, alg := range benchAlgs {
		for _, size := range []int{512, 4096, 65536} {
			for _, name := range append([]string{"auto"}, Implementations()...) {
				im := available[0]
				for _, a := range available {
					if a.String() == name {
						im = a
					}
				}
				c, err := newCipher(testKey(alg.keySize), im)
				if err != nil {
					b.Fatal(err)
				}
				benchBoth(b, alg.name, name, size,
					func(dst, src []byte, unit uint64) { c.Encrypt(dst, src, unit, 0) },
					func(dst, src []byte, unit uint64) { c.Decrypt(dst, src, unit, 0) })
			}
			x, err := xts.NewCipher(aes.NewCipher, testKey(alg.keySize))
			if err != nil {
				b.Fatal(err)
			}
			benchBoth(b, alg.name, "x-crypto", size, x.Encrypt, x.Decrypt)
		}
	}
}

func benchBoth(b *testing.B, alg, impl string, size int, enc, dec func(dst, src []byte, unit uint64)) {
	for _, op := range []struct {
		name string
		f    func(dst, src []byte, unit uint64)
	}{{"encrypt", enc}, {"decrypt", dec}} {
		b.Run(fmt.Sprintf("alg=%s/size=%d/impl=%s/op=%s", alg, size, impl, op.name), func(b *testing.B) {
			src, dst := make([]byte, size), make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			unit := uint64(0)
			for b.Loop() {
				op.f(dst, src, unit)
				unit++
			}
		})
	}
}

// BenchmarkXTSUnits processes 64 KiB of data units of size bytes a call.
func BenchmarkXTSUnits(b *testing.B) {
	const total = 65536
	for _, alg := range benchAlgs {
		for _, size := range []int{512, 4096} {
			for _, im := range available {
				c, err := newCipher(testKey(alg.keySize), im)
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("alg=%s/size=%d/impl=%s", alg.name, size, im), func(b *testing.B) {
					src, dst := make([]byte, total), make([]byte, total)
					b.SetBytes(total)
					b.ReportAllocs()
					for b.Loop() {
						c.EncryptUnits(dst, src, size, 0)
					}
				})
			}
		}
	}
}

// BenchmarkNew is the cost of a key of one's own for each file.
func BenchmarkNew(b *testing.B) {
	for _, alg := range benchAlgs {
		key := testKey(alg.keySize)
		b.Run("alg="+alg.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSeek reads the last block of a unit.
func BenchmarkSeek(b *testing.B) {
	c, err := New(testKey(64))
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{4096, 65536} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			buf := make([]byte, blockSize)
			for b.Loop() {
				c.Decrypt(buf, buf, 1, size/blockSize-1)
			}
		})
	}
}

func testKey(n int) []byte {
	key := make([]byte, n)
	for i := range key {
		key[i] = byte(i*7 + 3)
	}
	return key
}
