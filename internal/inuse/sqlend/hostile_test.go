package sqlend

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/cells"
)

// liar is a driver whose every query gives the same rows and labels, right or
// wrong: a peer that is broken or hostile.
type liar struct {
	rows     [][]driver.Value
	labels   []cells.Label
	unmarked bool // rows do not say what is sealed
}

func (l *liar) Connect(context.Context) (driver.Conn, error) { return liarConn{l}, nil }
func (l *liar) Driver() driver.Driver                        { return nil }

type liarConn struct{ *liar }

func (c liarConn) protects()                           {}
func (c liarConn) Prepare(string) (driver.Stmt, error) { return liarStmt(c), nil }
func (c liarConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	return liarStmt(c), nil
}
func (c liarConn) Close() error              { return nil }
func (c liarConn) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }
func (c liarConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, errors.ErrUnsupported
}

type liarStmt struct{ *liar }

func (s liarStmt) Close() error                               { return nil }
func (s liarStmt) NumInput() int                              { return -1 }
func (s liarStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (s liarStmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.ErrUnsupported }
func (s liarStmt) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	return nil, errors.ErrUnsupported
}
func (s liarStmt) QueryContext(context.Context, []driver.NamedValue) (driver.Rows, error) {
	r := &liarRows{liar: s.liar}
	if s.unmarked {
		return struct{ driver.Rows }{r}, nil
	}
	return r, nil
}

type liarRows struct {
	*liar
	next int
}

func (r *liarRows) Columns() []string     { return make([]string, len(r.rows[0])) }
func (r *liarRows) Close() error          { return nil }
func (r *liarRows) Labels() []cells.Label { return r.labels }
func (r *liarRows) Plain() driver.Rows    { return r }
func (r *liarRows) Next(dest []driver.Value) error {
	if r.next == len(r.rows) {
		return io.EOF
	}
	copy(dest, r.rows[r.next])
	r.next++
	return nil
}

type testKey struct{ dek *secret.Bytes }

func (k testKey) Current() uint32                   { return 1 }
func (k testKey) DEK(uint32) (*secret.Bytes, error) { return k.dek, nil }

func newTestKey(t *testing.T, seed byte) testKey {
	t.Helper()
	dek, err := secret.From(bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dek.Close() })
	return testKey{dek}
}

// read runs a query to its end and returns all it gave.
func read(t *testing.T, c driver.Connector) (got []any, err error) {
	t.Helper()
	db := sql.OpenDB(c)
	defer db.Close()
	rows, err := db.Query("any")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return got, err
		}
		got = append(got, v)
	}
	return got, rows.Err()
}

