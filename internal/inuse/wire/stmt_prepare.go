package wire

import "encoding/binary"

// DecodeStmtPrepare is the text of a COM_STMT_PREPARE, a view.
func DecodeStmtPrepare(p []byte) ([]byte, error) {
	d := decoder{b: p}
	d.expect(byte(ComStmtPrepare))
	sql := d.rest()
	return sql, d.end("prepare command")
}

// A Prepared is the first packet of the answer to COM_STMT_PREPARE. Definitions
// of Params parameters and then of Columns columns follow, each kind, if there
// are any, ended by an EOF packet without DeprecateEOF.
type Prepared struct {
	ID       uint32
	Columns  uint16
	Params   uint16
	Warnings uint16
}

// DecodePrepared decodes the packet.
func DecodePrepared(p []byte) (Prepared, error) {
	d := decoder{b: p}
	d.expect(okHeader)
	s := Prepared{ID: d.u32(), Columns: d.u16(), Params: d.u16()}
	d.u8()
	if d.more() { // MySQL 4.1 had no more
		s.Warnings = d.u16()
	}
	return s, d.endLax("prepared statement")
}

// Append appends the packet's payload to dst.
func (s Prepared) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(append(dst, okHeader), s.ID)
	dst = binary.LittleEndian.AppendUint16(dst, s.Columns)
	dst = binary.LittleEndian.AppendUint16(dst, s.Params)
	return binary.LittleEndian.AppendUint16(append(dst, 0), s.Warnings)
}
