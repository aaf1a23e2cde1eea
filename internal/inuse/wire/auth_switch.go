package wire

// An AuthSwitch asks the client to answer another plugin's challenge; both
// slices are views.
type AuthSwitch struct {
	Plugin []byte // empty: a request for the password hash of MySQL 3.23
	Data   []byte // what the plugin sends first, as it came
}

// Challenge is Data without the zero byte that ends the 20 bytes of the
// challenge of most plugins. Of client_ed25519 and parsec all 32 bytes count,
// and the last may be zero.
func (a AuthSwitch) Challenge() []byte {
	if n := len(a.Data) - 1; n == 20 && a.Data[n] == 0 {
		return a.Data[:n:n]
	}
	return a.Data
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
		a.Data = d.rest()
	}
	return a, d.end("authentication switch")
}

// Append appends the packet's payload to dst.
func (a AuthSwitch) Append(dst []byte) []byte {
	dst = appendNul(append(dst, authSwitchHeader), a.Plugin)
	return append(dst, a.Data...)
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
