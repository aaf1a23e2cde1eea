package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/lineage"
)

// An Explanation is what an account would get for a statement.
type Explanation struct {
	Level   string            `json:"level"` // the account's strictest under any rule
	Allowed bool              `json:"allowed"`
	Rule    string            `json:"rule,omitempty"` // the gate's reason to refuse
	Reason  string            `json:"reason,omitempty"`
	Class   string            `json:"class,omitempty"`
	Touches bool              `json:"touches"` // names a table that holds protected columns
	Columns []ExplainedColumn `json:"columns,omitempty"`
	Tree    *lineage.Node     `json:"tree,omitempty"` // where values come from and go to
}

// An ExplainedColumn is a column of the statement's result.
type ExplainedColumn struct {
	Name   string `json:"name"`
	Source string `json:"source,omitempty"` // base column, as far as the server says
	Level  string `json:"level"`            // what the account gets
	Rule   string `json:"rule,omitempty"`
}

// ErrStatement means the server could not prepare a statement to be explained.
var ErrStatement = errors.New("the server cannot prepare the statement")

// Explain tells what an account, a user and the address it comes from, would
// get for a statement in a session with default settings. The statement is
// prepared with the service account and not run.
func Explain(ctx context.Context, b *Backend, view *policy.View, database string, sql []byte) (*Explanation, error) {
	c, err := b.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	e := &Explanation{Level: view.Least().String(), Allowed: true}
	cat, err := ReadCatalog(c)
	if err != nil {
		return nil, err
	}
	if database != "" {
		if err := wire.RunQuery(c, "USE `"+escapeName(database)+"`", nil); err != nil {
			return nil, fmt.Errorf("use database: %w", err)
		}
	}
	r := &reader{access: newAccess(cat, view, nil), tables: new(temporaries)}
	if err := queryStrings(c, settingsQuery, func(v []string) {
		mode, _, _ := readSettings(v)
		r.set(mode, database)
	}); err != nil {
		return nil, err
	}
	if view.Least() == policy.Full {
		return e, e.prepare(c, r, verdict{nil, sql})
	}
	v := r.explain(sql)
	e.Class, e.Touches, e.Tree = string(v.Class), v.touches, v.Tree
	switch {
	case v.refusal != nil:
		e.Allowed, e.Rule, e.Reason = false, v.refusal.Rule, v.refusal.Reason
		return e, nil
	case cat.Blind != "":
		e.Allowed, e.Rule, e.Reason = false, refuseCatalog.Rule, refuseCatalog.Reason
		return e, nil
	}
	return e, e.prepare(c, r, v)
}

// explain is judge with a tree.
func (r *reader) explain(sql []byte) verdict {
	if err := r.text.Scan(sql, r.mode); err != nil {
		return verdict{refused(refuseLex.Rule, refuseLex.Reason+": "+err.Error()), nil}
	}
	r.text.Trim()
	return verdict{r.analyse(true), r.text.SQL}
}

func escapeName(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if out = append(out, s[i]); s[i] == '`' {
			out = append(out, '`')
		}
	}
	return string(out)
}

// prepare learns the columns from the server.
func (e *Explanation) prepare(c *wire.Conn, r *reader, v verdict) error {
	if err := c.WriteCommand(append([]byte{byte(wire.ComStmtPrepare)}, v.sql...)); err != nil {
		return err
	}
	var resp wire.Response
	resp.Start(wire.ComStmtPrepare, c.Caps)
	for !resp.Done() {
		kind, err := resp.Next(c)
		if err != nil {
			return err
		}
		switch kind {
		case wire.KindErr:
			f, err := wire.DecodeErr(c.Payload())
			if err != nil {
				return err
			}
			return fmt.Errorf("%w: error %d", ErrStatement, f.Code)
		case wire.KindColumn:
			var col wire.Column
			if err := col.Decode(c.Payload(), c.Caps); err != nil {
				return err
			}
			x, err := explainColumn(r, v.judgement, len(e.Columns), &col)
			if err != nil {
				return err
			}
			e.Columns = append(e.Columns, x)
		}
	}
	return nil
}

func explainColumn(r *reader, j *judgement, i int, col *wire.Column) (ExplainedColumn, error) {
	x := ExplainedColumn{Name: string(col.Name), Level: policy.Full.String()}
	if len(col.OrgName) > 0 {
		x.Source = string(col.Schema) + "." + string(col.OrgTable) + "." + string(col.OrgName)
	}
	if j == nil {
		return x, nil
	}
	d, err := r.column(i, col, j, true)
	if d.Protected() {
		x.Level, x.Rule = cellLevel(d).String(), d.Rule
	}
	return x, err
}
