package lineage

import (
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
)

// writable finds a table that is to be written to, and refuses views, sequences,
// descriptions, and tables whose triggers for the events may copy protected
// values.
func (a *analysis) writable(n *sqlast.TableName, v *Verdict, events ...string) *schema.Table {
	t := a.find(n)
	if t == nil {
		return nil
	}
	a.written(t, v, events...)
	return t
}

func (a *analysis) written(t *schema.Table, v *Verdict, events ...string) {
	switch t.Kind {
	case schema.View:
		a.refuse(refuseView)
	case schema.Base, schema.Temporary:
	default:
		a.refuse(refuseTable)
	}
	if a.account.risky[t] {
		for _, tr := range t.Triggers {
			if slices.ContainsFunc(events, func(e string) bool { return strings.EqualFold(e, tr.Event) }) {
				a.refuse(refuseTrigger)
			}
		}
	}
	v.Writes = append(v.Writes, t.TableName)
}

// sink judges that a value goes to a column.
func (a *analysis) sink(l Labels, tells bool, to *column) {
	if !l.Within(to.labels) {
		a.refuse(refuseSink)
	}
	if tells && len(a.minded(l)) > 0 {
		a.refuse(refuseNull)
	}
}

// target returns the rel of one table that is written to.
func (a *analysis) target(t *schema.Table, n *sqlast.TableName) *rel {
	s := &source{database: t.Database, name: n.Table, table: t, columns: a.columns(t)}
	if n.Alias != "" {
		s.name = n.Alias
	}
	a.narrows(n, s)
	return newRel(s)
}

func (a *analysis) insert(s *sqlast.Insert, v *Verdict) {
	events := []string{"INSERT"}
	if s.Replace {
		events = append(events, "DELETE")
	}
	if s.OnDuplicate != nil {
		events = append(events, "UPDATE")
	}
	t := a.writable(s.Table, v, events...)
	if t == nil || a.refusal != nil {
		return
	}
	r := a.target(t, s.Table)
	to := a.insertColumns(s, r)
	sc := &scope{rel: r}
	var given []flow
	for _, row := range s.Rows {
		if len(row) == 0 && s.Columns == nil {
			continue // VALUES (): defaults
		}
		if len(row) != len(to) {
			a.refuse(refuseForm)
			return
		}
		for i, e := range row {
			if _, ok := e.(*sqlast.Constant); !ok {
				v := a.value(e, sc)
				a.sink(v.labels, v.tells, to[i])
				given = append(given, flow{to[i], v, e})
			}
		}
	}
	also := &rel{}
	if s.Query != nil {
		cols := a.query(s.Query, nil)
		if a.refusal != nil {
			return
		}
		if len(cols) != len(to) {
			a.refuse(refuseForm)
			return
		}
		for i := range cols {
			a.sink(cols[i].labels, cols[i].tells, to[i])
			given = append(given, flow{to[i], value{labels: cols[i].labels, base: cols[i].base}, nil})
		}
		also = a.selected(s)
	}
	if s.Alias != "" {
		also = a.inserted(s, to)
	}
	set := a.assign(s.OnDuplicate, &scope{rel: cross(r, also)}, r.sources)
	v.Compares = a.changes(set, r.sources, s.Ignore)
	a.inserts(given, to, r.sources[0])
	set = a.fromRow(set, given, s)
	a.updates(set, r.sources)
	if s.Replace || s.Ignore || s.OnDuplicate != nil {
		a.conflicts(given, r.sources, s.Ignore)
	}
	if s.Ignore {
		a.conflicts(set, r.sources, true)
	}
	for i := range r.sources[0].columns {
		// A row that is replaced by one like it does not count.
		v.Compares = v.Compares || s.Replace && len(a.minded(r.sources[0].columns[i].labels)) > 0
	}
	if s.Returning != nil {
		a.outputs(a.list(s.Returning, sc), v)
	}
}

// inserted returns the row that ON DUPLICATE KEY UPDATE can name of what is inserted.
func (a *analysis) inserted(s *sqlast.Insert, to []*column) *rel {
	row := &source{name: s.Alias}
	for _, c := range to {
		row.columns = append(row.columns, column{name: c.name, labels: c.labels, node: c.node})
	}
	row.columns = a.named(row.columns, s.AliasOf)
	return newRel(row)
}

// selected returns the tables that ON DUPLICATE KEY UPDATE can name of the query
// whose rows are inserted.
func (a *analysis) selected(s *sqlast.Insert) *rel {
	q, ok := s.Query.(*sqlast.Select)
	if s.OnDuplicate == nil || !ok || q.From == nil {
		return &rel{}
	}
	sc := &scope{}
	if q.With != nil {
		sc.ctes = a.with(q.With, sc)
	}
	return a.from(q.From, sc, nil)
}

// insertColumns returns the columns that INSERT gives values, in its order.
func (a *analysis) insertColumns(s *sqlast.Insert, r *rel) (to []*column) {
	if s.Columns == nil {
		for _, c := range r.star {
			to = append(to, c.column)
		}
		return to
	}
	for _, name := range s.Columns {
		to = append(to, a.assigned(&sqlast.Column{Name: name}, r.sources))
	}
	return to
}

