package sidecar

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// keepBuffer is the most a session keeps of a buffer between rows, in bytes.
const keepBuffer = 256 << 10

// An answer is the state of the one being relayed, and memory for the next.
type answer struct {
	resp wire.Response
	defs definitions
	col  wire.Column
	set  *resultSet // the result whose rows come

	// What came before the first row is held back until it is known that all
	// of it can go to the application: payloads, one after the other.
	held []byte
	ends []int

	fields []wire.Field
	values [][]byte
	plain  []byte
	arena  []byte
	row    []byte
}

// A resultSet is the columns of a result.
type resultSet struct {
	in, out []wire.Type
	cells   []*definition // nil for a column without cells
	any     bool
}

func (r *resultSet) reset() {
	r.in, r.out, r.cells, r.any = r.in[:0], r.out[:0], r.cells[:0], false
}

// A cellError ends the statement, not the connection.
type cellError struct{ err error }

func (e *cellError) Error() string { return e.err.Error() }
func (e *cellError) Unwrap() error { return e.err }

// relay passes the answer to cmd on, with its cells opened.
func (s *Session) relay(cmd wire.Command, id uint32) error {
	a := &s.answer
	a.resp.Start(cmd, s.server.Caps)
	a.held, a.ends = a.held[:0], a.ends[:0]
	if cmd == wire.ComStmtFetch {
		a.set = s.cursors[id]
	} else if a.set == nil {
		a.set = &resultSet{}
	}
	for !a.resp.Done() {
		if err := s.packet(cmd, id); err != nil {
			return s.fail(cmd, err)
		}
	}
	if cmd == wire.ComStmtFetch {
		a.set = nil
	}
	return s.release()
}

// packet passes the next packet of an answer on.
func (s *Session) packet(cmd wire.Command, id uint32) error {
	a := &s.answer
	kind, err := a.resp.Next(s.server)
	if err != nil {
		return err
	}
	switch kind {
	case wire.KindColumns, wire.KindPrepared:
		a.set.reset()
		if kind == wire.KindPrepared {
			s.last = a.resp.Prepared.ID
		}
		a.hold(s.server.Payload())
		return nil
	case wire.KindColumn:
		return s.define(s.server.Payload())
	case wire.KindParam, wire.KindDefsEnd:
		a.hold(s.server.Payload())
		if cmd == wire.ComStmtExecute && a.resp.Done() && a.set.any {
			s.keepCursor(id)
		}
		return nil
	}
	if err := s.release(); err != nil {
		return err
	}
	if kind == wire.KindRow && a.set != nil && a.set.any {
		return s.openRow()
	}
	if kind == wire.KindRowsEnd && cmd == wire.ComStmtExecute && a.resp.Status.Has(wire.StatusCursorExists) && a.set.any {
		s.keepCursor(id)
	}
	if err := s.server.CopyTo(s.client); err != nil {
		return err
	}
	if kind == wire.KindInfile {
		_, err = wire.RelayInfile(s.client, s.server)
	}
	return err
}

// keepCursor remembers the columns of the rows that COM_STMT_FETCH will bring.
func (s *Session) keepCursor(id uint32) {
	if s.cursors == nil {
		s.cursors = map[uint32]*resultSet{}
	}
	s.cursors[id] = s.answer.set
	s.answer.set = &resultSet{}
}

func (a *answer) hold(payload []byte) {
	a.held = append(a.held, payload...)
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
	marked := a.col.Filler[1]&encdb.CipherMark != 0
	var def *definition
	switch {
	case marked && s.opener == nil:
		return &cellError{fmt.Errorf("read column %s.%s: %w", a.col.Table, a.col.Name, ErrNoKey)}
	case marked, !s.marked && isString(a.col.Type):
		own := marked && s.keys.Layout() == encdb.Layout65
		def = a.defs.find(payload, &a.col, own, s.server.Caps)
		payload = def.payload
	}
	a.set.in = append(a.set.in, a.col.Type)
	a.set.out = append(a.set.out, a.col.Type)
	a.set.cells = append(a.set.cells, def)
	if def != nil {
		a.set.any = true
		a.set.out[len(a.set.out)-1] = def.typ
	}
	a.hold(payload)
	return nil
}

// fail ends the answer with err in place of what would follow, if it is of the
// kind that ends no more than the statement.
func (s *Session) fail(cmd wire.Command, err error) error {
	var cell *cellError
	if !errors.As(err, &cell) {
		return err
	}
	a := &s.answer
	a.held, a.ends = a.held[:0], a.ends[:0]
	if err := s.client.WriteErr(wire.CodeUnknown, StateCell, "veildb: "+cell.Error()); err != nil {
		return err
	}
	if err := wire.DropResponse(&a.resp, s.server); err != nil {
		return err
	}
	if cmd == wire.ComStmtFetch {
		a.set = nil
	}
	if cmd == wire.ComStmtPrepare { // the application has no name for it
		id := a.resp.Prepared.ID
		return s.server.WriteCommand([]byte{byte(wire.ComStmtClose), byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
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
	a.values, a.arena = a.values[:0], keep(a.arena)
	for i, f := range a.fields {
		v := f.Value(p)
		if def := a.set.cells[i]; def != nil && v != nil {
			if v, err = s.open(def, v); err != nil {
				return &cellError{fmt.Errorf("read column %s: %w", def.name, err)}
			}
		}
		a.values = append(a.values, v)
	}
	if a.resp.Binary {
		a.row = wire.AppendBinaryRow(keep(a.row), a.set.out, a.values...)
	} else {
		a.row = wire.AppendTextRow(keep(a.row), a.values...)
	}
	return s.client.WritePacket(a.row)
}

// open returns the value of a cell, in memory of the arena.
func (s *Session) open(def *definition, text []byte) ([]byte, error) {
	a := &s.answer
	start := len(a.arena)
	typ, plain, err := s.opener.Open(keep(a.plain), def.cells, a.resp.Binary, text)
	guessed := !s.marked && errors.Is(err, encdb.ErrNotCell)
	switch {
	case guessed:
		typ = encdb.TypeVarString
	case err != nil:
		return nil, err
	case def.strict && (typ != def.cells.Type() || def.signs && isUnsigned(text) != def.cells.Unsigned()):
		return nil, encdb.ErrTampered
	}
	if a.defs.tag != "" && !def.strict {
		a.arena = append(a.arena, typ)
	}
	if guessed {
		a.arena = append(a.arena, text...)
		return a.arena[start:len(a.arena):len(a.arena)], nil
	}
	a.plain = plain
	out, err := encdb.Restore(a.arena, def.cells, a.resp.Binary, typ, plain)
	if err != nil {
		return nil, err
	}
	a.arena = out
	return out[start:len(out):len(out)], nil
}

// isUnsigned reports the flag UNSIGNED of a cell of Layout65 that has opened, so
// that nobody has changed it. Definitions are not authenticated: one that lies
// about it must not turn 255 into -1.
func isUnsigned(text []byte) bool {
	const flags = 4 // place in the cell, whose second group of three bytes holds it
	var group [3]byte
	_, err := base64.StdEncoding.Decode(group[:], text[flags/3*4:flags/3*4+4])
	return err == nil && group[flags%3]&1 != 0
}

// keep empties a buffer for reuse; one that grew large is let go.
func keep(b []byte) []byte {
	if b == nil || cap(b) > keepBuffer {
		return make([]byte, 0, 512)
	}
	return b[:0]
}
