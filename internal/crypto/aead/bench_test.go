package aead

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"testing"
)

// BenchmarkAEAD compares a cell by each implementation, auto being the one that
// New chooses, with the standard library alone: impl=std has a nonce ready, and
// impl=std-random makes one, the usual way to write such code. The additional
// data is as long as a table and column name.
func BenchmarkAEAD(b *testing.B) {
	block, err := aes.NewCipher(testKey)
	if err != nil {
		b.Fatal(err)
	}
	std, err := cipher.NewGCM(block)
	if err != nil {
		b.Fatal(err)
	}
	stdRandom, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		b.Fatal(err)
	}
	aad := []byte("tpcc.customer.c_data")
	for _, size := range []int{0, 16, 64, 120, 256, 1024, 4096, 16384, 65536} {
		pt, buf := make([]byte, size), make([]byte, 0, size+Overhead)
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
		ours := func(name string, im impl) (seal, open func()) {
			s, o := pairOf(b, testKey, im)
			cell, err := s.Seal(nil, pt, aad)
			if err != nil {
				b.Fatal(err)
			}
			return func() { run("seal", name, func() error { _, err := s.Seal(buf, pt, aad); return err }) },
				func() { run("open", name, func() error { _, err := o.Open(buf, cell, aad); return err }) }
		}
		seals, opens := []func(){}, []func(){}
		add := func(seal, open func()) { seals, opens = append(seals, seal), append(opens, open) }
		add(ours("auto", available[0]))
		for _, im := range available[1 : len(available)-1] {
			add(ours(im.String(), im))
		}
		nonce := make([]byte, nonceSize)
		sealed := std.Seal(nil, nonce, pt, aad)
		add(func() { run("seal", "std", func() error { std.Seal(buf, nonce, pt, aad); return nil }) },
			func() { run("open", "std", func() error { _, err := std.Open(buf, nonce, sealed, aad); return err }) })
		random := stdRandom.Seal(nil, nil, pt, aad)
		add(func() { run("seal", "std-random", func() error { stdRandom.Seal(buf, nil, pt, aad); return nil }) },
			func() {
				run("open", "std-random", func() error { _, err := stdRandom.Open(buf, nil, random, aad); return err })
			})
		for _, f := range append(seals, opens...) {
			f()
		}
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
	b.Run("op=seal/cells=10/size=16/impl=auto", func(b *testing.B) {
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
	b.Run("op=open/cells=10/size=16/impl=auto", func(b *testing.B) {
		b.SetBytes(160)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := o.OpenRow(plainBuf, back, cells, aad); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkNew is the cost of a cell key of one's own.
func BenchmarkNew(b *testing.B) {
	for _, im := range available {
		b.Run("impl="+im.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := newOpener(testKey, im); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
