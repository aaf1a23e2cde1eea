package gate

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/lineage"
	"github.com/veildb/veildb/internal/sql/token"
)

// errUnjudged means that rows came for a command that has none.
var errUnjudged = errors.New("the server sent rows nobody asked for")

// A plan says which columns of a result are encrypted. It never changes once all
// definitions have come.
type plan struct {
	types   []wire.Type     // as the server sent them
	cols    []int           // encrypted ones, ascending
	columns []*encdb.Column // by position, nil if in plain
	blocked []bool
	rules   map[string]policy.Level
}

// An answer passes one answer of the server on to a restricted client.
type answer struct {
	*session
	v     verdict
	st    *stmt  // being prepared or executed, or nil
	plan  *plan  // nil before definitions
	shape *shape // being noted, or nil
	rows  int64
	tally tally // of such results
	later bool  // a result has ended, and this is another
	// failed: the server answered with an error.
	failed bool

	cells, dummies *encdb.Sealer // of plan, once needed

	col    wire.Column
	fields []wire.Field
	out    []byte
}

// keepAnswer is the most a session keeps of a buffer between answers, in bytes.
const keepAnswer = 4 << 10

// pass sends a command to the server and its answer, as v says, to the client.
func (ss *session) pass(cmd wire.Command, p []byte, v verdict, st *stmt) error {
	return ss.send(cmd, p, v, st, nil)
}

// fetch passes the rows of a cursor. They come as its client was told, or, if rules
// of now have it otherwise, not any more.
func (ss *session) fetch(p []byte, st *stmt) error {
	if st.plan != nil && st.rules != ss.rules.Number {
		was := st.v.outputs
		if ref := ss.rejudge(st); ref != nil || !slices.Equal(was, st.v.outputs) {
			st.plan = nil
		}
		st.rules = ss.rules.Number
	}
	if st.plan == nil || len(st.plan.types) == 0 {
		return ss.refuse(refuseStatement, st.v.Class)
	}
	return ss.send(wire.ComStmtFetch, p, st.v, nil, st.plan)
}

func (ss *session) send(cmd wire.Command, p []byte, v verdict, st *stmt, pl *plan) error {
	if err := ss.server.WriteCommand(p); err != nil {
		return err
	}
	ss.resp.Start(cmd, ss.server.Caps)
	if ss.answer == nil {
		ss.answer = &answer{session: ss}
	}
	a := ss.answer
	a.v, a.st, a.plan, a.shape, a.rows, a.cells, a.dummies, a.failed, a.later = v, st, pl, nil, 0, nil, nil, false, false
	err := a.run()
	a.report()
	return err
}

// forget lets memory go that a command has taken more of than most will: the
// session may be idle for long.
func (ss *session) forget() {
	if r := ss.reader; r != nil && len(r.text.SQL) > keepAnswer {
		r.text, r.key = token.Text{}, nil
	}
	if a := ss.answer; a != nil {
		a.v, a.st, a.plan = verdict{}, nil, nil
		if cap(a.out) > keepAnswer {
			a.out = nil
		}
		if cap(a.fields) > keepAnswer/16 {
			a.fields = nil
		}
	}
}

// report tells the audit log of ciphertext.
func (a *answer) report() {
	if a.rows == 0 || a.plan == nil || len(a.plan.cols) == 0 {
		return
	}
	if a.tally.add(a) {
		a.srv.settle(a.id)
	}
}

func (a *answer) run() error {
	if err := a.recognise(); err != nil {
		return fmt.Errorf("pass answer: %w", err)
	}
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
		a.st.plan, a.st.rules = a.plan, a.session.rules.Number // of a cursor
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
		// Of RETURNING the server tells only with the rows.
		if n := int(a.resp.Prepared.Columns); n != len(a.v.outputs) && n > 0 && a.v.Class != lineage.ClassShow {
			return errNumber
		}
		a.plan = &plan{}
		if a.st != nil {
			a.notePrepared()
			a.st.params = int(a.resp.Prepared.Params)
			a.stmts.Put(a.resp.Prepared.ID, a.st)
			a.last = a.resp.Prepared.ID
		}
		s := a.resp.Prepared
		if a.v.touches {
			s.Warnings = 0
		}
		return a.client.WritePacket(s.Append(a.out[:0]))
	case wire.KindColumns:
		if a.resp.Columns != len(a.v.outputs) && a.v.Class != lineage.ClassShow {
			return errNumber
		}
		if a.resp.Omitted {
			return a.recall()
		}
		a.plan = &plan{}
		if a.note(); a.shape != nil {
			a.shape.head.Add(a.server.Payload(), a.server.Payload())
		}
	}
	return a.server.CopyTo(a.client)
}

