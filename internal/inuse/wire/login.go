package wire

import (
	"encoding/binary"
	"fmt"
)

// A LoginRequest is the client's answer to the greeting, HandshakeResponse41.
type LoginRequest struct {
	Capabilities Capabilities
	MaxPacket    uint32 // bytes; what the client says it can take
	Charset      byte   // collation number, low 8 bits
	User         string
	Auth         []byte // answer to the challenge, by AuthPlugin's rules
	Database     string
	AuthPlugin   string
	Attrs        []byte // connection attributes as they came; see EachAttr
	ZstdLevel    byte   // with CompressZstd
}

// sslRequestSize is the size of the common front of SSLRequest and LoginRequest.
const sslRequestSize = 32

// loginHead decodes the common front.
func loginHead(d *decoder) (r LoginRequest) {
	r.Capabilities = Capabilities(d.u32())
	r.MaxPacket = d.u32()
	r.Charset = d.u8()
	d.take(19)
	if ext := d.u32(); !r.Capabilities.Has(LongPassword) {
		r.Capabilities |= Capabilities(ext) << 32
	}
	return r
}

// DecodeLoginRequest decodes a login request into memory of its own. It returns
// ErrUnsupported for a client older than protocol 4.1.
func DecodeLoginRequest(p []byte) (*LoginRequest, error) {
	if len(p) >= 2 && Capabilities(binary.LittleEndian.Uint16(p))&Protocol41 == 0 {
		return nil, fmt.Errorf("decode login request: protocol before 4.1: %w", ErrUnsupported)
	}
	d := decoder{b: p}
	r := loginHead(&d)
	r.User = string(d.nul())
	switch {
	case r.Capabilities.Has(PluginAuthLenenc):
		r.Auth = clone(d.lenencBytes())
	case r.Capabilities.Has(SecureConnection):
		r.Auth = clone(d.take(uint64(d.u8())))
	default:
		r.Auth = clone(d.nul())
	}
	// Clients leave out the end of the packet, flags or not.
	if r.Capabilities.Has(ConnectWithDB) && d.more() {
		r.Database = string(d.nulOrRest())
	}
	if r.Capabilities.Has(PluginAuth) && d.more() {
		r.AuthPlugin = string(d.nulOrRest())
	}
	if r.Capabilities.Has(ConnectAttrs) && d.more() {
		r.Attrs = clone(d.lenencBytes())
	}
	if r.Capabilities.Has(CompressZstd) && d.more() {
		r.ZstdLevel = d.u8()
	}
	if err := d.endLax("login request"); err != nil {
		return nil, err
	}
	return &r, nil
}

// Append appends the packet's payload to dst. Auth must be shorter than 256
// bytes unless Capabilities have PluginAuthLenenc.
func (r *LoginRequest) Append(dst []byte) []byte {
	dst = r.appendHead(dst)
	dst = appendNul(dst, r.User)
	switch {
	case r.Capabilities.Has(PluginAuthLenenc):
		dst = AppendLenencBytes(dst, r.Auth)
	case r.Capabilities.Has(SecureConnection):
		dst = append(append(dst, byte(len(r.Auth))), r.Auth...)
	default:
		dst = appendNul(dst, r.Auth)
	}
	if r.Capabilities.Has(ConnectWithDB) {
		dst = appendNul(dst, r.Database)
	}
	if r.Capabilities.Has(PluginAuth) {
		dst = appendNul(dst, r.AuthPlugin)
	}
	if r.Capabilities.Has(ConnectAttrs) {
		dst = AppendLenencBytes(dst, r.Attrs)
	}
	if r.Capabilities.Has(CompressZstd) {
		dst = append(dst, r.ZstdLevel)
	}
	return dst
}

func (r *LoginRequest) appendHead(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.Capabilities))
	dst = binary.LittleEndian.AppendUint32(dst, r.MaxPacket)
	dst = append(dst, r.Charset)
	dst = append(dst, make([]byte, 19)...)
	var ext uint32
	if !r.Capabilities.Has(LongPassword) {
		ext = uint32(r.Capabilities >> 32)
	}
	return binary.LittleEndian.AppendUint32(dst, ext)
}

// EachAttr calls f with every connection attribute, which a client chooses
// freely. The slices are views of attrs.
func EachAttr(attrs []byte, f func(name, value []byte)) error {
	d := decoder{b: attrs}
	for d.more() {
		name, value := d.lenencBytes(), d.lenencBytes()
		if d.bad {
			break
		}
		f(name, value)
	}
	return d.end("connection attributes")
}

// AppendAttr appends one connection attribute.
func AppendAttr(attrs []byte, name, value string) []byte {
	return AppendLenencBytes(AppendLenencBytes(attrs, name), value)
}

func clone(p []byte) []byte { return append([]byte{}, p...) }
