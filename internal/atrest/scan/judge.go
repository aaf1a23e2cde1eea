package scan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// judge looks at share, the bytes of t at off, off a multiple of the unit.
// more is share and a little of what follows.
func (s *scanner) judge(n *notebook, t target, off int64, share, more []byte) {
	s.findCanaries(n, t, off, len(share), more)
	if off == 0 && !t.header {
		findMagic(n, t, 0, share)
	}
	if t.plain {
		return
	}
	var units, unjudged int64
	start := 0
	if off == 0 && t.header {
		start = volume.HeaderSize
	}
	for i := start; i < len(share); i += unitSize {
		unit := share[i:min(i+unitSize, len(share))]
		at := off + int64(i)
		if t.header {
			findMagic(n, t, at, unit)
			// The last bytes of a tail mean nothing; they need not be random.
			if at+int64(len(unit)) == t.size {
				unit = unit[:len(unit)&^(volume.BlockSize-1)]
			}
		}
		if judgeUnit(n, t, at, unit) {
			units++
		} else {
			unjudged++
		}
	}
	s.mu.Lock()
	s.report.Units += units
	s.report.Unjudged += unjudged
	s.mu.Unlock()
}

// judgeUnit reports what in a unit is not like ciphertext, and whether there
// was enough of it to tell.
func judgeUnit(notes *notebook, t target, at int64, unit []byte) bool {
	if i := textRun(unit); i >= 0 {
		notes.add(Finding{File: t.rel, Offset: at + int64(i), Kind: Text})
		return true
	}
	chi, n := chiSquare(unit)
	if n < minJudged {
		return false
	}
	if chi > limitOf(n) {
		notes.add(Finding{File: t.rel, Offset: at, Bytes: int64(len(unit)), Kind: Pattern, Detail: formatOf(unit)})
	}
	return true
}

// minJudged is the least number of bytes whose spread says anything.
const minJudged = 512

// limitOf is the chi-square that n random bytes exceed in one of 10^15 cases,
// and one unit of ciphertext in the world's disks does not: with 255 degrees of
// freedom it has mean 255 and deviation 22.6, and Wilson and Hilferty's
// approximation puts 10^-15 at 479. Fewer bytes have a longer tail. Text and
// database pages are beyond 2000 and mostly beyond 50000.
func limitOf(n int) float64 {
	if n >= unitSize {
		return 520
	}
	return 900
}

// chiSquare compares the distribution of bytes with an even one, over the n
// bytes of b that are not in blocks of zeros, which are holes.
func chiSquare(b []byte) (chi float64, n int) {
	// Four tables, so that equal neighbours do not wait for each other.
	var counts [4][256]uint32
	for len(b) >= volume.BlockSize {
		block := (*[volume.BlockSize]byte)(b)
		b = b[volume.BlockSize:]
		if *block == [volume.BlockSize]byte{} {
			continue
		}
		for i := 0; i < volume.BlockSize; i += 4 {
			counts[0][block[i]]++
			counts[1][block[i+1]]++
			counts[2][block[i+2]]++
			counts[3][block[i+3]]++
		}
		n += volume.BlockSize
	}
	if n == 0 {
		return 0, 0
	}
	var squares uint64
	for i := range 256 {
		c := uint64(counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i])
		squares += c * c
	}
	return float64(squares)*256/float64(n) - float64(n), n
}

// minText is a length of runs of readable characters that random bytes reach
// once in 10^17 places.
const minText = 40

// textRun returns where a run of at least minText readable characters starts
// in b, or -1.
func textRun(b []byte) int {
	// A run of that length covers a multiple of it less one.
	for probe := minText - 1; probe < len(b); probe += minText {
		if !readable(b[probe]) {
			continue
		}
		start, end := probe, probe+1
		for start > 0 && readable(b[start-1]) {
			start--
		}
		for end < len(b) && readable(b[end]) {
			end++
		}
		if end-start >= minText {
			return start
		}
	}
	return -1
}

