package lineage

import (
	"slices"

	"github.com/veildb/veildb/internal/sql/sqlast"
)

// query returns the columns of a query's result.
func (a *analysis) query(q sqlast.Query, outer *scope) []column {
	if a.refusal != nil {
		return nil
	}
	a.work++
	if a.depth++; a.depth > maxDepth || a.work > maxWork {
		a.depth--
		a.refuse(refuseForm)
		return nil
	}
	defer func() { a.depth-- }()
	h := q.Around()
	if h.Into != nil && a.depth > 1 {
		a.refuse(refuseForm)
	}
	sc := &scope{outer: outer}
	if outer != nil {
		sc.ctes = outer.ctes
	}
	if h.With != nil {
		sc.ctes = a.with(h.With, sc)
	}
	var out []column
	switch q := q.(type) {
	case *sqlast.Select:
		out = a.selects(q, sc)
	case *sqlast.SetOp:
		out = a.setOp(q, sc)
	case *sqlast.Rows:
		out = a.rows(q, sc)
	}
	for _, l := range h.Limit {
		if !constant(l) {
			a.refuse(refuseForm)
		}
	}
	if len(out) > maxColumns {
		a.refuse(refuseForm)
	}
	return out
}

// maxDepth is how deep queries may nest, maxWork how many are gone over, some
// of them several times.
const (
	maxDepth = 64
	maxWork  = 1 << 13
)

func (a *analysis) selects(q *sqlast.Select, sc *scope) []column {
	from := &scope{outer: sc.outer, ctes: sc.ctes}
	if q.From != nil {
		from.rel = a.from(q.From, sc, nil)
	}
	if a.refusal != nil || a.pending {
		return nil
	}
	wasOutput := a.output
	a.output = false
	if q.Where != nil {
		a.condition(q.Where, from)
	}
	a.output = wasOutput
	a.windows = append(a.windows, q.Windows)
	out := a.list(q.Items, from)
	a.output = false
	if q.Distinct {
		for i := range out { // of columns, it shows how many values there are
			if out[i].base == nil {
				a.use(useOther, out[i].labels)
			}
		}
	}
	for _, w := range q.Windows {
		a.use(useOther, a.windowParts(w, from))
	}
	a.group(q.Group, from, out)
	if q.Having != nil {
		from.results, from.direct = out, true
		a.whole(useOther, q.Having, from)
		from.results, from.direct = nil, false
	}
	a.order(q.Order, from, out)
	a.windows = a.windows[:len(a.windows)-1]
	a.output = wasOutput
	return out
}

// list returns the columns of a list of results.
func (a *analysis) list(items []sqlast.Item, from *scope) []column {
	wasOutput := a.output
	a.output = true
	out := make([]column, 0, len(items))
	for i := range items {
		it := &items[i]
		if it.Star {
			out = a.star(out, it, from)
			continue
		}
		from.results = out // queries inside see the names before
		v := a.value(it.Expr, from)
		from.results = nil
		c := column{name: given(it.Alias), labels: v.labels, base: v.base, tells: v.tells, src: v.src, node: v.node}
		if col, ok := it.Expr.(*sqlast.Column); ok && it.Alias == "" {
			c.name = col.Name
		} else {
			c.text, c.of = it.Alias == "", about(it.Expr)
		}
		out = append(out, c)
	}
	a.output = wasOutput
	return out
}

// about returns the name of the column that an expression is, with one or more
// operators or functions around it, "" if it is another.
func about(e sqlast.Expr) string {
	for {
		switch x := e.(type) {
		case *sqlast.Column:
			return x.Name
		case *sqlast.Call:
			if len(x.Args) != 1 {
				return ""
			}
			e = x.Args[0]
		default:
			return ""
		}
	}
}

