package wire

import (
	"encoding/binary"
	"net/netip"
)

// AppendProxyHeader appends the header of the PROXY protocol, version 2, that
// tells a server whose proxy_protocol_networks name the relay where the client
// connects from, so that accounts bound to hosts mean the client's. A relay
// sends it as the first bytes to the server, outside any packet. Addresses not
// of one family are sent as unknown: the server then sees the relay's.
//
//	signature 12 bytes | version and command | family | length 2 bytes BE | addresses | ports
func AppendProxyHeader(dst []byte, client, relay netip.AddrPort) []byte {
	const (
		signature = "\r\n\r\n\x00\r\nQUIT\n"
		local     = 0x20 // version 2, command LOCAL
		proxy     = 0x21 // version 2, command PROXY
		tcp4      = 0x11
		tcp6      = 0x21
	)
	dst = append(dst, signature...)
	from, to := client.Addr().Unmap(), relay.Addr().Unmap()
	switch {
	case from.Is4() && to.Is4():
		dst = append(dst, proxy, tcp4, 0, 2*4+2*2)
	case from.Is6() && to.Is6():
		dst = append(dst, proxy, tcp6, 0, 2*16+2*2)
	default:
		return append(dst, local, 0, 0, 0)
	}
	dst = append(append(dst, from.AsSlice()...), to.AsSlice()...)
	dst = binary.BigEndian.AppendUint16(dst, client.Port())
	return binary.BigEndian.AppendUint16(dst, relay.Port())
}
