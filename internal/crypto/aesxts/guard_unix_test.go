//go:build unix

package aesxts

import (
	"math/rand/v2"
	"syscall"
	"testing"
)

// TestStaysInBuffer puts the data at the very start and the very end of the
// pages it may touch: reading or writing one byte more is a fault.
func TestStaysInBuffer(t *testing.T) {
	page := syscall.Getpagesize()
	size := 2 * page
	m, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	}()
	for _, guard := range [][]byte{m[:page], m[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inner := m[page : page+size : page+size]
	eachImpl(t, func(t *testing.T, c, _ *Cipher, _ *rand.Rand) {
		for blocks := 1; blocks <= 70; blocks++ {
			n := blocks * blockSize
			for _, b := range [][]byte{inner[:n], inner[size-n:]} {
				c.Encrypt(b, b, 1, 0)
				c.Decrypt(b, b, 1, 5)
				c.EncryptUnits(b, b, n, 1)
			}
		}
	})
}