// begin makes ready to encrypt: keys that are too old are renewed.
func (a *answer) begin() (err error) {
	if len(a.plan.cols) == 0 {
		return nil
	}
	if a.cells, err = a.enc.Cells(); err == nil {
		err = a.cells.Begin()
	}
	for _, blocked := range a.plan.blocked {
		if err == nil && blocked && a.dummies == nil {
			a.dummies, err = a.enc.Blocked()
		}
	}
	return err
}

// column decides about a column and passes its definition on.
func (a *answer) column() error {
	out, err := a.define(a.server.Payload(), a.utf8)
	if err != nil {
		return err
	}
	if a.shape != nil {
		a.shape.head.Add(a.server.Payload(), out)
		a.noted()
	}
	if len(a.plan.types) == a.resp.Columns {
		if err := a.begin(); err != nil {
			return err
		}
		if err := a.confirm(); err != nil {
			return err
		}
	}
	return a.client.WritePacket(out)
}

// define decides about the next column of plan, whose definition the server gave,
// and returns the definition for the client. utf8 says that names in it are UTF-8.
func (a *answer) define(payload []byte, utf8 bool) (out []byte, err error) {
	c, pl := &a.col, a.plan
	if err := c.Decode(payload, a.server.Caps); err != nil {
		return nil, err
	}
	if a.reader == nil || pl == nil { // nothing was judged, so nothing can have columns
		return nil, errUnjudged
	}
	i := len(pl.types)
	d, err := a.reader.column(i, c, a.v.judgement, utf8)
	if err != nil {
		return nil, err
	}
	if i >= a.v.loose && a.omits() {
		if d, err = a.v.beyond(d, i); err != nil {
			return nil, err
		}
	}
	if d.Protected() {
		return a.protect(c, d), nil
	}
	pl.columns, pl.blocked = append(pl.columns, nil), append(pl.blocked, false)
	pl.types = append(pl.types, c.Type)
	return payload, nil
}

// protect makes a column one of cells and returns its definition.
func (a *answer) protect(c *wire.Column, d policy.Decision) []byte {
	pl := a.plan
	name := string(c.OrgName)
	if name == "" {
		name = string(c.Name)
	}
	unsigned := c.Flags&wire.FlagUnsigned != 0
	pl.cols = append(pl.cols, len(pl.types))
	pl.types = append(pl.types, c.Type)
	pl.columns = append(pl.columns, encdb.NewColumn(string(c.Schema), string(c.OrgTable), name, byte(c.Type), unsigned, c.Decimals))
	blocked := cellLevel(d) == policy.Blocked || !a.enc.Provisioned()
	pl.blocked = append(pl.blocked, blocked)
	if pl.rules == nil {
		pl.rules = map[string]policy.Level{}
	}
	pl.rules[d.Rule] = cellLevel(d)
	a.conceal(c, blocked)
	a.out = c.Append(a.out[:0], a.client.Caps)
	return a.out
}

// The attributes of an encrypted column's definition.
const (
	cipherCharset = 45 // utf8mb4_general_ci
	keptFlags     = wire.FlagNotNull | wire.FlagPrimaryKey | wire.FlagUniqueKey | wire.FlagMultipleKey
)