// star adds the columns of * or t.* to out.
func (a *analysis) star(out []column, it *sqlast.Item, from *scope) []column {
	if from.rel == nil {
		a.refuse(refuseForm)
		return out
	}
	if it.Table == "" {
		for _, sc := range from.rel.star {
			out = append(out, *sc.column)
		}
		for i := range out {
			a.note(out[i].labels)
		}
		return out
	}
	n := 0
	for _, s := range from.rel.sources {
		if !a.names(s, it.Database, it.Table) {
			continue
		}
		n++
		for i := range s.columns {
			if !s.columns[i].hidden {
				out = append(out, s.columns[i])
				a.note(s.columns[i].labels)
			}
		}
	}
	if n != 1 {
		a.refuse(refuseTable)
	}
	return out
}

// setOp returns the union of what is in each column of the branches.
func (a *analysis) setOp(q *sqlast.SetOp, sc *scope) []column {
	var out []column
	known := false
	var branches [][]column
	for i := range q.Branches {
		cols := a.query(q.Branches[i].Query, sc)
		if a.refusal != nil {
			return nil
		}
		if a.pending && a.rounds {
			a.pending = false
			continue
		}
		branches = append(branches, cols)
		if !known {
			known = true
			out = append([]column(nil), cols...)
			if i > 0 { // the names are those of a branch not known yet
				for j := range out {
					out[j].name, out[j].text = "", false
				}
			}
			continue
		}
		if len(cols) != len(out) {
			a.refuse(refuseForm)
			return nil
		}
		for j := range cols {
			out[j].labels = out[j].labels.Union(cols[j].labels)
			out[j].base = nil
			out[j].tells = out[j].tells || cols[j].tells
			out[j].node = a.join("set operation", out[j].node, cols[j].node)
		}
	}
	if !known {
		a.pending = true
		return nil
	}
	if len(q.Branches) > 1 && !a.rounds {
		a.compareBranches(q, branches)
	}
	names := replaced(out)
	a.order(q.Order, &scope{outer: sc.outer, ctes: sc.ctes, rel: newRel(&source{columns: names})}, names)
	return out
}

// compareBranches judges that set operations compare rows: whether rows are
// there tells something of protected values.
func (a *analysis) compareBranches(q *sqlast.SetOp, branches [][]column) {
	use, compares := useGroup, false
	for _, b := range q.Branches[1:] {
		switch {
		case b.Op != sqlast.Union:
			use, compares = useJoin, true
		case !b.All:
			compares = true
		}
	}
	if !compares {
		return
	}
	for j := range branches[0] {
		var all Labels
		mixed, constants := false, 0
		for i, cols := range branches {
			all = all.Union(cols[j].labels)
			if cols[j].base == nil || len(cols[j].labels) == 0 {
				if constantColumn(q.Branches[i].Query, j) {
					constants++
				} else {
					mixed = true
				}
			}
		}
		switch {
		case len(all) == 0:
		case use == useJoin:
			a.use(useJoin, all)
		case mixed:
			a.use(useGroup, all)
		default:
			a.guess(constants)
			a.use(useDistinct, all)
		}
	}
}

// constantColumn reports whether column j of a query is a constant.
func constantColumn(q sqlast.Query, j int) bool {
	s, ok := q.(*sqlast.Select)
	return ok && j < len(s.Items) && !s.Items[j].Star && constant(s.Items[j].Expr)
}

func (a *analysis) rows(q *sqlast.Rows, sc *scope) []column {
	var out []column
	for i, row := range q.Rows {
		for j, e := range row {
			v := a.value(e, sc)
			if i == 0 {
				out = append(out, column{labels: v.labels, tells: v.tells, node: v.node})
			} else {
				out[j].labels = out[j].labels.Union(v.labels)
				out[j].tells = out[j].tells || v.tells
				out[j].node = a.join("rows", out[j].node, v.node)
			}
		}
	}
	a.order(q.Order, &scope{outer: sc.outer, ctes: sc.ctes, rel: newRel(&source{columns: out})}, out)
	return out
}

