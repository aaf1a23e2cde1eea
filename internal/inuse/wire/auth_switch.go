package wire

import "bytes"

// An AuthSwitch asks the client to answer another plugin's challenge; both
// slices are views.
type AuthSwitch struct {
	Plugin []byte // empty: a request for the password hash of MySQL 3.23
	Data   []byte // the challenge without the zero byte that ends it
}

const (
	authSwitchHeader = 0xfe
	authMoreHeader   = 0x01
)

// DecodeAuthSwitch decodes an AuthSwitchRequest.
func DecodeAuthSwitch(p []byte) (AuthSwitch, error) {
	d := decoder{b: p}
	d.expect(authSwitchHeader)
	var a AuthSwitch
	if d.more() {
		a.Plugin = d.nulOrRest()
		a.Data = bytes.TrimSuffix(d.rest(), []byte{0})
	}
	return a, d.end("authentication switch")
}

// Append appends the packet's payload to dst.
func (a AuthSwitch) Append(dst []byte) []byte {
	dst = appendNul(append(dst, authSwitchHeader), a.Plugin)
	return append(append(dst, a.Data...), 0)
}

// DecodeAuthMore is the plugin's data in an AuthMoreData packet, a view.
func DecodeAuthMore(p []byte) ([]byte, error) {
	d := decoder{b: p}
	d.expect(authMoreHeader)
	data := d.rest()
	return data, d.end("authentication data")
}

// AppendAuthMore appends the payload of an AuthMoreData packet to dst.
func AppendAuthMore(dst, data []byte) []byte {
	return append(append(dst, authMoreHeader), data...)
}
