package lineage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A generator makes random queries over the tables of the twins. Some are
// invalid.
type generator struct {
	r      *rand.Rand
	ctes   []named
	levels [][]named // what FROM offers, innermost last
	n      int       // for names
	plain  bool      // no window functions: DISTINCT makes them unsteady
}

// A named is a table in FROM, or a query of WITH.
type named struct {
	name    string
	columns []string
}

var offered = []named{
	{"t1", []string{"id", "a", "b", "s", "n"}}, {"t2", []string{"c", "id", "b", "n"}}, {"t3", []string{"a", "d", "c", "id", "hid"}},
	{"w", []string{"s", "k"}}, {"v1", []string{"id", "z", "b"}}, {"v2", []string{"id", "a", "q"}}, {"v3", []string{"id", "b", "n", "c"}},
}

func (g *generator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func (g *generator) fresh(prefix string) string {
	g.n++
	return prefix + strconv.Itoa(g.n)
}

// column names a column that is offered, now and then of a query around.
func (g *generator) column() string {
	level := g.levels[len(g.levels)-1]
	if len(g.levels) > 1 && g.chance(20) {
		level = g.levels[g.r.IntN(len(g.levels))]
	}
	if len(level) == 0 {
		return "1"
	}
	t := level[g.r.IntN(len(level))]
	c := g.pick(t.columns...)
	if g.chance(5) {
		c = strings.ToUpper(c)
	}
	if len(level) == 1 && g.chance(50) || g.chance(8) {
		return c
	}
	return t.name + "." + c
}

// query makes a query of k columns and returns it and their names.
func (g *generator) query(depth, k int) (string, []string) {
	ctes := len(g.ctes)
	defer func() { g.ctes = g.ctes[:ctes] }()
	with := ""
	if g.chance(15) && depth > 0 {
		with = g.with(depth)
	}
	body, names := g.selects(depth, k)
	if g.chance(12) && depth > 0 {
		for range 1 + g.r.IntN(2) {
			next, _ := g.selects(depth-1, k)
			body += " " + g.pick("UNION", "UNION ALL", "UNION ALL", "UNION ALL", "EXCEPT", "INTERSECT") + " " + next
		}
	} else if g.chance(5) {
		body = "(" + body + ")"
	}
	if g.chance(8) {
		body += " ORDER BY " + g.pick("1", names[0])
	}
	return with + body, names
}

func (g *generator) with(depth int) string {
	var parts []string
	recursive := ""
	for range 1 + g.r.IntN(2) {
		k := 1 + g.r.IntN(2)
		name := g.fresh("c")
		if g.chance(10) {
			name = g.pick("t1", "t2", "w")
		}
		text, names := g.query(depth-1, k)
		list := ""
		if g.chance(40) {
			names = []string{"m", "o"}[:k]
			list = "(" + strings.Join(names, ", ") + ")"
		}
		if g.chance(25) {
			recursive = "RECURSIVE "
			text += g.pick(" UNION ALL ", " UNION ") + "SELECT " + strings.Join(names, ", ") + " FROM " + name + " WHERE 1 = 0"
		}
		parts = append(parts, name+list+" AS ("+text+")")
		g.ctes = append(g.ctes, named{name, names})
	}
	return "WITH " + recursive + strings.Join(parts, ", ") + " "
}

func (g *generator) selects(depth, k int) (string, []string) {
	from, offers := g.from(depth)
	g.levels = append(g.levels, offers)
	defer func() { g.levels = g.levels[:len(g.levels)-1] }()
	var items, names []string
	distinct := g.chance(10)
	defer func(was bool) { g.plain = was }(g.plain)
	g.plain = g.plain || distinct
	var groups []string
	grouped := g.chance(20)
	for range g.r.IntN(3) {
		groups = append(groups, g.column())
	}
	for range k {
		e, name := "", g.fresh("r")
		switch {
		case grouped && len(groups) > 0 && g.chance(50):
			e = g.pick(groups...)
		case grouped:
			e = g.aggregate(depth)
		default:
			e = g.expr(depth)
		}
		if g.chance(15) {
			name = g.pick("id", "b", "s", "n")
		}
		if slices.Contains(names, name) {
			name = g.fresh("r")
		}
		items, names = append(items, e+g.pick(" AS ", " ")+name), append(names, name)
	}
	out := "SELECT "
	if distinct {
		out += "DISTINCT "
	}
	out += strings.Join(items, ", ") + " FROM " + from
	out += g.where(depth)
	if grouped && len(groups) > 0 {
		out += " GROUP BY " + strings.Join(groups, ", ")
		if g.chance(20) {
			out += " HAVING " + g.aggregate(depth) + g.pick(" > 0", " = 1", " IS NOT NULL")
		}
	}
	return out, names
}

func (g *generator) where(depth int) string {
	if g.chance(40) {
		return " WHERE " + g.condition(depth)
	}
	return ""
}

// aggregate makes an expression over the rows of a group.
func (g *generator) aggregate(depth int) string {
	e := g.expr(depth - 1)
	switch g.r.IntN(6) {
	case 0:
		return "COUNT(*)"
	case 1:
		return "COUNT(DISTINCT " + e + ")"
	case 2:
		return fmt.Sprintf("GROUP_CONCAT(%[1]s ORDER BY %[1]s)", e)
	case 3:
		return "CONCAT(MAX(" + e + "), MIN(" + g.expr(depth-1) + "))"
	}
	return g.pick("MAX", "MIN", "SUM", "COUNT", "AVG", "BIT_OR") + "(" + e + ")"
}

// top makes a query whose columns may be stars.
func (g *generator) top(depth int) string {
	if g.chance(55) {
		q, _ := g.query(depth, 1+g.r.IntN(3))
		return q
	}
	from, offers := g.from(depth)
	g.levels = append(g.levels, offers)
	items := "*"
	if g.chance(40) {
		items = g.pick(offers[g.r.IntN(len(offers))].name+".*", "1 AS one, "+offers[g.r.IntN(len(offers))].name+".*, 2", g.expr(depth)+" AS e, "+offers[0].name+".*")
	}
	return "SELECT " + items + " FROM " + from + g.where(depth)
}

func (g *generator) from(depth int) (string, []named) {
	out, first := g.table(depth)
	offers := []named{first}
	for i := 1; i < 4 && g.chance(45); i++ {
		right, t := g.table(depth)
		var common []string
		for _, c := range t.columns {
			for _, o := range offers {
				if slices.Contains(o.columns, c) && !slices.Contains(common, c) && c != "hid" {
					common = append(common, c)
				}
			}
		}
		kind := g.pick("", "", "LEFT ", "RIGHT ", "INNER ")
		g.levels = append(g.levels, append(slices.Clone(offers), t))
		switch {
		case len(common) > 0 && g.chance(45):
			g.r.Shuffle(len(common), func(i, j int) { common[i], common[j] = common[j], common[i] })
			out += " " + kind + "JOIN " + right + " USING (" + strings.Join(common[:1+g.r.IntN(len(common))], ", ") + ")"
		case g.chance(25):
			out += " NATURAL " + g.pick("", "LEFT ", "RIGHT ") + "JOIN " + right
		case g.chance(30):
			out += ", " + right
		default:
			out += " " + kind + "JOIN " + right + " ON " + g.condition(depth)
		}
		g.levels = g.levels[:len(g.levels)-1]
		offers = append(offers, t)
		if g.chance(12) {
			out = "(" + out + ")"
		}
	}
	return out, offers
}

func (g *generator) table(depth int) (string, named) {
	alias := g.fresh("x")
	switch {
	case depth > 0 && g.chance(20):
		levels := g.levels
		g.levels = nil // a derived table sees nothing around it
		text, names := g.query(depth-1, 1+g.r.IntN(3))
		g.levels = levels
		return "(" + text + ") " + alias, named{alias, names}
	case len(g.ctes) > 0 && g.chance(45):
		c := g.ctes[g.r.IntN(len(g.ctes))]
		return c.name + " " + alias, named{alias, c.columns}
	}
	t := offered[g.r.IntN(len(offered))]
	return t.name + g.pick(" ", " AS ") + alias, named{alias, t.columns}
}

func (g *generator) literal() string { return g.pick("1", "2", "'x'", "'zz'", "NULL", "7.5", "''") }

func (g *generator) expr(depth int) string {
	if depth <= 0 || g.chance(45) {
		if g.chance(12) {
			return g.literal()
		}
		return g.column()
	}
	e := func() string { return g.expr(depth - 1) }
	which := g.r.IntN(20)
	if g.plain && (which == 13 || which == 14) {
		which = 0
	}
	switch which {
	case 0:
		return fmt.Sprintf("%s(%s)", g.pick("UPPER", "LENGTH", "MD5", "HEX", "REVERSE", "ABS", "ROUND", "LOWER", "ASCII", "SIGN", "ISNULL"), e())
	case 1:
		return fmt.Sprintf("CONCAT(%s, %s)", e(), e())
	case 2:
		return fmt.Sprintf("(%s %s %s)", e(), g.pick("+", "-", "*", "/", "%", "DIV", "=", "<", "<=>", "<>", "AND", "OR", "LIKE", "||", "^", ">>"), e())
	case 3:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.condition(depth-1), e(), e())
	case 4:
		return fmt.Sprintf("IF(%s, %s, %s)", g.condition(depth-1), e(), e())
	case 5:
		return fmt.Sprintf("COALESCE(%s, %s)", e(), e())
	case 6:
		return fmt.Sprintf("NULLIF(%s, %s)", e(), e())
	case 7:
		return fmt.Sprintf("REPLACE(%s, 'e', %s)", e(), e())
	case 8:
		q, _ := g.query(depth-1, 1)
		return "(" + q + " LIMIT 1)"
	case 9:
		q, _ := g.query(depth-1, 1)
		return "EXISTS(" + q + ")"
	case 10:
		return fmt.Sprintf("%s %sIN (%s)", e(), g.pick("", "NOT "), g.pick("1, 2", "'x', 'nobody'", e()+", "+e()))
	case 11:
		q, _ := g.query(depth-1, 1)
		return fmt.Sprintf("%s IN (%s)", e(), q)
	case 12:
		return fmt.Sprintf("(%s IS %sNULL)", e(), g.pick("", "NOT "))
	case 13:
		return fmt.Sprintf("%s() OVER (%s ORDER BY %s)", g.pick("DENSE_RANK", "RANK"), g.pick("", "PARTITION BY "+e()), e())
	case 14:
		return fmt.Sprintf("%s(%s) OVER (%s)", g.pick("SUM", "MAX", "COUNT", "MIN"), e(), g.pick("", "ORDER BY "+e(), "PARTITION BY "+e()))
	case 15:
		return fmt.Sprintf("SUBSTR(%s, 1, 2)", e())
	case 16:
		return fmt.Sprintf("STRCMP(%s, %s)", e(), e())
	case 17:
		return fmt.Sprintf("(%s BETWEEN %s AND %s)", e(), e(), e())
	case 18:
		return fmt.Sprintf("CAST(%s AS %s)", e(), g.pick("CHAR", "SIGNED", "DATE", "DECIMAL(9,1)"))
	default:
		return fmt.Sprintf("%s(%s, %s)", g.pick("GREATEST", "LEAST", "LEFT", "IFNULL", "INSTR", "LPAD"), e(), e())
	}
}

