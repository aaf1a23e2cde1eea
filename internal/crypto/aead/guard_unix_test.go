//go:build unix

package aead

import (
	"syscall"
	"testing"
)

// guarded returns size bytes of memory, whole pages, between pages that may not
// be touched.
func guarded(t *testing.T, size int) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	size = (size + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{m[:page], m[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return m[page : page+size : page+size]
}

// TestStaysInBuffer puts plaintext, additional data and cell at the very start
// and the very end of pages: reading or writing one byte more is a fault.
func TestStaysInBuffer(t *testing.T) {
	a, b, c := guarded(t, 4096), guarded(t, 4096), guarded(t, 4096)
	eachImpl(t, func(t *testing.T, im impl) {
		g := mustGCM(t, testKey, im)
		for n := range 700 {
			for _, aadSize := range []int{n % 70, n % 300} {
				plain, aad, cell := a[:n], b[:aadSize], c[:n+Overhead]
				for range 2 {
					g.seal(cell, plain, aad)
					if !g.open(plain, cell, aad) {
						t.Fatalf("%d bytes with %d additional do not open", n, aadSize)
					}
					plain, aad, cell = a[len(a)-n:], b[len(b)-aadSize:], c[len(c)-n-Overhead:]
				}
			}
		}
	})
}
