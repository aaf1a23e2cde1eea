package volume

import "testing"

// TestSizes checks the coding of sizes for every size of the first four
// sectors, around powers of two and beyond 4 GiB: it is exact, grows with the
// content inside a block, and leaves the header's page alone.
func TestSizes(t *testing.T) {
	check := func(size int64) {
		lower := LowerSize(size)
		if got := ContentSize(lower); got != size {
			t.Fatalf("size %d → lower %d → %d", size, lower, got)
		}
		if size%16 == 0 && lower != HeaderSize+size {
			t.Fatalf("size %d: lower %d, want no padding", size, lower)
		}
		if lower < HeaderSize+ceilBlock(size) {
			t.Fatalf("size %d: lower %d does not hold its last block", size, lower)
		}
		if size%16 != 0 && size%16 != 15 && LowerSize(size+1) <= lower {
			t.Fatalf("an append of one byte to %d does not lengthen the lower file", size)
		}
	}
	for size := range int64(2048) {
		check(size)
	}
	for shift := 11; shift < 62; shift++ {
		for d := int64(-33); d <= 33; d++ {
			check(1<<shift + d)
		}
	}
	// A lower length is that of one content only: lengths nobody writes decode
	// to a shorter content, never a longer one.
	for lower := int64(0); lower < 3*HeaderSize; lower++ {
		size := ContentSize(lower)
		if size < 0 || LowerSize(size) > max(lower, HeaderSize) {
			t.Fatalf("lower %d → size %d → lower %d", lower, size, LowerSize(size))
		}
	}
}

func TestSizeExamples(t *testing.T) {
	for size, lower := range map[int64]int64{0: 4096, 8192: 12288, 5: 4117, 21: 4133} { // package comment
		if got := LowerSize(size); got != lower {
			t.Errorf("LowerSize(%d) = %d, want %d", size, got, lower)
		}
	}
}

// TestRounding checks every helper against division for all offsets of three
// units.
func TestRounding(t *testing.T) {
	for off := range int64(3 * UnitSize) {
		unit, index := unitOf(off)
		if int64(unit)*UnitSize+int64(index)*BlockSize != off/16*16 {
			t.Fatalf("unitOf(%d) = %d, %d", off, unit, index)
		}
		if floorBlock(off) != off/16*16 || ceilBlock(off) != (off+15)/16*16 {
			t.Fatalf("block of %d: %d, %d", off, floorBlock(off), ceilBlock(off))
		}
	}
	if unit, index := unitOf(1<<62 + 16); unit != 1<<50 || index != 1 {
		t.Errorf("unitOf beyond 2^32 units: %d, %d", unit, index)
	}
}
