package aead

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzOpen gives the decoder any bytes as a cell: it must refuse all that its
// Sealer did not make.
func FuzzOpen(f *testing.F) {
	s, o := pair(f, testKey)
	s.prefix = [prefixSize]byte{} // fuzzing workers are processes, which must agree on the cell
	cell, err := s.Seal(nil, []byte("value"), []byte("place"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(cell, []byte("place"))
	f.Add(cell[:Overhead], []byte("place"))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, c, aad []byte) {
		got, err := o.Open(nil, c, aad)
		switch {
		case err == nil && bytes.Equal(c, cell) && string(aad) == "place":
			if string(got) != "value" {
				t.Errorf("own cell opened as %q", got)
			}
		case !errors.Is(err, ErrNotAuthentic) || got != nil:
			t.Errorf("cell %x aad %x: %q, %v; want ErrNotAuthentic", c, aad, got, err)
		}
	})
}

// FuzzSealOpen checks that all implementations make the same cell of anything,
// and open it.
func FuzzSealOpen(f *testing.F) {
	var sealers []*Sealer
	var openers []*Opener
	for _, im := range available {
		s, o := pairOf(f, testKey, im)
		sealers, openers = append(sealers, s), append(openers, o)
	}
	f.Add([]byte("plaintext"), []byte("place"), []byte("prefix"))
	f.Add([]byte{}, []byte{}, []byte{})
	f.Add(make([]byte, 511), []byte("place"), []byte{})
	f.Fuzz(func(t *testing.T, pt, aad, dst []byte) {
		var first []byte
		for i, s := range sealers {
			s.prefix = sealers[0].prefix
			s.steps.Store(0)
			out, err := s.Seal(dst[:len(dst):len(dst)], pt, aad)
			if err != nil {
				t.Fatal(err)
			}
			cell, ok := bytes.CutPrefix(out, dst)
			if !ok || len(cell) != len(pt)+Overhead {
				t.Fatalf("%s: sealed %d bytes after %x into %x", available[i], len(pt), dst, out)
			}
			if i == 0 {
				first = cell
			}
			if !bytes.Equal(cell, first) {
				t.Errorf("%s: sealed %x, %s %x", available[i], cell, available[0], first)
			}
			back, err := openers[i].Open(dst[:len(dst):len(dst)], cell, aad)
			if want := append(dst[:len(dst):len(dst)], pt...); err != nil || !bytes.Equal(back, want) {
				t.Errorf("%s: got %x, %v; want %x", available[i], back, err, want)
			}
		}
	})
}
