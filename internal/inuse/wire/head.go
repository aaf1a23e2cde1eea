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
	// Keep is set before Add by a caller that needs the packets also if they are
	// too many to be recognised; see EachIn and EachOut.
	Keep bool

	in, out []byte // framed, the first packet with sequence number 1
	packets int
	columns int
	spoiled bool // empty
	long    bool // not recognised
}

// maxHead is the largest Head kept, in bytes. It must be in the read buffer as a
// whole to be recognised.
const maxHead = defaultBuffer / 2

// maxKept is the largest Head with Keep, in bytes: the most columns there are, with
// names of some length.
const maxKept = 1 << 20

// Reset empties h.
func (h *Head) Reset() { *h = Head{Keep: h.Keep, in: h.in[:0], out: h.out[:0]} }

// Add notes a packet that came with payload in and went on with payload out. It
// keeps neither.
func (h *Head) Add(in, out []byte) {
	most := maxHead
	if h.Keep {
		most = maxKept
	}
	if h.spoiled || len(h.in)+len(in) > most || len(h.out)+len(out) > most {
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
	h.columns = h.packets - 1
	h.long = h.packets > 255 || len(h.in) > maxHead || len(h.out) > maxHead
	if h.spoiled || h.columns < 1 || h.long && !h.Keep {
		h.Reset()
		h.spoiled = true
	}
}

// Spoiled reports whether h can never be recognised: it is too large.
func (h *Head) Spoiled() bool { return h.spoiled || h.long }

// Columns is the number of columns of a Head that is complete, 0 if it has lost
// its packets.
func (h *Head) Columns() int { return h.columns }

// Equal reports whether h and o are of the same packets.
func (h *Head) Equal(o *Head) bool { return bytes.Equal(h.in, o.in) && bytes.Equal(h.out, o.out) }

// EqualOut reports whether the same packets went on.
func (h *Head) EqualOut(o *Head) bool { return bytes.Equal(h.out, o.out) }

// EachIn calls f with the packets as they came, the column count first.
func (h *Head) EachIn(f func(payload []byte) error) error { return each(h.in, f) }

// EachOut calls f with the packets as they went on.
func (h *Head) EachOut(f func(payload []byte) error) error { return each(h.out, f) }

func each(framed []byte, f func(payload []byte) error) error {
	for len(framed) > 0 {
		end := headerSize + (int(framed[0]) | int(framed[1])<<8 | int(framed[2])<<16)
		if err := f(framed[headerSize:end:end]); err != nil {
			return err
		}
		framed = framed[end:]
	}
	return nil
}

// SkipHead reports whether the answer r, just started, begins with h. Then the
// client has been sent what h says, and r goes on behind the definitions.
// Otherwise nothing has happened but that bytes may have come. server and client
// must have equal capabilities but for SSL, and h be made with those.
func (r *Response) SkipHead(server, client *Conn, h *Head) (bool, error) {
	if h.columns == 0 || h.Spoiled() || r.state != stateHead || r.shape != ShapeResults && r.shape != ShapeExecute ||
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
