package result

import (
	"fmt"
	"hash/crc32"
	"regexp"
)

// A line of run.jsonl ends with the checksum of what it was without it:
//
//	{…}  becomes  {…,"sum":"1c291ca3"}
//
// the CRC-32C of {…}, in hex. A digit that changed on a disk would otherwise be
// a figure like any other. It is no protection against anybody's intent.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var sumField = regexp.MustCompile(`,"sum":"([0-9a-f]{8})"}$`)

func sumOf(object []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(object, castagnoli)) }

// addSum adds the checksum to a JSON object that is not empty.
func addSum(object []byte) []byte {
	return fmt.Appendf(object[:len(object)-1:len(object)-1], `,"sum":"%s"}`, sumOf(object))
}

// checkSum reports whether line has a checksum, and whether that holds.
func checkSum(line []byte) (has, ok bool) {
	at := sumField.FindSubmatchIndex(line)
	if at == nil {
		return false, true
	}
	object := append(line[:at[0]:at[0]], '}')
	return true, sumOf(object) == string(line[at[2]:at[3]])
}