// with returns what is seen after a WITH.
func (a *analysis) with(w *sqlast.With, sc *scope) *ctes {
	visible := &ctes{outer: sc.ctes}
	inner := &scope{outer: sc.outer, ctes: visible}
	if w.Recursive {
		a.recursive(w, visible, inner)
		return visible
	}
	for _, c := range w.CTEs {
		cols := a.defined(c, inner)
		if a.refusal != nil || a.pending {
			return visible
		}
		visible.list = append(visible.list, &cte{c.Name, cols, true})
	}
	return visible
}

// defined returns the columns of a query of WITH.
func (a *analysis) defined(c *sqlast.CTE, inner *scope) []column {
	return replaced(a.titled(c.Query, c.Columns, inner))
}

// titled returns the columns of a query under the names that a list gives them, if
// there is one. Servers may give them those before they look what the ORDER BY of a
// set operation names: that may be any of the columns then.
func (a *analysis) titled(q sqlast.Query, names []string, sc *scope) []column {
	cols := a.query(q, sc)
	if names != nil && ordersByName(q) {
		for i := range cols {
			a.use(useOrder, cols[i].labels)
		}
	}
	return a.named(cols, names)
}

// ordersByName reports whether a set operation has an ORDER BY of more than
// positions.
func ordersByName(q sqlast.Query) bool {
	s, ok := q.(*sqlast.SetOp)
	return ok && (slices.ContainsFunc(s.Order, func(e sqlast.Expr) bool { return position(e) < 0 }) || ordersByName(s.Branches[0].Query))
}

// named gives columns other names.
func (a *analysis) named(cols []column, names []string) []column {
	if names == nil || a.refusal != nil || a.pending {
		return cols
	}
	if len(names) != len(cols) {
		a.refuse(refuseForm)
		return cols
	}
	cols = append([]column(nil), cols...)
	for i := range cols {
		cols[i].name, cols[i].text = names[i], false
	}
	return cols
}

// maxRounds is how often the queries of WITH RECURSIVE are gone over.
const maxRounds = 64

// recursive finds the columns of queries that may name each other: it goes over
// all of them until nothing new comes.
func (a *analysis) recursive(w *sqlast.With, visible *ctes, inner *scope) {
	for _, c := range w.CTEs {
		visible.list = append(visible.list, &cte{name: c.Name})
	}
	wasRounds := a.rounds
	a.rounds = true
	for round := 0; ; round++ {
		changed, known := false, 0
		for i, c := range w.CTEs {
			before := a.state
			cols := a.defined(c, inner)
			ref, pending := a.refusal, a.pending
			a.state = before
			if ref != nil {
				a.refusal = ref
				break
			}
			if pending {
				continue
			}
			known++
			changed = visible.list[i].learn(a, cols) || changed
		}
		if a.refusal != nil || !changed && known == len(w.CTEs) {
			break
		}
		if !changed || round == maxRounds {
			a.refuse(refuseForm)
			break
		}
	}
	a.rounds = wasRounds
	// Once more for what conditions and functions in them do.
	for _, c := range w.CTEs {
		a.defined(c, inner)
	}
}

// learn takes over the columns that were found for c and reports whether there
// was something new in them.
func (c *cte) learn(a *analysis, cols []column) (changed bool) {
	if !c.known {
		c.known, c.columns = true, append([]column(nil), cols...)
		for i := range c.columns {
			c.columns[i].base = nil
		}
		return true
	}
	if len(cols) != len(c.columns) {
		a.refuse(refuseForm)
		return false
	}
	for i := range cols {
		if !cols[i].labels.Within(c.columns[i].labels) {
			c.columns[i].labels = c.columns[i].labels.Union(cols[i].labels)
			c.columns[i].node = cols[i].node
			changed = true
		}
		if cols[i].tells && !c.columns[i].tells {
			c.columns[i].tells, changed = true, true
		}
		if c.columns[i].name != cols[i].name && c.columns[i].name == "" {
			c.columns[i].name = cols[i].name
			changed = true
		}
	}
	return changed
}
