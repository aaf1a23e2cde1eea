package wire

import "errors"

// Errors a caller decides on; the functions of this package wrap them. None
// carries text a peer sent.
var (
	// ErrMalformed: a packet does not have the form its place demands.
	ErrMalformed = errors.New("malformed packet")
	// ErrTooLarge: a packet is larger than Limits allow.
	ErrTooLarge = errors.New("packet too large")
	// ErrOutOfOrder: a packet's sequence number is not the next.
	ErrOutOfOrder = errors.New("packet out of order")
	// ErrUnsupported: the peer wants something a relay cannot do, such as an
	// authentication plugin that cannot be relayed.
	ErrUnsupported = errors.New("not supported by the relay")
	// ErrDenied: the backend refused the login; it has told the client why.
	ErrDenied = errors.New("login denied by the backend")
	// ErrInsecure: going on would send a password where it can be read, or
	// let a client in as somebody else.
	ErrInsecure = errors.New("refused as insecure")
)