// assigned finds the column that is written to. The column is one of a table.
func (a *analysis) assigned(c *sqlast.Column, sources []*source) *column {
	var out *column
	for _, s := range sources {
		if c.Table != "" && !a.names(s, c.Database, c.Table) {
			continue
		}
		for i := range s.columns {
			switch m := sameColumn(s.columns[i].name, c.Name); {
			case m == perhaps, m == yes && out != nil:
				a.refuse(refuseColumn)
			case m == yes:
				out = &s.columns[i]
			}
		}
	}
	if out == nil {
		a.refuse(refuseColumn)
		return &column{}
	}
	return out
}

// A flow is a value that a column is given, by an expression or a query.
type flow struct {
	to *column
	value
	expr sqlast.Expr // nil for a query
}

// assign judges assignments to columns of sources.
func (a *analysis) assign(list []sqlast.Assignment, sc *scope, sources []*source) (set []flow) {
	for _, as := range list {
		c := a.assigned(as.Column, sources)
		v := a.value(as.Expr, sc)
		a.sink(v.labels, v.tells, c)
		set = append(set, flow{c, v, as.Expr})
	}
	return set
}

func (a *analysis) update(s *sqlast.Update, v *Verdict) {
	sc := &scope{}
	if s.With != nil {
		sc.ctes = a.with(s.With, sc)
	}
	sc.rel = a.from(s.From, &scope{ctes: sc.ctes}, nil)
	if a.refusal != nil {
		return
	}
	set := a.assign(s.Set, sc, sc.rel.sources)
	v.Compares = a.changes(set, sc.rel.sources, s.Ignore)
	a.updates(set, sc.rel.sources)
	if s.Ignore {
		a.conflicts(set, sc.rel.sources, true)
	}
	for _, f := range set {
		for _, src := range sc.rel.sources {
			if !src.has(f.to) {
				continue
			}
			if src.table == nil {
				a.refuse(refuseView)
				return
			}
			a.written(src.table, v, "UPDATE")
		}
	}
	a.rest(s.Where, s.Order, s.Limit, sc)
}

// changes judges what assignments to columns tell by whether a row was changed,
// and reports whether the rules mind that. ignore is as in conflicts.
func (a *analysis) changes(set []flow, sources []*source, ignore bool) (minded bool) {
	for _, f := range set {
		c := f.to
		if len(a.minded(c.labels)) == 0 {
			continue
		}
		minded = true
		for _, s := range sources {
			switch {
			case !s.has(c) || !s.stamped(set) && !a.refers(s, c, ignore):
			case constant(f.expr):
				a.guess(1)
				a.use(useEqual, c.labels)
			case a.moves(f.expr, c):
			default:
				a.refuse(refuseStamp)
			}
		}
	}
	return minded
}

// refers reports whether rows of other tables show that the value of c, a column of
// s, is changed: they lose their reference to it, or keep the row from being changed.
func (a *analysis) refers(s *source, c *column, ignore bool) bool {
	return slices.ContainsFunc(a.account.referred[s.table], func(r reference) bool {
		return r.column < len(s.columns) && c == &s.columns[r.column] && (r.orphans || ignore)
	})
}

// stamped reports whether the server sets a column of s when a row is changed:
// one that set does not have.
func (s *source) stamped(set []flow) bool {
	if s.table == nil {
		return false
	}
	for i, c := range s.table.Columns {
		if c.Stamped && i < len(s.columns) && !slices.ContainsFunc(set, func(f flow) bool { return f.to == &s.columns[i] }) {
			return true
		}
	}
	return false
}

// moves reports whether an expression is a column with an exact number added: it
// changes all values, or none.
func (a *analysis) moves(e sqlast.Expr, c *column) bool {
	call, ok := e.(*sqlast.Call)
	if !ok || !call.Operator || len(call.Args) != 2 || call.Name != "plus" && call.Name != "minus" || !constant(call.Args[1]) || c.base == nil {
		return false
	}
	kind := strings.ToLower(c.base.kind)
	col, ok := call.Args[0].(*sqlast.Column)
	return ok && sameColumn(col.Name, c.name) == yes && (strings.Contains(kind, "int") || strings.HasPrefix(kind, "decimal"))
}

// has reports whether c is one of s's columns.
func (s *source) has(c *column) bool {
	for i := range s.columns {
		if c == &s.columns[i] {
			return true
		}
	}
	return false
}

// rest judges what UPDATE and DELETE have in common.
func (a *analysis) rest(where sqlast.Expr, order, limit []sqlast.Expr, sc *scope) {
	if where != nil {
		a.condition(where, sc)
	}
	a.order(order, sc, nil)
	for _, l := range limit {
		if !constant(l) {
			a.refuse(refuseForm)
		}
	}
}

