package wire

import "fmt"

// A Kind is what a packet of an answer is.
type Kind byte

// The kinds.
const (
	KindOK       Kind = iota + 1 // OK: a result without rows, or the EOF that is all of an answer
	KindErr                      // error; ends the answer
	KindColumns                  // column count; that many KindColumn follow, or none: see Omitted
	KindColumn                   // column definition
	KindParam                    // definition of a statement's parameter
	KindDefsEnd                  // EOF after definitions; without DeprecateEOF
	KindRow                      // row; not loaded
	KindRowsEnd                  // EOF, or OK in its place, that ends rows
	KindPrepared                 // head of a prepared statement
	KindInfile                   // the server wants a file: RelayInfile, then Next
	KindString                   // text of COM_STATISTICS
)

type respState byte

const (
	stateDone   respState = iota
	stateHead             // first packet of a result
	stateParams           // parameter definitions
	stateDefs             // column definitions
	stateDefEOF           // the EOF after them
	stateRows
)

// A Response walks the packets of one answer. Its states:
//
//	head ──columns──► [defs] ──► [EOF] ──► rows ──► done, or head if more results
//	  │ └─prepared──► [params ──► [EOF]] ──► [defs ──► [EOF]] ──► done
//	  └─OK, error──► done, or head if more results follow an OK
//
// It reuses no memory of a past answer and allocates none. The zero Response is
// done.
type Response struct {
	caps  Capabilities
	shape Shape
	state respState
	left  int // definitions yet to come in this state

	// Columns is the number of columns of the current result, or of the
	// statement being prepared. Of rows that COM_STMT_FETCH brings it is 0:
	// their columns are those of the execution that opened the cursor.
	Columns int
	// Omitted says that the current result has no definitions: with
	// MariaDBCacheMetadata they are those that the server sent last for the
	// statement, when it was prepared or executed.
	Omitted bool
	// Prepared is the statement being prepared.
	Prepared Prepared
	// Binary: rows are in the binary protocol.
	Binary bool
	// Status are the flags of the last OK or EOF packet. KindErr leaves them.
	Status Status
	// Warnings is the count in the last OK or EOF packet.
	Warnings uint16
}

// Start begins the answer to cmd on a connection with capabilities caps. A
// command that has no answer is done at once; one that is refused or a login
// has no answer to walk, and Next says so.
func (r *Response) Start(cmd Command, caps Capabilities) {
	*r = Response{caps: caps, shape: cmd.Shape(), state: stateHead, Status: r.Status}
	switch r.shape {
	case ShapeNothing:
		r.state = stateDone
	case ShapeRows:
		r.state, r.Binary = stateRows, true
	case ShapeExecute:
		r.Binary = true
	case ShapeFields:
		r.state, r.left = stateDefs, MaxColumns
	}
}

// Done reports whether the answer is complete.
func (r *Response) Done() bool { return r.state == stateDone }

// Next begins the answer's next packet on c and says what it is. The packet is
// loaded, so c.Payload has it, but for KindRow, which c.Load loads. Whatever
// it is, c.CopyTo passes it on. It returns ErrMalformed for a packet that cannot
// stand where it stands.
func (r *Response) Next(c *Conn) (Kind, error) {
	size, first, err := c.Next()
	if err != nil {
		return 0, err
	}
	if r.state == stateRows && !(first >= eofHeader && (first == errHeader || r.endsRows(size))) {
		if size == 0 || r.Binary && first != binaryRowHeader {
			return 0, malformed("row")
		}
		return KindRow, nil
	}
	p, err := c.Load()
	if err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, malformed("answer")
	}
	if first == errHeader && r.state != stateDone {
		r.state = stateDone
		_, err := DecodeErr(p)
		return KindErr, err
	}
	switch r.state {
	case stateHead:
		return r.head(p)
	case stateParams, stateDefs:
		return r.definition(p)
	case stateDefEOF:
		return r.defsEnd(p)
	case stateRows:
		return KindRowsEnd, r.end(p)
	}
	return 0, fmt.Errorf("read answer: %w: packet after its end", ErrOutOfOrder)
}

// endsRows reports whether a packet of that size, whose first byte is
// eofHeader, ends rows. A text row can begin with that byte too, but only if
// its first value takes more than 2^24 bytes.
func (r *Response) endsRows(size int) bool {
	if r.caps.Has(DeprecateEOF) {
		return size < maxFragment
	}
	return size < maxEOF
}

func (r *Response) head(p []byte) (Kind, error) {
	switch r.shape {
	case ShapeString:
		r.state = stateDone
		return KindString, nil
	case ShapePrepare:
		return r.prepared(p)
	case ShapeOK:
		if p[0] != okHeader && p[0] != eofHeader {
			return 0, malformed("answer")
		}
		return KindOK, r.end(p)
	case ShapeResults, ShapeExecute:
	default:
		return 0, fmt.Errorf("read answer: %w", ErrUnsupported)
	}
	switch p[0] {
	case okHeader:
		return KindOK, r.end(p)
	case eofHeader: // COM_SET_OPTION and the like in a statement's place
		if len(p) < maxEOF {
			return KindOK, r.end(p)
		}
	case infileHeader:
		return KindInfile, nil // stays at head: OK or error follows
	}
	return KindColumns, r.columns(p)
}

