package volume

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A HoleFinder is a lower file that knows what was never written.
type HoleFinder interface {
	// Hole reports whether nothing in [off, off+n) was ever written. The error
	// matches errors.ErrUnsupported if that is not known.
	Hole(off, n int64) (bool, error)
}

// Hole reports whether nothing of the content in [off, off+n) was ever written,
// false where the lower file cannot tell. What lies behind the end never was.
func (f *File) Hole(off, n int64) (bool, error) {
	f.gate.RLock()
	defer f.gate.RUnlock()
	h, ok := f.lower.(HoleFinder)
	if !ok {
		return false, nil
	}
	hole, err := h.Hole(f.base+off, n)
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for hole: %w", err)
	}
	return hole, nil
}

// decrypt decrypts b, whole blocks read from content offset off, in place.
// Blocks of zeros stay zeros.
func (f *File) decrypt(b []byte, off int64) error {
	if f.sectorHoles && !zeroSectorStart(b, off) {
		f.crypt(b, b, off, false)
		return nil
	}
	for len(b) > 0 {
		n := zeroBlock(b)
		f.crypt(b[:n], b[:n], off, false)
		b, off = b[n:], off+int64(n)
		for len(b) > 0 && isZero(b[:BlockSize]) {
			if f.refuseZeros {
				if err := f.checkHole(off); err != nil {
					return err
				}
			}
			b, off = b[BlockSize:], off+BlockSize
		}
	}
	return nil
}

// zeroSectorStart reports whether b, or a sector in it, may start with a block
// of zeros.
func zeroSectorStart(b []byte, off int64) bool {
	if len(b) > 0 && first(b) == 0 {
		return true
	}
	for i := int(sectorSize - off&(sectorSize-1)); i < len(b); i += sectorSize {
		if first(b[i:]) == 0 {
			return true
		}
	}
	return false
}

// zeroBlock returns the offset of the first block of zeros in b, whole blocks,
// or len(b). It looks at the first half of each block, four blocks at a time:
// one of random bytes is zero once in 2^64.
func zeroBlock(b []byte) int {
	const stride = 4 * BlockSize
	rest := b
	for len(rest) >= stride {
		s := (*[stride]byte)(rest)
		if first(s[0:8]) == 0 || first(s[16:24]) == 0 || first(s[32:40]) == 0 || first(s[48:56]) == 0 {
			break
		}
		rest = rest[stride:]
	}
	for len(rest) >= BlockSize && !isZero(rest[:BlockSize]) {
		rest = rest[BlockSize:]
	}
	return len(b) - len(rest)
}

func first(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// checkHole returns ErrZeroed if the lower page around content offset off was
// written and yet is all zeros.
func (f *File) checkHole(off int64) error {
	h, ok := f.lower.(HoleFinder)
	if !ok {
		return nil
	}
	var page [pageSize]byte
	start := (f.base + off) &^ (pageSize - 1)
	n, err := f.lower.ReadAt(page[:], start)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("look for hole: %w", err)
	}
	if !isZero(page[:n]) {
		return nil // part of it was written, and nobody knows which
	}
	hole, err := h.Hole(start, pageSize)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for hole: %w", err)
	}
	if !hole {
		// It may have been written just now: look again.
		if n, _ = f.lower.ReadAt(page[:], start); isZero(page[:n]) {
			return fmt.Errorf("read encrypted file at %d: %w", off, ErrZeroed)
		}
	}
	return nil
}
