package lineage

import (
	"strings"
	"sync"

	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/sqlast"
	"github.com/veildb/veildb/internal/sql/token"
)

// An Account is what the rules of one account make of a catalog. It is safe for
// concurrent use.
//
// Labels spread from the columns the rules name to what holds the same values:
//
//	generated columns and defaults    of the same table, by the columns in them
//	foreign keys                      to both sides
//	views                             by analysis of what they are made of
//	engines that reach elsewhere      all columns are Derived
type Account struct {
	catalog *schema.Catalog
	rules   Rules
	// labels holds those of tables that have any, one for each column.
	labels   map[*schema.Table][]Labels
	routines map[string]bool        // stored functions, by name alone
	lost     map[*schema.Table]bool // views that are protected whole
	// summed: the server may keep sums of the rows of a table with labels.
	summed bool
	// stamped: when a table was changed last tells whether a write to a column
	// changed what was there, which the rules mind.
	stamped bool
	// numbered holds the folded names of tables whose next number tells of values
	// with labels.
	numbered map[string]bool
	// risky holds the tables whose triggers may copy protected values.
	risky map[*schema.Table]bool
	// checks holds what tells of protected values when others are written.
	checks map[*schema.Table][]check
	// keyed holds the columns that unique and foreign keys of tables with labels depend on.
	keyed map[*schema.Table][]int
	// referred holds the columns that others refer to and that do not change with them.
	referred map[*schema.Table][]reference

	relations sync.Map // *schema.Table → *relation
	viewing   sync.Mutex
}

// A relation is the columns of a table, found out once.
type relation struct {
	columns []column
	touched Labels // of a view: what it is made of
	implied Labels // of a view: what its conditions depend on, and the rules mind
}

// New makes an Account.
func New(catalog *schema.Catalog, rules Rules) *Account {
	x := &Account{catalog: catalog, rules: rules, labels: map[*schema.Table][]Labels{}, routines: map[string]bool{}, lost: map[*schema.Table]bool{}, risky: map[*schema.Table]bool{}, numbered: map[string]bool{}}
	if len(x.rules.List) == 0 {
		x.rules.List = []Rule{{Name: "(derived)"}}
	}
	for n, r := range catalog.Routines {
		if !r.Procedure {
			x.routines[n.Table] = true
		}
	}
	for _, t := range catalog.Tables {
		if t.Kind == schema.View {
			continue
		}
		for i := range t.Columns {
			x.add(t, i, x.named(t, i))
		}
		if t.Reaches() {
			x.all(t)
		}
	}
	for _, n := range rules.Lost {
		switch t := catalog.Table(n); {
		case t == nil:
		case t.Kind == schema.View:
			x.lost[t] = true
		default:
			x.all(t)
		}
	}
	for x.spread() {
	}
	x.sums()
	x.triggers()
	x.constraints()
	return x
}

// rowwise are the columns of information_schema.PARTITIONS that tell how many rows
// a partition has: which they are in may depend on protected values.
var rowwise = strings.Fields(`TABLE_ROWS AVG_ROW_LENGTH DATA_LENGTH INDEX_LENGTH DATA_FREE UPDATE_TIME CHECK_TIME CHECKSUM`)