func (a *analysis) deletes(s *sqlast.Delete, v *Verdict) {
	sc := &scope{}
	if s.With != nil {
		sc.ctes = a.with(s.With, sc)
	}
	sc.rel = a.from(s.From, &scope{ctes: sc.ctes}, nil)
	if a.refusal != nil {
		return
	}
	for _, src := range sc.rel.sources {
		hit := s.Targets == nil
		for _, n := range s.Targets {
			hit = hit || a.names(src, n.Database, n.Table)
		}
		switch {
		case hit && src.table == nil:
			a.refuse(refuseView)
		case hit:
			a.written(src.table, v, "DELETE")
		}
	}
	if len(v.Writes) == 0 {
		a.refuse(refuseTable)
	}
	a.rest(s.Where, s.Order, s.Limit, sc)
	if s.Returning != nil {
		a.outputs(a.list(s.Returning, sc), v)
	}
}

func (a *analysis) truncate(s *sqlast.Truncate, v *Verdict) {
	if t := a.writable(s.Table, v); t != nil && a.account.labels[t] != nil {
		a.refuse(refuseDefine)
	}
}

// create judges CREATE TABLE: plain columns, and rows without labels.
func (a *analysis) create(s *sqlast.CreateTable, v *Verdict) {
	n := schema.TableName{Database: s.Table.Database, Table: s.Table.Table}
	if n.Database == "" {
		n.Database = a.session.Database
	}
	t := &schema.Table{TableName: n, Kind: schema.Base, Engine: s.Engine}
	if s.Engine == "" {
		t.Engine = "InnoDB"
	}
	if n.Database == "" || systemSchema(strings.ToLower(n.Database)) || t.Reaches() {
		a.refuse(refuseDefine)
		return
	}
	for _, c := range s.Columns {
		if c.Generated != nil && !a.ownColumns(c.Generated) {
			a.refuse(refuseDefine)
		}
		t.Columns = append(t.Columns, schema.TableColumn{Name: c.Name, Type: c.Type, Nullable: c.Nullable})
	}
	for _, e := range s.Checks {
		if !a.ownColumns(e) {
			a.refuse(refuseDefine)
		}
	}
	for _, f := range s.Foreign {
		a.reference(f, t)
	}
	if s.Like != nil {
		like := a.find(s.Like)
		if like == nil || like.Kind != schema.Base && like.Kind != schema.Temporary || a.account.labels[like] != nil || like.Reaches() {
			a.refuse(refuseDefine)
			return
		}
		t.Engine, t.Columns = like.Engine, like.Columns
	}
	if s.Query != nil {
		for _, c := range a.query(s.Query, nil) {
			if len(c.labels) > 0 {
				a.refuse(refuseSink)
			}
			if c.name == "" {
				a.refuse(refuseForm) // not known what the server calls it
			}
			if t.Column(c.name) == nil {
				t.Columns = append(t.Columns, schema.TableColumn{Name: c.name, Nullable: true})
			}
		}
	}
	if s.Temporary {
		if s.Query != nil && s.Columns != nil {
			a.refuse(refuseForm) // how the server orders the columns of both
		}
		t.Kind = schema.Temporary
		v.Temporary = t
	}
	if there := a.catalog.Table(n); s.IfNotExists && there != nil && (s.Query != nil || s.Temporary) {
		a.refuse(refuseDefine)
	}
	v.Writes = append(v.Writes, n)
}

// reference judges a foreign key of the table t, which is to be made: the columns it
// refers to have no labels, or writes to t would tell of them.
func (a *analysis) reference(f sqlast.Reference, t *schema.Table) {
	n := schema.TableName{Database: f.Table.Database, Table: f.Table.Table}
	if n.Database == "" {
		n.Database = t.Database
	}
	ref := a.catalog.Table(n)
	switch {
	case ref == nil && a.catalog.Key(n) == a.catalog.Key(t.TableName): // to itself
		return
	case ref == nil || ref.Kind != schema.Base:
		a.refuse(refuseTable)
		return
	}
	labels := a.account.labels[ref]
	if labels != nil && len(f.Columns) == 0 {
		a.refuse(refuseDefine) // to which columns
	}
	for _, name := range f.Columns {
		if i := index(ref, name); i < 0 || labels != nil && len(labels[i]) > 0 {
			a.refuse(refuseDefine)
		}
	}
}

// ownColumns reports whether an expression has nothing but functions of columns
// without tables.
func (a *analysis) ownColumns(e sqlast.Expr) bool {
	switch e := e.(type) {
	case *sqlast.Column:
		return e.Table == ""
	case *sqlast.Constant:
		return true
	case *sqlast.Call:
		if !e.Operator {
			a.function(e)
		}
		for _, arg := range e.Args {
			if !a.ownColumns(arg) {
				return false
			}
		}
		return e.Over == nil && e.Order == nil
	}
	return false
}

// drop judges DROP TEMPORARY TABLE.
func (a *analysis) drop(s *sqlast.DropTable, v *Verdict) {
	if len(s.Tables) != 1 {
		a.refuse(refuseForm)
		return
	}
	n := schema.TableName{Database: s.Tables[0].Database, Table: s.Tables[0].Table}
	if n.Database == "" {
		n.Database = a.session.Database
	}
	v.Dropped = &n
	v.Writes = append(v.Writes, n)
}
