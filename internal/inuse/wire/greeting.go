package wire

import (
	"bytes"
	"encoding/binary"
)

// A Greeting is the server's first packet, HandshakeV10.
type Greeting struct {
	ServerVersion string
	ConnectionID  uint32
	// Scramble is the challenge of AuthPlugin without the zero bytes that
	// end it, 20 bytes for all plugins servers begin with.
	Scramble     []byte
	Capabilities Capabilities
	Charset      byte // collation number, low 8 bits
	Status       Status
	AuthPlugin   string
}

// Scramble sizes the packet can hold: 8 bytes in its first part and at least
// 13, a zero byte included, in the second.
const (
	scrambleHead    = 8
	minScrambleTail = 13
)

// DecodeGreeting decodes a greeting into memory of its own. A server that
// takes no connections sends an error packet instead.
func DecodeGreeting(p []byte) (*Greeting, error) {
	d := decoder{b: p}
	d.expect(10)
	g := &Greeting{ServerVersion: string(d.nul()), ConnectionID: d.u32()}
	g.Scramble = append(g.Scramble, d.take(scrambleHead)...)
	d.u8()
	g.Capabilities = Capabilities(d.u16())
	g.Charset = d.u8()
	g.Status = Status(d.u16())
	g.Capabilities |= Capabilities(d.u16()) << 16
	size := int(d.u8())
	if !g.Capabilities.Has(PluginAuth) {
		size = 0
	}
	d.take(6)
	ext := d.u32()
	if !g.Capabilities.Has(LongPassword) {
		g.Capabilities |= Capabilities(ext) << 32
	}
	if g.Capabilities.Has(SecureConnection) {
		tail := d.take(uint64(max(minScrambleTail, size-scrambleHead)))
		g.Scramble = append(g.Scramble, bytes.TrimRight(tail, "\x00")...)
	}
	if g.Capabilities.Has(PluginAuth) {
		g.AuthPlugin = string(d.nulOrRest())
	}
	if err := d.endLax("greeting"); err != nil {
		return nil, err
	}
	return g, nil
}

// Append appends the packet's payload to dst.
func (g *Greeting) Append(dst []byte) []byte {
	dst = append(dst, 10)
	dst = appendNul(dst, g.ServerVersion)
	dst = binary.LittleEndian.AppendUint32(dst, g.ConnectionID)
	s := make([]byte, max(scrambleHead+minScrambleTail, len(g.Scramble)+1))
	copy(s, g.Scramble)
	dst = append(append(dst, s[:scrambleHead]...), 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Capabilities))
	dst = append(dst, g.Charset)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Status))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Capabilities>>16))
	if g.Capabilities.Has(PluginAuth) {
		dst = append(dst, byte(len(s)))
	} else {
		dst = append(dst, 0)
	}
	dst = append(dst, 0, 0, 0, 0, 0, 0)
	var ext uint32
	if !g.Capabilities.Has(LongPassword) {
		ext = uint32(g.Capabilities >> 32)
	}
	dst = binary.LittleEndian.AppendUint32(dst, ext)
	if g.Capabilities.Has(SecureConnection) {
		dst = append(dst, s[scrambleHead:]...)
	}
	if g.Capabilities.Has(PluginAuth) {
		dst = appendNul(dst, g.AuthPlugin)
	}
	return dst
}
