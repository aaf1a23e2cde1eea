package volume

// All arithmetic on offsets and sizes of the format is in this file. Offsets
// are in bytes of the content unless called lower.

const (
	// HeaderSize is the distance from a content byte to its lower byte.
	HeaderSize = 4096
	// UnitSize is the size of a data unit.
	UnitSize = 4096
	// BlockSize is the granularity of encryption.
	BlockSize = 16

	pageSize   = 4096 // of the lower file, granularity of Options.RefuseZeros
	sectorSize = 512  // granularity of Options.SectorHoles
	blockMask  = BlockSize - 1
)

func floorBlock(off int64) int64 { return off &^ blockMask }
func ceilBlock(off int64) int64  { return (off + blockMask) &^ blockMask }

// encodedSize is the length, header not counted, of the lower file for a
// content of size bytes.
func encodedSize(size int64) int64 {
	if size&blockMask == 0 {
		return size
	}
	return size + BlockSize
}

// decodedSize is the inverse of encodedSize. Lengths that encodedSize never
// yields come from an interrupted extension and hold no complete byte more
// than the result says.
func decodedSize(encoded int64) int64 {
	switch {
	case encoded <= 0:
		return 0
	case encoded&blockMask == 0:
		return encoded
	}
	return max(encoded-BlockSize, 0)
}

// LowerSize returns the length of the lower file for a content of size bytes.
func LowerSize(size int64) int64 { return HeaderSize + encodedSize(size) }

// ContentSize returns the length of the content of a lower file of that
// length; 0 if there is not even a header.
func ContentSize(lower int64) int64 { return decodedSize(lower - HeaderSize) }

// unitOf returns the number of the data unit of off and the index of its
// 16-byte block in the unit.
func unitOf(off int64) (unit uint64, index int) {
	return uint64(off) / UnitSize, int(off%UnitSize) / BlockSize
}

// ValidLength reports whether a complete file of the format can have that many
// bytes below. Others come from an interrupted extension, and are read as the
// content that is complete.
func ValidLength(lower int64) bool {
	return lower >= HeaderSize && LowerSize(ContentSize(lower)) == lower
}
