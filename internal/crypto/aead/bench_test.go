package aead

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"testing"
)

// BenchmarkAEAD compares a cell with what the standard library does when it
// makes the nonce (impl=std-random), the usual way to write such code. The
// additional data is as long as a table and column name.
func BenchmarkAEAD(b *testing.B) {
	block, err := aes.NewCipher(testKey)
	if err != nil {
		b.Fatal(err)
	}
	std, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		b.Fatal(err)
	}
	s, o := pair(b, testKey)
	aad := []byte("tpcc.customer.c_data")
	for _, size := range []int{0, 16, 64, 256, 1024, 16384, 65536} {
		pt, buf := make([]byte, size), make([]byte, 0, size+Overhead)
		cell, err := s.Seal(nil, pt, aad)
		if err != nil {
			b.Fatal(err)
		}
		run := func(op, impl string, f func() error) {
			b.Run(fmt.Sprintf("op=%s/size=%d/impl=%s", op, size, impl), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("seal", "veildb", func() error { _, err := s.Seal(buf, pt, aad); return err })
		run("seal", "std-random", func() error { std.Seal(buf, nil, pt, aad); return nil })
		run("open", "veildb", func() error { _, err := o.Open(buf, cell, aad); return err })
		run("open", "std-random", func() error { _, err := std.Open(buf, nil, cell, aad); return err })
	}
}

// BenchmarkAEADRow seals and opens rows of ten cells; bytes are of plaintext.
func BenchmarkAEADRow(b *testing.B) {
	s, o := pair(b, testKey)
	plain, aad, cells, back := make([][]byte, 10), make([][]byte, 10), make([][]byte, 10), make([][]byte, 10)
	for i := range plain {
		plain[i], aad[i] = make([]byte, 16), []byte("tpcc.customer.c_data")
	}
	buf, err := s.SealRow(nil, cells, plain, aad)
	if err != nil {
		b.Fatal(err)
	}
	plainBuf := make([]byte, 0, 160)
	b.Run("op=seal/cells=10/size=16/impl=veildb", func(b *testing.B) {
		b.SetBytes(160)
		b.ReportAllocs()
		out := make([][]byte, 10)
		dst := make([]byte, 0, len(buf))
		for b.Loop() {
			if _, err := s.SealRow(dst, out, plain, aad); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("op=open/cells=10/size=16/impl=veildb", func(b *testing.B) {
		b.SetBytes(160)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := o.OpenRow(plainBuf, back, cells, aad); err != nil {
				b.Fatal(err)
			}
		}
	})
}