func (g *generator) condition(depth int) string {
	out := g.column() + g.pick(" = ", " > ", " <> ", " <=> ") + g.literal()
	switch g.r.IntN(6) {
	case 0:
		out = g.expr(depth - 1)
	case 1:
		out = g.column() + " = " + g.column()
	case 2:
		out = g.column() + " IS NOT NULL"
	case 3:
		out = "1"
	}
	if g.chance(15) {
		out += g.pick(" AND ", " OR ", " AND NOT ") + g.condition(depth-1)
	}
	return out
}

// write makes a statement that changes a table.
func (g *generator) write(depth int) string {
	target := offered[g.r.IntN(4)] // not the views
	var cols []string
	for range 1 + g.r.IntN(3) {
		if c := g.pick(target.columns...); !slices.Contains(cols, c) && c != "id" {
			cols = append(cols, c)
		}
	}
	if len(cols) == 0 {
		cols = []string{target.columns[0]}
	}
	switch g.r.IntN(6) {
	case 0, 1:
		q, names := g.query(depth, len(cols))
		if slices.Contains(target.columns, "id") {
			for i, n := range names { // one row, so that the key decides nothing
				names[i] = "MAX(u." + n + ")"
			}
			return "INSERT INTO " + target.name + " (id, " + strings.Join(cols, ", ") + ") SELECT 100, " + strings.Join(names, ", ") + " FROM (" + q + ") u"
		}
		return "INSERT INTO " + target.name + " (" + strings.Join(cols, ", ") + ") " + q
	case 2:
		g.levels = [][]named{{target}}
		return "DELETE FROM " + target.name + " WHERE " + g.condition(depth)
	}
	from, offers := g.from(depth)
	g.levels = [][]named{append(offers, named{"y", target.columns})}
	set := ""
	for i, c := range cols {
		if i > 0 {
			set += ", "
		}
		set += "y." + c + " = " + g.expr(depth)
	}
	return "UPDATE IGNORE " + target.name + " y JOIN (" + from + ") SET " + set + g.where(depth)
}