// sums labels what descriptions tell of rows: sums of the rows of a table, which
// the server keeps for some engines, the rows of partitions, and the next number.
func (x *Account) sums() {
	var described []*schema.Table
	for _, t := range x.catalog.Tables {
		switch {
		case t.Kind == schema.System && index(t, "CHECKSUM") >= 0:
			described = append(described, t)
		case t.Kind == schema.Base && x.labels[t] != nil && !strings.EqualFold(t.Engine, "InnoDB"):
			x.summed = true
		}
		for i, l := range x.labels[t] {
			for _, r := range l {
				x.stamped = x.stamped || t.Kind == schema.Base && x.rules.List[r].Inference != Documented
			}
			if t.Columns[i].Numbered && len(l) > 0 {
				x.numbered[strings.ToLower(t.Table)] = true
			}
		}
	}
	for _, t := range described {
		if i := index(t, "AUTO_INCREMENT"); i >= 0 && len(x.numbered) > 0 {
			x.add(t, i, Labels{Derived})
		}
		if i := index(t, "UPDATE_TIME"); i >= 0 && x.stamped {
			x.add(t, i, Labels{Derived})
		}
		switch {
		case strings.EqualFold(t.Table, "PARTITIONS") && len(x.rules.List) > 1:
			for _, name := range rowwise {
				if i := index(t, name); i >= 0 {
					x.add(t, i, Labels{Derived})
				}
			}
		case x.summed:
			x.add(t, index(t, "CHECKSUM"), Labels{Derived})
		}
	}
}

// named returns the labels that rules give a column by its name.
func (x *Account) named(t *schema.Table, i int) Labels {
	return x.rules.Column(schema.Column{Database: t.Database, Table: t.Table, Column: t.Columns[i].Name})
}

// add adds labels to a column and reports whether that is new.
func (x *Account) add(t *schema.Table, i int, l Labels) bool {
	if len(l) == 0 {
		return false
	}
	have := x.labels[t]
	if have == nil {
		have = make([]Labels, len(t.Columns))
		x.labels[t] = have
	}
	if l.Within(have[i]) {
		return false
	}
	have[i] = have[i].Union(l)
	return true
}

// all labels all columns of a table.
func (x *Account) all(t *schema.Table) {
	for i := range t.Columns {
		x.add(t, i, Labels{Derived})
	}
}

// spread passes labels on by one step and reports whether any was new.
func (x *Account) spread() (changed bool) {
	for t := range x.labels {
		for i, c := range t.Columns {
			for _, e := range []string{c.Generated, c.Default} {
				if e != "" {
					changed = x.add(t, i, x.expression(t, e)) || changed
				}
			}
		}
	}
	for _, t := range x.catalog.Tables {
		for _, fk := range t.Foreign {
			changed = x.twins(t, fk) || changed
		}
	}
	return changed
}

// twins labels both ends of a foreign key alike.
func (x *Account) twins(t *schema.Table, fk schema.ForeignKey) (changed bool) {
	ref := x.catalog.Table(fk.Ref)
	if ref == nil || len(fk.Columns) != len(fk.RefColumns) {
		return false
	}
	for k := range fk.Columns {
		i, j := index(t, fk.Columns[k]), index(ref, fk.RefColumns[k])
		if i < 0 || j < 0 {
			continue
		}
		if l := x.labels[t]; l != nil {
			changed = x.add(ref, j, l[i]) || changed
		}
		if l := x.labels[ref]; l != nil {
			changed = x.add(t, i, l[j]) || changed
		}
	}
	return changed
}

// index finds a column, -1 if there is none.
func index(t *schema.Table, name string) int {
	for i := range t.Columns {
		if sameColumn(t.Columns[i].Name, name) == yes {
			return i
		}
	}
	return -1
}

// expression returns the labels of the columns in an expression of a table that
// has labels; all of them if it cannot be read.
func (x *Account) expression(t *schema.Table, text string) (l Labels) {
	labels := x.labels[t]
	var tokens token.Text
	if tokens.Scan([]byte(text), token.Mode{}) != nil {
		for _, c := range labels {
			l = l.Union(c)
		}
		return l
	}
	for i := range tokens.Tokens {
		if !tokens.IsName(i) {
			continue
		}
		for j := range t.Columns {
			if sameColumn(t.Columns[j].Name, tokens.Name(i)) != no {
				l = l.Union(labels[j])
			}
		}
	}
	return l
}