func TestRevealHostile(t *testing.T) {
	key := newTestKey(t, 1)
	sealer, err := cells.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	ssn := cells.ColumnLabel(cells.Column{Table: "person", Column: "ssn"})
	note := cells.ColumnLabel(cells.Column{Table: "person", Column: "note"})
	cell, err := sealer.Append(nil, "canary", ssn)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(cell)
	bad[len(bad)-1] ^= 1
	only := func(v driver.Value) [][]driver.Value { return [][]driver.Value{{v}} }
	for name, c := range map[string]struct {
		peer *liar
		seed byte
		want error
		got  any
	}{
		"honest":               {&liar{rows: only(cell), labels: []cells.Label{ssn}}, 1, nil, "canary"},
		"null":                 {&liar{rows: only(nil), labels: []cells.Label{ssn}}, 1, nil, nil},
		"not sealed":           {&liar{rows: only(cell)}, 1, nil, cell},
		"altered":              {&liar{rows: only(bad), labels: []cells.Label{ssn}}, 1, cells.ErrTampered, nil},
		"cut":                  {&liar{rows: only(cell[:30]), labels: []cells.Label{ssn}}, 1, cells.ErrTampered, nil},
		"empty":                {&liar{rows: only([]byte{}), labels: []cells.Label{ssn}}, 1, cells.ErrTampered, nil},
		"plain string":         {&liar{rows: only("canary"), labels: []cells.Label{ssn}}, 1, cells.ErrTampered, nil},
		"plain number":         {&liar{rows: only(int64(7)), labels: []cells.Label{ssn}}, 1, cells.ErrTampered, nil},
		"cell as string":       {&liar{rows: only(string(cell)), labels: []cells.Label{ssn}}, 1, cells.ErrTampered, nil},
		"of another column":    {&liar{rows: only(cell), labels: []cells.Label{note}}, 1, cells.ErrTampered, nil},
		"under another key":    {&liar{rows: only(cell), labels: []cells.Label{ssn}}, 2, cells.ErrWrongKey, nil},
		"too few labels":       {&liar{rows: only(cell), labels: []cells.Label{}}, 1, ErrShape, nil},
		"too many labels":      {&liar{rows: only(cell), labels: []cells.Label{ssn, ssn}}, 1, ErrShape, nil},
		"rows without labels":  {&liar{rows: only(cell), unmarked: true}, 1, ErrNotProtecting, nil},
		"second row of a pair": {&liar{rows: [][]driver.Value{{cell}, {bad}}, labels: []cells.Label{ssn}}, 1, cells.ErrTampered, "canary"},
	} {
		r, err := Reveal(c.peer, cells.NewOpener(newTestKey(t, c.seed)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(t, r)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: value in error %v", name, err)
		}
		switch want := c.got.(type) {
		case nil:
			if len(got) > 0 && got[0] != nil || len(got) == 0 && c.want == nil {
				t.Errorf("%s: got %v", name, got)
			}
		case []byte:
			if b, ok := got[0].([]byte); !ok || !bytes.Equal(b, want) {
				t.Errorf("%s: got %v", name, got)
			}
		default:
			if len(got) != 1 || got[0] != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
	}
	if _, err := Reveal(nil, nil); err == nil {
		t.Error("Reveal takes nothing")
	}
}

// claims is an Engine that says what it is told to.
type claims struct {
	statement          Statement
	inspect, watch, re error
	version            uint64
	restless           bool // the schema changes all the time
}

func (c *claims) Inspect(context.Context, driver.Conn, string) (Statement, error) {
	return c.statement, c.inspect
}
func (c *claims) Flows(context.Context, driver.Conn, string) ([]Flow, error) { return nil, nil }
func (c *claims) Watch(context.Context, driver.Conn) (Watch, error)          { return c, c.watch }
func (c *claims) Recompiled(driver.Stmt) (int, error)                        { return 0, c.re }
func (c *claims) Close() error                                               { return nil }
func (c *claims) Version(context.Context) (uint64, error) {
	if c.restless {
		c.version++
	}
	return c.version, nil
}

// TestProtectHostile checks that a protecting end gives nothing when its
// engine cannot vouch for a statement or the rows are not as it said.
func TestProtectHostile(t *testing.T) {
	set, err := cells.NewSet("person.ssn")
	if err != nil {
		t.Fatal(err)
	}
	ssn := []cells.Column{{Table: "person", Column: "ssn"}}
	other := []cells.Column{{Table: "person", Column: "note"}}
	unknown := errors.New("not known")
	value := [][]driver.Value{{"canary"}}
	for name, c := range map[string]struct {
		engine *claims
		rows   [][]driver.Value
		want   error
		passes bool
	}{
		"unprotected":            {&claims{statement: Statement{other, other}}, value, nil, true},
		"unprotected beside":     {&claims{statement: Statement{other, ssn}}, value, nil, true},
		"protected":              {&claims{statement: Statement{ssn, ssn}}, value, nil, false},
		"protected, not read":    {&claims{statement: Statement{ssn, nil}}, value, nil, false},
		"expression":             {&claims{statement: Statement{make([]cells.Column, 1), ssn}}, value, nil, false},
		"expression over a star": {&claims{statement: Statement{make([]cells.Column, 1), []cells.Column{{Table: "person", Column: "*"}}}}, value, nil, false},
		"expression over others": {&claims{statement: Statement{make([]cells.Column, 1), other}}, value, nil, true},
		"not inspected":          {&claims{inspect: unknown}, value, unknown, false},
		"no watch":               {&claims{watch: unknown}, value, unknown, false},
		"no count":               {&claims{re: unknown, statement: Statement{other, other}}, value, unknown, false},
		"restless":               {&claims{restless: true, statement: Statement{other, other}}, value, ErrUnsettled, false},
		"too few columns":        {&claims{}, value, ErrShape, false},
		"too many columns":       {&claims{statement: Statement{append(other, other...), other}}, value, ErrShape, false},
		"type without cell":      {&claims{statement: Statement{ssn, ssn}}, [][]driver.Value{{[]string{"canary"}}}, cells.ErrUnknownType, false},
	} {
		key := newTestKey(t, 1)
		sealer, err := cells.NewSealer(key)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Protect(&liar{rows: c.rows}, Config{Engine: c.engine, Columns: set, Sealer: sealer})
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(t, p)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: value in error %v", name, err)
		}
		if passes := len(got) == 1 && got[0] == "canary"; passes != c.passes {
			t.Errorf("%s: passes %v, want %v", name, passes, c.passes)
		}
		if !c.passes && c.want == nil {
			cell, ok := got[0].([]byte)
			if !ok || bytes.Contains(cell, []byte("canary")) {
				t.Errorf("%s: got %v, want a cell", name, got)
			}
		}
		sealer.Close()
		if got, err := read(t, p); c.want == nil && !c.passes && !errors.Is(err, cells.ErrClosed) || len(got) > 0 && !c.passes {
			t.Errorf("%s, sealer closed: got %v, %v", name, got, err)
		}
	}
	if _, err := Protect(&liar{}, Config{}); err == nil {
		t.Error("Protect takes an empty Config")
	}
}

type plainConn struct{ driver.Conn }

type plainConnector struct{ liar }

func (c *plainConnector) Connect(context.Context) (driver.Conn, error) {
	return struct {
		contextConn
	}{liarConn{&c.liar}}, nil // hides protects
}

type oldConnector struct{ liar }

func (c *oldConnector) Connect(context.Context) (driver.Conn, error) {
	return plainConn{liarConn{&c.liar}}, nil // hides contexts
}

func TestRevealNeedsAProtectingEnd(t *testing.T) {
	for inner, want := range map[driver.Connector]error{&plainConnector{}: ErrNotProtecting, &oldConnector{}: errOldDriver} {
		r, err := Reveal(inner, cells.NewOpener(newTestKey(t, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, r); !errors.Is(err, want) {
			t.Errorf("%T: error %v, want %v", inner, err, want)
		}
	}
}

// TestRowsOpenTogether reads two results of one statement in turn: the second
// must not overwrite the row of the first.
func TestRowsOpenTogether(t *testing.T) {
	set, err := cells.NewSet("person.ssn")
	if err != nil {
		t.Fatal(err)
	}
	key := newTestKey(t, 1)
	sealer, err := cells.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	ssn := []cells.Column{{Table: "person", Column: "ssn"}}
	peer := &liar{rows: [][]driver.Value{{[]byte("first")}, {[]byte("second")}}}
	p, err := Protect(peer, Config{Engine: &claims{statement: Statement{ssn, ssn}}, Columns: set, Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Reveal(p, cells.NewOpener(key))
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []driver.Connector{p, r} {
		conn, err := end.Connect(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		stmt, err := conn.Prepare("any")
		if err != nil {
			t.Fatal(err)
		}
		var open [2]driver.Rows
		for i := range open {
			if open[i], err = stmt.(driver.StmtQueryContext).QueryContext(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		}
		first, other := make([]driver.Value, 1), make([]driver.Value, 1)
		if err := open[0].Next(first); err != nil {
			t.Fatal(err)
		}
		kept := bytes.Clone(first[0].([]byte))
		for range 2 {
			if err := open[1].Next(other); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first[0].([]byte), kept) {
			t.Errorf("%T: row overwritten", open[0])
		}
		if err := errors.Join(open[0].Close(), open[1].Close(), stmt.Close(), conn.Close()); err != nil {
			t.Error(err)
		}
	}
}
