package sidecar

import (
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// keepBuffer is the most a session keeps of a buffer between rows, in bytes.
const keepBuffer = 256 << 10

// An answer is the state of the one being relayed, and memory for the next.
type answer struct {
	cmd  wire.Command
	id   uint32 // of the statement the command is about
	resp wire.Response
	set  *resultSet // the result whose rows come
	// refused: an error has gone out in place of what is left of the answer,
	// which settle drops.
	refused bool
	infile  bool // the application is to send a file
	fresh   bool // nothing of the answer has been looked at

	defs  definitions
	col   wire.Column
	heads heads
	head  *head // being noted, or nil
	later bool  // a result has ended, and this is another
	// sets are the columns of the prepared statements that have cells, as the
	// application knows them; kept where the server leaves definitions out.
	sets wire.Stmts[resultSet]

	// What came before the first row is held back until it is known that all
	// of it can go to the application: payloads, one after the other.
	held []byte
	ends []int

	fields []wire.Field
	row    []byte
}

// A resultSet is the columns of a result.
type resultSet struct {
	in    []wire.Type
	cells []*definition // nil for a column without cells
	cols  []int         // the columns with cells
	kept  bool          // for cursors or results to come: never changes again
}

// columns begins the columns of a result.
func (a *answer) columns() {
	if r := a.set; r == nil || r.kept {
		a.set = &resultSet{}
	} else {
		r.in, r.cells, r.cols = r.in[:0], r.cells[:0], r.cols[:0]
	}
}

func (a *answer) done() bool { return a.refused || a.resp.Done() }

// A cellError ends the statement, not the connection.
type cellError struct{ err error }

func (e *cellError) Error() string { return e.err.Error() }
func (e *cellError) Unwrap() error { return e.err }

// relay passes the answer to cmd on, with its cells opened.
func (s *Session) relay(cmd wire.Command, id uint32) error {
	a := &s.answer
	s.expect(cmd, id)
	if err := s.skipHead(); err != nil {
		return err
	}
	for !a.done() {
		if err := s.step(); err != nil {
			return err
		}
		if a.infile {
			a.infile = false
			if _, err := wire.RelayInfile(s.client, s.server); err != nil {
				return err
			}
		}
	}
	return s.settle()
}

// expect begins the answer to a command that goes to the server. Then come
// skipHead, once, step, until the answer is done, and settle.
func (s *Session) expect(cmd wire.Command, id uint32) {
	a := &s.answer
	a.cmd, a.id = cmd, id
	a.resp.Start(cmd, s.server.Caps)
	a.held, a.ends = a.held[:0], a.ends[:0]
	a.refused, a.infile, a.fresh, a.later, a.head = false, false, true, false, nil
	switch cmd {
	case wire.ComStmtFetch:
		a.set = s.cursors[id]
	case wire.ComFieldList: // its columns come without their number
		a.columns()
	}
}

// skipHead passes over the column definitions if they are those of the last time.
func (s *Session) skipHead() error {
	a := &s.answer
	a.fresh = false
	h := a.heads.find(a.cmd, a.id)
	if h == nil || h.set == nil {
		return nil
	}
	same, err := a.resp.SkipHead(s.server, s.client, &h.head)
	if same {
		a.set = h.set
		s.remember(a.id)
	}
	return err
}

// step passes the next packet of an answer on.
func (s *Session) step() error {
	a := &s.answer
	if err := s.packet(); err != nil {
		return s.refuse(err)
	}
	if a.resp.Done() {
		return s.release()
	}
	return nil
}

// refuse sends err in place of what is left of the answer, if it is of the kind
// that ends no more than the statement.
func (s *Session) refuse(err error) error {
	var cell *cellError
	if !errors.As(err, &cell) {
		return err
	}
	a := &s.answer
	a.refused, a.held, a.ends = true, a.held[:0], a.ends[:0]
	return s.client.WriteErr(wire.CodeUnknown, StateCell, "veildb: "+cell.Error())
}

// settle ends an answer: what is left of one that was refused is dropped.
func (s *Session) settle() error {
	a := &s.answer
	if a.cmd == wire.ComStmtFetch {
		a.set = nil
	}
	if !a.refused {
		return nil
	}
	a.refused = false
	if err := wire.DropResponse(&a.resp, s.server); err != nil {
		return err
	}
	if a.cmd == wire.ComStmtPrepare { // the application has no name for it
		id := a.resp.Prepared.ID
		return s.server.WriteCommand([]byte{byte(wire.ComStmtClose), byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
	}
	return nil
}

func (s *Session) packet() error {
	a := &s.answer
	kind, err := a.resp.Next(s.server)
	if err != nil {
		return err
	}
	switch kind {
	case wire.KindColumns, wire.KindPrepared:
		if a.columns(); a.resp.Omitted {
			return s.recall()
		}
		if kind == wire.KindPrepared {
			s.last = a.resp.Prepared.ID
		} else if s.server.Sequence() == 2 {
			a.head = a.heads.renew(a.cmd, a.id)
		} else {
			a.head = nil
		}
		a.hold(s.server.Payload(), s.server.Payload())
		return nil
	case wire.KindColumn:
		return s.define(s.server.Payload())
	case wire.KindParam, wire.KindDefsEnd:
		a.hold(s.server.Payload(), nil)
		if a.cmd == wire.ComStmtExecute && a.resp.Done() && len(a.set.cols) > 0 {
			s.keepCursor(a.id)
		}
		return nil
	}
	if err := s.release(); err != nil {
		return err
	}
	if kind == wire.KindRow && a.set != nil && len(a.set.cols) > 0 {
		return s.openRow()
	}
	if kind == wire.KindRowsEnd && a.cmd == wire.ComStmtExecute && a.resp.Status.Has(wire.StatusCursorExists) && len(a.set.cols) > 0 {
		s.keepCursor(a.id)
	}
	a.infile = kind == wire.KindInfile
	a.later = a.later || kind == wire.KindOK || kind == wire.KindRowsEnd
	return s.server.CopyTo(s.client)
}

// unknown are the columns of a statement whose definitions could not go on.
var unknown = &resultSet{kept: true}

// none are columns without cells.
var none = &resultSet{kept: true}

// remember takes note of the columns of a prepared statement.
func (s *Session) remember(id uint32) {
	a := &s.answer
	if a.later || !s.server.Caps.Has(wire.MariaDBCacheMetadata) || a.cmd != wire.ComStmtPrepare && a.cmd != wire.ComStmtExecute {
		return
	}
	if len(a.set.cols) == 0 {
		a.sets.Drop(id)
		return
	}
	a.set.kept = true
	a.sets.Put(id, a.set)
}

// recall makes ready for rows whose definitions the server has left out: they are
// those that came last for the statement. What a procedure shows has definitions,
// and of its last result nothing is known.
func (s *Session) recall() error {
	a := &s.answer
	a.set = none
	if !a.later {
		if known := a.sets.Get(a.id); known != nil {
			a.set = known
		}
	}
	if a.set == unknown {
		return &cellError{fmt.Errorf("read columns: %w", ErrNoKey)}
	}
	if a.set != none && len(a.set.in) != a.resp.Columns {
		return wire.ErrMalformed
	}
	a.hold(s.server.Payload(), nil)
	return nil
}

// keepCursor remembers the columns of the rows that COM_STMT_FETCH will bring.
func (s *Session) keepCursor(id uint32) {
	if s.cursors == nil {
		s.cursors = map[uint32]*resultSet{}
	}
	s.answer.set.kept = true
	s.cursors[id] = s.answer.set
}

// hold holds back a packet that came with payload in; out is what it is to the
// application, nil if that is the same and no part of a head.
func (a *answer) hold(in, out []byte) {
	if out == nil {
		out = in
	} else if a.head != nil {
		a.head.head.Add(in, out)
	}
	a.held = append(a.held, out...)
	a.ends = append(a.ends, len(a.held))
}

// release sends what is held back.
func (s *Session) release() error {
	a := &s.answer
	at := 0
	for _, end := range a.ends {
		if err := s.client.WritePacket(a.held[at:end]); err != nil {
			return err
		}
		at = end
	}
	a.held, a.ends = a.held[:0], a.ends[:0]
	return nil
}

// define takes a column definition: one of cells goes to the application as the
// column it was before they were sealed.
func (s *Session) define(payload []byte) error {
	a := &s.answer
	if err := a.col.Decode(payload, s.server.Caps); err != nil {
		return err
	}
	out := payload
	marked := a.col.Filler[1]&encdb.CipherMark != 0
	var def *definition
	switch {
	case marked && s.opener == nil:
		if !a.later && a.cmd == wire.ComStmtExecute {
			a.sets.Put(a.id, unknown)
		}
		return &cellError{fmt.Errorf("read column %s.%s: %w", a.col.Table, a.col.Name, ErrNoKey)}
	case marked, !s.marked && isString(a.col.Type):
		own := marked && encdb.Own(s.keys.Layout())
		def = a.defs.find(payload, &a.col, own, s.server.Caps)
		out = def.payload
		a.set.cols = append(a.set.cols, len(a.set.in))
	}
	a.set.in = append(a.set.in, a.col.Type)
	a.set.cells = append(a.set.cells, def)
	a.hold(payload, out)
	if len(a.set.in) < a.resp.Columns {
		return nil
	}
	if a.head != nil {
		a.head.complete(a.set)
		a.head = nil
	}
	if a.cmd == wire.ComStmtPrepare {
		s.remember(a.resp.Prepared.ID)
	} else {
		s.remember(a.id)
	}
	return nil
}

// openRow passes a row on with its cells opened.
func (s *Session) openRow() error {
	a := &s.answer
	p, err := s.server.Load()
	if err != nil {
		return err
	}
	if a.resp.Binary {
		a.fields, err = wire.DecodeBinaryRow(p, a.set.in, a.fields)
	} else {
		a.fields, err = wire.DecodeTextRow(p, len(a.set.in), a.fields)
	}
	if err != nil {
		return err
	}
	row, at := keep(a.row), uint32(0)
	for _, i := range a.set.cols {
		f := a.fields[i]
		if f.Null {
			continue
		}
		row = append(row, p[at:f.Start]...)
		at = f.End
		if row, err = s.open(row, a.set.cells[i], f.Value(p)); err != nil {
			return &cellError{fmt.Errorf("read column %s: %w", a.set.cells[i].name, err)}
		}
	}
	a.row = append(row, p[at:]...)
	return s.client.WritePacket(a.row)
}

// open appends the value of a cell to row, with its length where the column's
// type has one.
func (s *Session) open(row []byte, def *definition, text []byte) ([]byte, error) {
	a := &s.answer
	mark := len(row)
	lengthy := !a.resp.Binary || !def.typ.Fixed()
	if lengthy {
		row = append(row, 0)
	}
	at := len(row)
	tagged := a.defs.tag != "" && !def.strict
	if tagged {
		row = append(row, 0)
	}
	typ, out, err := s.opener.OpenValue(row, def.cells, a.resp.Binary, text)
	switch {
	case !s.marked && errors.Is(err, encdb.ErrNotCell):
		typ, out = encdb.TypeVarString, append(row, text...)
	case err != nil:
		return nil, err
	}
	if tagged {
		out[at] = typ
	}
	if lengthy {
		out = wire.SetLength(out, mark)
	}
	return out, nil
}

// keep empties a buffer for reuse; one that grew large is let go.
func keep(b []byte) []byte {
	if b == nil || cap(b) > keepBuffer {
		return make([]byte, 0, 512)
	}
	return b[:0]
}