// conceal turns a column's definition into that of its cells. A client that
// agreed on an own layout gets all of the definition but the type, which moves to
// the first filler byte, so that it can give the server's own back.
func (a *answer) conceal(c *wire.Column, blocked bool) {
	layout := a.enc.Layout()
	if !blocked {
		c.Filler[1] |= encdb.CipherMark
		if encdb.Own(layout) {
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
	if a.plan == nil || len(a.plan.types) == 0 {
		return errUnjudged
	}
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
	if err := a.seal(p); err != nil {
		return err
	}
	a.srv.count.cells.Add(int64(len(a.plan.cols)))
	return a.client.WritePacket(a.out)
}

// seal writes row p, whose values are at fields, to out. NULL stays NULL. The
// same for both protocols: a cell is a string with its length.
func (a *answer) seal(p []byte) (err error) {
	out, at := a.out[:0], uint32(0)
	for _, i := range a.plan.cols {
		f := a.fields[i]
		if f.Null {
			continue
		}
		out = append(out, p[at:f.Start]...)
		at = f.End
		sealer, mark := a.cells, len(out)
		if a.plan.blocked[i] {
			sealer = a.dummies
		}
		if out, err = sealer.Append(append(out, 0), a.plan.columns[i], a.resp.Binary, f.Value(p)); err != nil {
			return err
		}
		out = wire.SetLength(out, mark)
	}
	a.out = append(out, p[at:]...)
	return nil
}

// end passes an OK or EOF packet on, without what tells of protected values.
func (a *answer) end(kind wire.Kind) error {
	a.later = a.later || kind != wire.KindDefsEnd
	p := a.server.Payload()
	if !a.v.touches || a.silent(kind, p) {
		return a.server.CopyTo(a.client)
	}
	if kind != wire.KindOK && !a.server.Caps.Has(wire.DeprecateEOF) || len(p) < 7 {
		e, err := wire.DecodeEOF(p)
		if err != nil {
			return err
		}
		e.Warnings = 0
		a.out = e.Append(a.out[:0])
		return a.client.WritePacket(a.out)
	}
	ok, err := wire.DecodeOK(p, a.server.Caps)
	if err != nil {
		return err
	}
	info := ok.Info
	ok.Warnings, ok.Info, ok.State = 0, nil, nil
	ok.Status &^= wire.StatusSessionChanged
	if a.v.Class != lineage.ClassInsert || a.v.Numbers {
		ok.InsertID = 0
	}
	if a.v.Compares && kind == wire.KindOK {
		a.uncount(&ok, info)
	}
	a.out = ok.Append(a.out[:0], a.client.Caps)
	return a.client.WritePacket(a.out)
}

// silentEnd is the OK packet that ends rows, but for its status.
var silentEnd = [...]byte{0xfe, 0, 0}

// silent reports whether the end of rows says nothing but the session's status.
func (a *answer) silent(kind wire.Kind, p []byte) bool {
	const size = 7
	return kind == wire.KindRowsEnd && len(p) == size && a.server.Caps.Has(wire.DeprecateEOF) &&
		[len(silentEnd)]byte(p) == silentEnd && p[5] == 0 && p[6] == 0 && !a.resp.Status.Has(wire.StatusSessionChanged)
}

// uncount hides how many rows were changed, and not only matched: it tells whether
// they held already what was written. In their place come the rows matched, or
// given to INSERT and REPLACE, which the server's text begins with in any
// language; one row given has no text.
func (a *answer) uncount(ok *wire.OK, info []byte) {
	if len(info) > 0 || ok.AffectedRows != 1 || a.v.Effects {
		ok.InsertID = 0 // of a row that was there it comes only if that was changed
	}
	ok.AffectedRows = 1
	if len(info) == 0 {
		return
	}
	digits := func(c rune) bool { return '0' <= c && c <= '9' }
	first := info[max(bytes.IndexFunc(info, digits), 0):]
	if i := bytes.IndexFunc(first, func(c rune) bool { return !digits(c) }); i >= 0 {
		first = first[:i]
	}
	n, err := strconv.ParseUint(string(first), 10, 64)
	if err != nil {
		n = 0
	}
	ok.AffectedRows = n
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
	a.failed = true
	if !a.v.touches || plainFaults[e.Code] {
		return a.server.CopyTo(a.client)
	}
	a.srv.count.redacted.Add(1)
	a.event(Event{Kind: "redacted", Rule: a.v.all.Rule, Class: string(a.v.Class)})
	return a.client.WriteErr(e.Code, string(e.State), "the server's message is withheld: the statement touches protected columns"+keyName(e))
}

// keyName is what may be told of a duplicate key: its name, which the server
// puts last.
func keyName(e wire.Err) string {
	const before = " for key '"
	at := bytes.LastIndex(e.Message, []byte(before))
	if e.Code != 1062 || at < 0 || !bytes.HasSuffix(e.Message, []byte("'")) {
		return ""
	}
	return string(e.Message[at:])
}

// confirm makes sure that no definitions have changed between the judging of a
// statement and its running: the server had its tables open when it sent what
// has come now. If they have, the statement is judged once more.
func (a *answer) confirm() error {
	if a.asked == a.backend.asked.Load() {
		return nil
	}
	before := a.reader
	if ref := a.prepareReader(); ref != nil {
		return errChanged
	}
	if a.reader == before {
		return nil
	}
	sql := a.v.sql
	if a.st != nil {
		sql = a.st.sql
		a.reader.set(a.st.mode, a.st.db)
	}
	now := a.reader.judge(sql).judgement
	if now.refusal != nil || !slices.Equal(now.outputs, a.v.outputs) {
		return errChanged
	}
	return nil
}
