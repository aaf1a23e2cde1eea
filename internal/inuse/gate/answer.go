package gate

import (
	"errors"
	"fmt"
	"math"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// errUnjudged means that rows came for a command that has none.
var errUnjudged = errors.New("the server sent rows nobody asked for")

// A plan says which columns of a result are encrypted.
type plan struct {
	types   []wire.Type     // as the server sent them
	cols    []int           // encrypted ones, ascending
	columns []*encdb.Column // by position, nil if in plain
	blocked []bool
	rules   map[string]policy.Level
}

func (pl *plan) reset() {
	*pl = plan{types: pl.types[:0], cols: pl.cols[:0], columns: pl.columns[:0], blocked: pl.blocked[:0]}
}

// An answer passes one answer of the server on to a restricted client.
type answer struct {
	*session
	v      verdict
	st     *stmt // being prepared or executed, or nil
	plan   plan
	fields []wire.Field
	out    []byte
	rows   int64
}

// pass sends a command to the server and its answer, as v says, to the client.
func (ss *session) pass(cmd wire.Command, p []byte, v verdict, st *stmt) error {
	if err := ss.server.WriteCommand(p); err != nil {
		return err
	}
	ss.resp.Start(cmd, ss.server.Caps)
	a := answer{session: ss, v: v, st: st}
	err := a.run()
	a.report()
	return err
}

// fetch passes the rows of a cursor.
func (ss *session) fetch(p []byte, st *stmt) error {
	if len(st.plan.types) == 0 {
		return ss.refuse(refuseStatement, st.v.class)
	}
	if err := ss.server.WriteCommand(p); err != nil {
		return err
	}
	ss.resp.Start(wire.ComStmtFetch, ss.server.Caps)
	a := answer{session: ss, v: st.v, plan: st.plan}
	err := a.run()
	a.report()
	return err
}

// report tells the audit log of ciphertext.
func (a *answer) report() {
	if a.rows == 0 || len(a.plan.cols) == 0 {
		return
	}
	for rule, l := range a.plan.rules {
		a.event(Event{Kind: "ciphertext", Rule: rule, Level: l.String(), Class: string(a.v.class), Columns: len(a.plan.cols), Rows: a.rows})
	}
}

func (a *answer) run() error {
	for !a.resp.Done() {
		kind, err := a.resp.Next(a.server)
		if err == nil {
			err = a.packet(kind)
		}
		if err != nil {
			return fmt.Errorf("pass answer: %w", err)
		}
	}
	if a.st != nil {
		a.st.plan = a.plan
	}
	return nil
}

func (a *answer) packet(kind wire.Kind) error {
	switch kind {
	case wire.KindRow:
		return a.row()
	case wire.KindColumn:
		return a.column()
	case wire.KindErr:
		return a.fault()
	case wire.KindOK, wire.KindDefsEnd, wire.KindRowsEnd:
		return a.end(kind)
	case wire.KindInfile:
		return errInfile
	case wire.KindPrepared:
		a.plan.reset()
		if a.st != nil {
			a.stmts[a.resp.Prepared.ID] = a.st
			a.last = a.resp.Prepared.ID
		}
		s := a.resp.Prepared
		if a.v.touches {
			s.Warnings = 0
		}
		return a.client.WritePacket(s.Append(a.out[:0]))
	case wire.KindColumns:
		a.plan.reset()
	}
	return a.server.CopyTo(a.client)
}

// begin renews keys that are too old.
func (a *answer) begin() error {
	cells, err := a.enc.Cells()
	if err != nil {
		return err
	}
	return cells.Begin()
}

// column decides about a column and passes its definition on.
func (a *answer) column() error {
	var c wire.Column
	if err := c.Decode(a.server.Payload(), a.server.Caps); err != nil {
		return err
	}
	i := len(a.plan.types)
	a.plan.types = append(a.plan.types, c.Type)
	if a.reader == nil { // nothing was judged, so nothing can have columns
		return errUnjudged
	}
	d, protected := a.reader.column(&c, &a.v, a.utf8)
	if !protected {
		a.plan.columns, a.plan.blocked = append(a.plan.columns, nil), append(a.plan.blocked, false)
		return a.server.CopyTo(a.client)
	}
	if len(a.plan.cols) == 0 {
		if err := a.begin(); err != nil {
			return err
		}
	}
	name := string(c.OrgName)
	if name == "" {
		name = string(c.Name)
	}
	unsigned := c.Flags&wire.FlagUnsigned != 0
	a.plan.cols = append(a.plan.cols, i)
	a.plan.columns = append(a.plan.columns, encdb.NewColumn(string(c.Schema), string(c.OrgTable), name, byte(c.Type), unsigned, c.Decimals))
	blocked := cellLevel(d) == policy.Blocked || !a.enc.Provisioned()
	a.plan.blocked = append(a.plan.blocked, blocked)
	if a.plan.rules == nil {
		a.plan.rules = map[string]policy.Level{}
	}
	a.plan.rules[d.Rule] = cellLevel(d)
	a.conceal(&c, blocked)
	a.out = c.Append(a.out[:0], a.client.Caps)
	return a.client.WritePacket(a.out)
}

// The attributes of an encrypted column's definition.
const (
	cipherCharset = 45 // utf8mb4_general_ci
	keptFlags     = wire.FlagNotNull | wire.FlagPrimaryKey | wire.FlagUniqueKey | wire.FlagMultipleKey
)

// conceal turns a column's definition into that of its cells. A client that
// agreed on layout 65 gets all of the definition but the type, which moves to
// the first filler byte, so that it can give the server's own back.
func (a *answer) conceal(c *wire.Column, blocked bool) {
	layout := a.enc.Layout()
	if !blocked {
		c.Filler[1] |= encdb.CipherMark
		if layout == encdb.Layout65 {
			c.Filler[0], c.Type = byte(c.Type), wire.TypeVarString
			return
		}
	}
	size := encdb.CellSize(layout, int(min(c.Length, encdb.MaxValue)))
	c.Length = uint32(min(max(int(c.Length), size), math.MaxUint32))
	c.Type, c.Charset, c.Extended = wire.TypeVarString, cipherCharset, nil
	c.Flags &= keptFlags
	if c.Decimals == 0x1f {
		c.Decimals = 0
	}
}

// row passes a row on, with its protected values encrypted.
func (a *answer) row() error {
	a.rows++
	if len(a.plan.cols) == 0 {
		return a.server.CopyTo(a.client)
	}
	p, err := a.server.Load()
	if err != nil {
		return err
	}
	if a.resp.Binary {
		a.fields, err = wire.DecodeBinaryRow(p, a.plan.types, a.fields)
	} else {
		a.fields, err = wire.DecodeTextRow(p, len(a.plan.types), a.fields)
	}
	if err != nil {
		return err
	}
	a.out, err = wire.ReplaceFields(a.out[:0], p, a.fields, a.plan.cols, a.cell)
	if err != nil {
		return err
	}
	a.srv.count.cells.Add(int64(len(a.plan.cols)))
	return a.client.WritePacket(a.out)
}

func (a *answer) cell(dst []byte, col int, value []byte) ([]byte, error) {
	sealer, err := a.enc.Blocked()
	if !a.plan.blocked[col] {
		sealer, err = a.enc.Cells()
	}
	if err != nil {
		return dst, err
	}
	return sealer.Append(dst, a.plan.columns[col], a.resp.Binary, value)
}

// end passes an OK or EOF packet on, without what tells of protected values.
func (a *answer) end(kind wire.Kind) error {
	p := a.server.Payload()
	if !a.v.touches {
		return a.server.CopyTo(a.client)
	}
	if kind != wire.KindOK && !a.server.Caps.Has(wire.DeprecateEOF) || len(p) < 7 {
		e, err := wire.DecodeEOF(p)
		if err != nil {
			return err
		}
		e.Warnings = 0
		return a.client.WritePacket(e.Append(nil))
	}
	ok, err := wire.DecodeOK(p, a.server.Caps)
	if err != nil {
		return err
	}
	ok.Warnings, ok.Info, ok.State = 0, nil, nil
	ok.Status &^= wire.StatusSessionChanged
	if a.v.class != classInsert {
		ok.InsertID = 0
	}
	a.out = ok.Append(a.out[:0], a.client.Caps)
	return a.client.WritePacket(a.out)
}

// plainFaults are the errors whose text holds nothing but parts of the
// statement and names.
var plainFaults = map[uint16]bool{
	1044: true, 1046: true, 1048: true, 1052: true, 1054: true, 1064: true, 1066: true, 1110: true, 1136: true, 1142: true, 1143: true,
	1146: true, 1205: true, 1213: true, 1241: true, 1242: true, 1317: true, 1364: true, 1290: true, 1792: true, 1969: true,
}

// fault passes an error on, without its text if that could hold values.
func (a *answer) fault() error {
	e, err := wire.DecodeErr(a.server.Payload())
	if err != nil {
		return err
	}
	if !a.v.touches || plainFaults[e.Code] {
		return a.server.CopyTo(a.client)
	}
	a.srv.count.redacted.Add(1)
	a.event(Event{Kind: "redacted", Rule: a.v.all.Rule, Class: string(a.v.class)})
	return a.client.WriteErr(e.Code, string(e.State), "the server's message is withheld: the statement touches protected columns")
}