// triggers finds the tables whose triggers may copy protected values: those whose
// text names a table with labels or another such table, a column with labels of
// their own table, or calls what is not known.
func (x *Account) triggers() {
	var with []*schema.Table // those that have triggers
	for _, t := range x.catalog.Tables {
		if len(t.Triggers) > 0 {
			with = append(with, t)
		}
	}
	if len(with) == 0 {
		return
	}
	names := map[string]bool{} // whose mention is a risk
	for t := range x.labels {
		names[strings.ToLower(t.Table)] = true
	}
	for _, t := range x.catalog.Tables {
		if t.Kind == schema.View {
			names[strings.ToLower(t.Table)] = true
		}
	}
	for again := true; again; {
		again = false
		for _, t := range with {
			if !x.risky[t] && x.risk(t, names) {
				x.risky[t], names[strings.ToLower(t.Table)], again = true, true, true
			}
		}
	}
}

func (x *Account) risk(t *schema.Table, names map[string]bool) bool {
	if len(x.labels) == 0 {
		return false
	}
	for _, tr := range t.Triggers {
		var text token.Text
		// In which sql_mode it was made is not known: a backslash may mean either.
		if tr.Body == "" || strings.Contains(tr.Body, `\`) || text.Scan([]byte(tr.Body), token.Mode{}) != nil {
			return true
		}
		for i := range text.Tokens {
			name := mentioned(&text, i)
			folded := strings.ToLower(name)
			call := text.IsSymbol(i+1, "(") && functions[folded] == fnUnknown && !beforeParen[folded] && x.catalog.Table(schema.TableName{Database: t.Database, Table: name}) == nil
			if name != "" && (names[folded] || call || folded == "call" || folded == "prepare" || folded == "execute" || x.labelled(t, name)) {
				return true
			}
		}
	}
	return false
}

// mentioned returns the name that token i may be, also that in double quotes,
// which is one in some modes; "" for none.
func mentioned(t *token.Text, i int) string {
	if b := t.Bytes(i); t.Tokens[i].Kind == token.String && b[0] == '"' {
		return strings.ReplaceAll(string(b[1:len(b)-1]), `""`, `"`)
	}
	if t.IsName(i) {
		return t.Name(i)
	}
	return ""
}

// labelled reports whether a column of t that may have that name has labels.
func (x *Account) labelled(t *schema.Table, name string) bool {
	for i, l := range x.labels[t] {
		if len(l) > 0 && sameColumn(t.Columns[i].Name, name) != no {
			return true
		}
	}
	return false
}

// beforeParen lists the words an opening parenthesis may follow that does not
// begin the arguments of a function: keywords.
var beforeParen = words(`
all and any as between by case distinct div else elseif end escape except exists from having if in index intersect interval into is join key
like limit not offset on or over partition regexp return rlike select separator set some straight_join then union using until
value values when where while with xor against order collate binary unique for inner cross recursive update begin do loop
char varchar decimal numeric int bigint datetime timestamp`)

// columns returns the columns of a table, as the account may see them.
func (a *analysis) columns(t *schema.Table) []column {
	x := a.account
	if t.Kind == schema.Temporary { // a session's own: not kept
		return x.base(t)
	}
	if r, ok := x.relations.Load(t); ok {
		return a.related(r.(*relation))
	}
	if t.Kind != schema.View {
		r, _ := x.relations.LoadOrStore(t, &relation{columns: x.base(t)})
		return a.related(r.(*relation))
	}
	for v := a.view; v != nil; v = v.outer {
		if v.table == t { // a view of itself
			a.refuse(refuseTable)
			return nil
		}
	}
	if a.view == nil {
		x.viewing.Lock()
		defer x.viewing.Unlock()
	}
	r, ok := x.relations.Load(t)
	if !ok {
		r, _ = x.relations.LoadOrStore(t, x.view(t, a.view))
	}
	return a.related(r.(*relation))
}

func (a *analysis) related(r *relation) []column {
	a.note(r.touched)
	a.preds = a.preds.Union(r.implied)
	if a.view != nil {
		a.implied = a.implied.Union(r.implied)
	}
	return r.columns
}

// base makes the columns of a table that is no view.
func (x *Account) base(t *schema.Table) []column {
	out := make([]column, len(t.Columns))
	labels := x.labels[t]
	bases := make([]baseColumn, len(t.Columns))
	for i, c := range t.Columns {
		bases[i] = baseColumn{schema.Column{Database: t.Database, Table: t.Table, Column: c.Name}, c.Type, t}
		out[i] = column{name: c.Name, base: &bases[i], hidden: c.Invisible}
		if t.Kind == schema.Temporary {
			out[i].labels = x.named(t, i)
		} else if labels != nil {
			out[i].labels = labels[i]
		}
		out[i].node = &Node{Text: bases[i].String(), Labels: x.ruleNames(out[i].labels)}
	}
	for i, c := range t.Columns {
		out[i].tells = c.Generated != "" && len(out[i].labels) > 0 && x.generatedTells(t, c.Generated, out)
	}
	return out
}

// generatedTells reports whether the NULLs of a generated column may depend on
// protected values of the other columns.
func (x *Account) generatedTells(t *schema.Table, text string, columns []column) bool {
	mode := token.Mode{MariaDB: x.catalog.Server.MariaDB, Version: x.catalog.Server.Version}
	var tokens token.Text
	if tokens.Scan([]byte("SELECT "+text), mode) != nil {
		return true
	}
	stmt, err := sqlast.Parse(&tokens, mode)
	q, ok := stmt.(*sqlast.Select)
	if err != nil || !ok || len(q.Items) != 1 || q.Items[0].Expr == nil {
		return true
	}
	a := &analysis{account: x, catalog: x.catalog, fold: x.catalog.Names == schema.IgnoreCase, view: &viewing{t, nil}}
	v := a.value(q.Items[0].Expr, &scope{rel: newRel(&source{database: t.Database, name: t.Table, table: t, columns: columns})})
	return v.tells || a.refusal != nil
}

// A viewing is a view that is being analysed, and the one that names it.
type viewing struct {
	table *schema.Table
	outer *viewing
}

// view makes the columns of a view by analysing its text. One that cannot be
// judged is protected whole.
func (x *Account) view(t *schema.Table, outer *viewing) *relation {
	out := make([]column, len(t.Columns))
	a := &analysis{account: x, catalog: x.catalog, fold: x.catalog.Names == schema.IgnoreCase, session: Session{Database: t.Database}, view: &viewing{t, outer}}
	cols := a.viewed(t)
	unknown := a.refusal != nil || len(cols) != len(out)
	for i, c := range t.Columns {
		out[i] = column{name: c.Name}
		if unknown {
			out[i].labels = Labels{Derived}
		} else {
			out[i].labels, out[i].base, out[i].tells, out[i].node = cols[i].labels.Union(a.implied), cols[i].base, cols[i].tells, cols[i].node
		}
		out[i].labels = out[i].labels.Union(x.named(t, i))
		out[i].node = a.join("view "+t.String(), nil, out[i].node)
	}
	if x.lost[t] {
		for i := range out {
			out[i].labels = out[i].labels.Union(Labels{Derived})
		}
		a.touched = a.touched.Union(Labels{Derived})
	}
	if unknown {
		return &relation{out, Labels{Derived}, Labels{Derived}}
	}
	return &relation{out, a.touched, a.implied}
}

func (a *analysis) viewed(t *schema.Table) []column {
	var text token.Text
	mode := token.Mode{MariaDB: a.catalog.Server.MariaDB, Version: a.catalog.Server.Version}
	if t.Definition == "" || text.Scan([]byte(t.Definition), mode) != nil {
		a.refuse(refuseUnreadable)
		return nil
	}
	stmt, err := sqlast.Parse(&text, mode)
	q, ok := stmt.(sqlast.Query)
	if err != nil || !ok {
		a.refuse(refuseUnreadable)
		return nil
	}
	return a.query(q, nil)
}

func (x *Account) ruleNames(l Labels) (out []string) {
	for _, r := range l {
		out = append(out, x.rules.List[r].Name)
	}
	return out
}
