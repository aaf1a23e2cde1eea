package wire

import "encoding/binary"

// An Err is an error packet; the slices are views. It is not a Go error on
// purpose: its text can hold values of the database.
type Err struct {
	Code    uint16
	State   []byte // SQLSTATE, 5 bytes, or empty before the login
	Message []byte
}

// HeaderErr is the first byte of an error packet.
const HeaderErr = errHeader

// Error numbers a relay answers with.
const (
	CodeAccessDenied   = 1045
	CodeUnknownCommand = 1047
	CodeHandshake      = 1043
	CodeUnknown        = 1105
	CodeNetPacketLarge = 1153
	CodeOutOfOrder     = 1156
	CodeNotSupported   = 1235
	CodeAuthPlugin     = 1251
	CodeServerLost     = 2013
)

// DecodeErr decodes an error packet.
func DecodeErr(p []byte) (Err, error) {
	d := decoder{b: p}
	d.expect(errHeader)
	e := Err{Code: d.u16()}
	if len(d.b) >= 6 && d.b[0] == '#' {
		d.u8()
		e.State = d.take(5)
	}
	e.Message = d.rest()
	return e, d.end("error packet")
}

// Append appends the packet's payload to dst.
func (e Err) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, errHeader), e.Code)
	if len(e.State) == 5 {
		dst = append(append(dst, '#'), e.State...)
	}
	return append(dst, e.Message...)
}

// WriteErr writes an error packet as the next packet of the answer. In place of
// the greeting state is "": clients take one there for a part of the message.
func (c *Conn) WriteErr(code uint16, state, message string) error {
	return c.WritePacket(Err{code, []byte(state), []byte(message)}.Append(nil))
}