func readable(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' }

// A magic is how a format starts. Short ones name what is found by other means
// only: random bytes start with them now and then.
type magic struct {
	name   string
	offset int
	bytes  string
}

const longMagic = 8

var magics = []magic{
	{"SQLite database", 0, "SQLite format 3\x00"},
	{"SQLite write-ahead log", 0, "\x37\x7f\x06\x82\x00\x2d\xe2\x18"},
	{"SQLite write-ahead log", 0, "\x37\x7f\x06\x83\x00\x2d\xe2\x18"},
	{"SQLite rollback journal", 0, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"},
	{"InnoDB index page", 94 + 5, "infimum\x00"},
	{"PostgreSQL dump", 0, "PGDMP"},
	{"PDF document", 0, "%PDF-"},
	{"MariaDB binary log", 0, "\xfebin"},
	{"Aria log", 0, "\xfe\xfe\x0b\x01"},
	{"MyISAM or Aria table", 0, "\xfe\xfe\x07"},
	{"gzip", 0, "\x1f\x8b\x08"},
	{"zstd", 0, "\x28\xb5\x2f\xfd"},
	{"xz", 0, "\xfd7zXZ\x00"},
	{"zip", 0, "PK\x03\x04"},
	{"program", 0, "\x7fELF"},
	{"PostgreSQL page", 18, "\x04\x20"},
	{"PostgreSQL page", 18, "\x05\x20"},
	{"PostgreSQL write-ahead log", 2, "\x07\x00"},
}

// findMagic reports a format that can be told by its start alone.
func findMagic(n *notebook, t target, at int64, b []byte) {
	for _, m := range magics {
		if len(m.bytes) >= longMagic && m.matches(b) {
			n.add(Finding{File: t.rel, Offset: at, Kind: Magic, Detail: m.name})
		}
	}
}

func (m *magic) matches(b []byte) bool {
	return len(b) >= m.offset+len(m.bytes) && string(b[m.offset:m.offset+len(m.bytes)]) == m.bytes
}

// formatOf names what a unit that is not random looks like, or "".
func formatOf(b []byte) string {
	for _, m := range magics {
		if m.matches(b) {
			return "looks like: " + m.name
		}
	}
	if len(b) > 26 {
		switch binary.BigEndian.Uint16(b[24:]) {
		case 17855:
			return "looks like: InnoDB index page"
		}
	}
	return ""
}

// Lengths of canaries, in bytes. Shorter ones are found by chance; maxCanary is
// what a read holds beyond its share.
const (
	minCanary = 6
	maxCanary = 64 << 10
)

// A pattern is one form of a canary.
type pattern struct {
	bytes  []byte
	detail string
}

// expandCanaries returns the forms of each canary: as it is, and in UTF-16.
func expandCanaries(canaries [][]byte) []pattern {
	var list []pattern
	for i, c := range canaries {
		name := fmt.Sprintf("canary %d", i+1)
		list = append(list, pattern{c, name})
		var little, big []byte
		for _, u := range utf16.Encode([]rune(string(c))) {
			little = binary.LittleEndian.AppendUint16(little, u)
			big = binary.BigEndian.AppendUint16(big, u)
		}
		list = append(list, pattern{little, name + " in UTF-16"}, pattern{big, name + " in UTF-16"})
	}
	return list
}

// findCanaries reports the canaries in more that start in its first share
// bytes.
func (s *scanner) findCanaries(n *notebook, t target, off int64, share int, more []byte) {
	for _, p := range s.canaries {
		reach := more[:min(len(more), share+len(p.bytes)-1)]
		for i := 0; i < len(reach); i++ {
			found := bytes.Index(reach[i:], p.bytes)
			if found < 0 {
				break
			}
			i += found
			n.add(Finding{File: t.rel, Offset: off + int64(i), Bytes: int64(len(p.bytes)), Kind: Canary, Detail: p.detail})
		}
	}
}
