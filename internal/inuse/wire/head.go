package wire

import "bytes"

// A Head is how an answer with rows began: the column count and the column
// definitions, as they came from the server and as they went on to the client.
// The executions of one statement begin with the same bytes again and again, and
// SkipHead passes over them at once.
//
// To make one, call Add with each of these packets as it passes. The zero Head
// is empty.
type Head struct {
	in, out []byte // framed, the first packet with sequence number 1
	packets int
	columns int
	spoiled bool
}

// maxHead is the largest Head kept, in bytes. It must be in the read buffer as a
// whole to be recognised.
const maxHead = defaultBuffer / 2

// Reset empties h.
func (h *Head) Reset() { *h = Head{in: h.in[:0], out: h.out[:0]} }

// Add notes a packet that came with payload in and went on with payload out. It
// keeps neither.
func (h *Head) Add(in, out []byte) {
	if h.spoiled || len(h.in)+len(in) > maxHead || len(h.out)+len(out) > maxHead {
		h.spoiled = true
		return
	}
	h.packets++
	h.in = append(appendHeader(h.in, len(in), byte(h.packets)), in...)
	h.out = append(appendHeader(h.out, len(out), byte(h.packets)), out...)
}

func appendHeader(dst []byte, n int, seq byte) []byte {
	return append(dst, byte(n), byte(n>>8), byte(n>>16), seq)
}

// Complete says that all packets have been added. A Head that is not complete is
// never recognised.
func (h *Head) Complete() {
	if h.columns = h.packets - 1; h.spoiled || h.columns < 1 || h.packets > 255 {
		h.Reset()
		h.spoiled = true
	}
}

// Spoiled reports whether h can never be recognised: it is too large.
func (h *Head) Spoiled() bool { return h.spoiled }

// SkipHead reports whether the answer r, just started, begins with h. Then the
// client has been sent what h says, and r goes on behind the definitions.
// Otherwise nothing has happened but that bytes may have come. server and client
// must have equal capabilities but for SSL, and h be made with those.
func (r *Response) SkipHead(server, client *Conn, h *Head) (bool, error) {
	if h.columns == 0 || h.spoiled || r.state != stateHead || r.shape != ShapeResults && r.shape != ShapeExecute ||
		server.seq != 1 || server.pkt.left > 0 || server.pkt.more {
		return false, nil
	}
	if server.r == server.w {
		if err := server.need(1); err != nil {
			return false, err
		}
	}
	if !bytes.HasPrefix(server.buf[server.r:server.w], h.in) {
		return false, nil
	}
	server.r += len(h.in)
	server.pkt.loaded, server.pkt.data = false, nil
	server.seq += byte(h.packets)
	if err := client.WriteFramed(h.out, 1+byte(h.packets)); err != nil {
		return false, err
	}
	r.Columns, r.left = h.columns, 0
	if !r.caps.Has(DeprecateEOF) {
		r.state = stateDefEOF
	} else {
		r.afterDefs(false)
	}
	return true, nil
}
