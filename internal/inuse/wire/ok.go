package wire

import "encoding/binary"

const (
	okHeader  = 0x00
	eofHeader = 0xfe
	errHeader = 0xff
)

// An OK is an OK packet; Info and State are views.
type OK struct {
	// End: it ends rows, in place of an EOF packet (DeprecateEOF).
	End          bool
	AffectedRows uint64
	InsertID     uint64
	Status       Status
	Warnings     uint16
	Info         []byte
	State        []byte // what changed, if Status has StatusSessionChanged; see EachChange
}

// DecodeOK decodes an OK packet as caps shape it.
func DecodeOK(p []byte, caps Capabilities) (OK, error) {
	d := decoder{b: p}
	var ok OK
	switch d.u8() {
	case okHeader:
	case eofHeader:
		ok.End = true
	default:
		d.fail()
	}
	ok.AffectedRows, ok.InsertID = d.lenenc(), d.lenenc()
	ok.Status = Status(d.u16())
	ok.Warnings = d.u16()
	switch {
	case !d.more():
	case caps.Has(SessionTrack):
		ok.Info = d.lenencBytes()
		if ok.Status.Has(StatusSessionChanged) && d.more() {
			ok.State = d.lenencBytes()
		}
	default:
		ok.Info = d.rest()
	}
	return ok, d.endLax("OK packet")
}

// Append appends the packet's payload, as caps shape it, to dst. Without
// SessionTrack, State and its flag are left out.
func (ok OK) Append(dst []byte, caps Capabilities) []byte {
	if ok.End {
		dst = append(dst, eofHeader)
	} else {
		dst = append(dst, okHeader)
	}
	if !caps.Has(SessionTrack) {
		ok.Status &^= StatusSessionChanged
	}
	dst = AppendLenenc(AppendLenenc(dst, ok.AffectedRows), ok.InsertID)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(ok.Status))
	dst = binary.LittleEndian.AppendUint16(dst, ok.Warnings)
	switch changed := ok.Status.Has(StatusSessionChanged); {
	case !caps.Has(SessionTrack):
		dst = append(dst, ok.Info...)
	case len(ok.Info) > 0 || changed:
		dst = AppendLenencBytes(dst, ok.Info)
		if changed {
			dst = AppendLenencBytes(dst, ok.State)
		}
	}
	return dst
}
