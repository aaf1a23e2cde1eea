package wire

import "encoding/binary"

// An EOF is the packet that ends column definitions and rows without
// DeprecateEOF.
type EOF struct {
	Warnings uint16
	Status   Status
}

// maxEOF is the size an EOF packet stays below; a longer packet that begins
// with its header is another.
const maxEOF = 9

// DecodeEOF decodes an EOF packet.
func DecodeEOF(p []byte) (EOF, error) {
	d := decoder{b: p}
	d.expect(eofHeader)
	e := EOF{d.u16(), Status(d.u16())}
	return e, d.end("EOF packet")
}

// Append appends the packet's payload to dst.
func (e EOF) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, eofHeader), e.Warnings)
	return binary.LittleEndian.AppendUint16(dst, uint16(e.Status))
}
