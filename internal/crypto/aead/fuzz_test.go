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

func FuzzSealOpen(f *testing.F) {
	s, o := pair(f, testKey)
	f.Add([]byte("plaintext"), []byte("place"), []byte("prefix"))
	f.Add([]byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, pt, aad, dst []byte) {
		out, err := s.Seal(dst[:len(dst):len(dst)], pt, aad)
		if err != nil {
			t.Fatal(err)
		}
		cell, ok := bytes.CutPrefix(out, dst)
		if !ok || len(cell) != len(pt)+Overhead {
			t.Fatalf("sealed %d bytes after %x into %x", len(pt), dst, out)
		}
		back, err := o.Open(dst[:len(dst):len(dst)], cell, aad)
		if want := append(dst[:len(dst):len(dst)], pt...); err != nil || !bytes.Equal(back, want) {
			t.Errorf("got %x, %v; want %x", back, err, want)
		}
	})
}
