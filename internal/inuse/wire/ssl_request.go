package wire

// An SSLRequest asks the server to go on over TLS. The client repeats all of
// it in its LoginRequest, so a relay believes only that one.
type SSLRequest struct {
	Capabilities Capabilities
	MaxPacket    uint32
	Charset      byte
}

// IsSSLRequest reports whether p, a client's first packet, is one.
func IsSSLRequest(p []byte) bool {
	return len(p) == sslRequestSize && Capabilities(p[1])<<8&SSL != 0
}

// DecodeSSLRequest decodes an SSLRequest.
func DecodeSSLRequest(p []byte) (SSLRequest, error) {
	d := decoder{b: p}
	r := loginHead(&d)
	return SSLRequest{r.Capabilities, r.MaxPacket, r.Charset}, d.end("TLS request")
}

// Append appends the packet's payload to dst.
func (r SSLRequest) Append(dst []byte) []byte {
	l := LoginRequest{Capabilities: r.Capabilities, MaxPacket: r.MaxPacket, Charset: r.Charset}
	return l.appendHead(dst)
}