// columns reads a column count, and with MariaDBCacheMetadata whether definitions
// follow. Only a prepared statement can do without.
func (r *Response) columns(p []byte) error {
	d := decoder{b: p}
	n, follow := d.lenenc(), byte(definitionsFollow)
	if r.caps.Has(MariaDBCacheMetadata) {
		follow = d.u8()
	}
	if err := d.end("column count"); err != nil || n == 0 || n > MaxColumns ||
		follow != definitionsFollow && (follow != definitionsOmitted || r.shape != ShapeExecute) {
		return malformed("column count")
	}
	r.Columns, r.left, r.state, r.Omitted = int(n), int(n), stateDefs, follow == definitionsOmitted
	switch {
	case !r.Omitted:
	case r.caps.Has(DeprecateEOF):
		r.afterDefs(false)
	default:
		r.left, r.state = 0, stateDefEOF
	}
	return nil
}

// What follows a column count with MariaDBCacheMetadata.
const (
	definitionsOmitted = 0
	definitionsFollow  = 1
)

// AppendColumnCount appends the payload of a column count to dst, for definitions
// that follow.
func AppendColumnCount(dst []byte, n int, caps Capabilities) []byte {
	dst = AppendLenenc(dst, uint64(n))
	if caps.Has(MariaDBCacheMetadata) {
		dst = append(dst, definitionsFollow)
	}
	return dst
}

func (r *Response) prepared(p []byte) (Kind, error) {
	s, err := DecodePrepared(p)
	if err != nil {
		return 0, err
	}
	r.Prepared, r.Columns, r.Warnings = s, int(s.Columns), s.Warnings
	r.left, r.state = int(s.Params), stateParams
	if r.left == 0 {
		r.startColumns()
	}
	return KindPrepared, nil
}

// startColumns goes on to a prepared statement's column definitions.
func (r *Response) startColumns() {
	r.left, r.state = r.Columns, stateDefs
	if r.left == 0 {
		r.state = stateDone
	}
}

func (r *Response) definition(p []byte) (Kind, error) {
	if r.shape == ShapeFields && p[0] == eofHeader {
		return KindDefsEnd, r.end(p)
	}
	if r.left == 0 || p[0] == eofHeader {
		return 0, malformed("column definition")
	}
	kind := KindColumn
	if r.state == stateParams {
		kind = KindParam
	}
	if r.left--; r.left > 0 || r.shape == ShapeFields {
		return kind, nil
	}
	if !r.caps.Has(DeprecateEOF) {
		if kind == KindParam {
			r.left = -1 // the EOF is the parameters'
		}
		r.state = stateDefEOF
		return kind, nil
	}
	r.afterDefs(kind == KindParam)
	return kind, nil
}

func (r *Response) defsEnd(p []byte) (Kind, error) {
	e, err := DecodeEOF(p)
	if err != nil {
		return 0, err
	}
	r.Status, r.Warnings = e.Status, e.Warnings
	r.afterDefs(r.left < 0)
	return KindDefsEnd, nil
}

// afterDefs is where definitions of parameters or columns lead to.
func (r *Response) afterDefs(params bool) {
	switch {
	case params:
		r.startColumns()
	case r.shape == ShapePrepare:
		r.state = stateDone
	case !r.caps.Has(DeprecateEOF) && r.Binary && r.Status.Has(StatusCursorExists):
		// The rows stay on the server, and this was the last EOF.
		r.more()
	default:
		r.state = stateRows
	}
}

// end reads the OK or EOF packet that ends a result.
func (r *Response) end(p []byte) error {
	if p[0] == eofHeader && len(p) < maxEOF && !(r.caps.Has(DeprecateEOF) && len(p) >= minOK) {
		e, err := DecodeEOF(p)
		if err != nil {
			return err
		}
		if r.state == stateRows && !r.caps.Has(DeprecateEOF) && r.Status.Has(StatusPSOutParams) {
			// MySQL says only before the row of a procedure's OUT parameters
			// that more follows.
			e.Status |= r.Status & (StatusPSOutParams | StatusMoreResults)
		}
		r.Status, r.Warnings = e.Status, e.Warnings
	} else {
		ok, err := DecodeOK(p, r.caps)
		if err != nil {
			return err
		}
		r.Status, r.Warnings = ok.Status, ok.Warnings
	}
	r.more()
	return nil
}

// minOK is the size of the smallest OK packet; an EOF packet has 5 bytes.
const minOK = 7

func (r *Response) more() {
	r.state = stateDone
	if r.Status.Has(StatusMoreResults) && r.shape != ShapeOK && r.shape != ShapeFields && r.shape != ShapePrepare {
		r.state, r.Columns, r.Omitted = stateHead, 0, false
	}
}
