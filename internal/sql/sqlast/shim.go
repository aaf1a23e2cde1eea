package sqlast

import (
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/sql/token"
)

// A shim handles a form that begins with a word at token i. It returns the token
// after what it took, or i to leave the word as it is.
type shim func(w *rewriter, i, end int) (int, error)

// shims are by the word they begin with, in lower case.
var shims map[string]shim

func init() {
	shims = map[string]shim{
		"returning":       shimReturning,
		"into":            shimInto,
		"procedure":       shimProcedure,
		"for":             shimSystemTime,
		"limit":           shimLimit,
		"offset":          shimFetch,
		"fetch":           shimFetch,
		"values":          shimValues,
		"json_table":      shimJSONTable,
		"median":          shimMedian,
		"percentile_cont": shimPercentile,
		"percentile_disc": shimPercentile,
		"last_value":      shimLastValue,
		"json_arrayagg":   shimJSONAgg,
		"column_get":      shimDynamic,
		"column_create":   shimDynamic,
		"column_add":      shimDynamic,
		"as":              shimAs,
		"json_value":      shimJSONValue,
		"tree":            shimTree,
		"extended":        shimExtended,
		"partitions":      shimExtended,
	}
}

// shimKey folds a word if it can be the name of a shim.
func shimKey(b []byte) string {
	if len(b) < 2 || len(b) > 15 {
		return ""
	}
	var k [15]byte
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		k[i] = c
	}
	return string(k[:len(b)])
}

// shimReturning cuts RETURNING and the list after it, which ends INSERT, REPLACE
// and DELETE.
func shimReturning(w *rewriter, i, end int) (int, error) {
	if !w.depth0(i) || w.returning != 0 || i+1 >= end || !w.returns() {
		return i, unreadable("RETURNING")
	}
	w.returning = i + 1
	return end, nil
}

// returns reports whether the statement can have RETURNING.
func (w *rewriter) returns() bool {
	return w.insert || w.t.IsWord(0, "DELETE")
}

// shimInto cuts INTO @a, @b.
func shimInto(w *rewriter, i, end int) (int, error) {
	t := w.t
	if w.insert && i <= 3 && allWords(t, i) {
		return i, nil // INSERT [words] INTO
	}
	if w.insert || !w.depth0(i) || w.into != nil {
		return i, unreadable("INTO")
	}
	for {
		if !t.IsSymbol(i+1, "@") || !t.IsName(i+2) {
			return i, unreadable("INTO")
		}
		w.into = append(w.into, strings.ToLower(t.Name(i+2)))
		if i += 3; !t.IsSymbol(i, ",") {
			return i, nil
		}
	}
}

// allWords reports whether all tokens before i are words of INSERT.
func allWords(t *token.Text, i int) bool {
	for j := 1; j < i; j++ {
		if !t.IsWord(j, "LOW_PRIORITY") && !t.IsWord(j, "DELAYED") && !t.IsWord(j, "HIGH_PRIORITY") && !t.IsWord(j, "IGNORE") {
			return false
		}
	}
	return true
}

func shimProcedure(_ *rewriter, i, _ int) (int, error) { return i, unreadable("PROCEDURE") }

// shimSystemTime cuts FOR SYSTEM_TIME, which shows older rows of the same
// columns.
func shimSystemTime(w *rewriter, i, end int) (int, error) {
	t := w.t
	if !t.IsWord(i+1, "SYSTEM_TIME") {
		return i, nil
	}
	i += 2
	moments := 2
	between := "AND"
	switch {
	case t.IsWord(i, "ALL"):
		return i + 1, nil
	case t.IsWord(i, "AS") && t.IsWord(i+1, "OF"):
		i, moments = i+2, 1
	case t.IsWord(i, "BETWEEN"):
		i++
	case t.IsWord(i, "FROM"):
		i++
		between = "TO"
	default:
		return i, unreadable("FOR SYSTEM_TIME")
	}
	for n := range moments {
		if n > 0 {
			if !t.IsWord(i, between) {
				return i, unreadable("FOR SYSTEM_TIME")
			}
			i++
		}
		if i = w.moment(i, end); i < 0 {
			return 0, unreadable("FOR SYSTEM_TIME")
		}
	}
	return i, nil
}

// moment returns the token after a point in time, or -1: a literal, a parameter
// or NOW() and its kin, and perhaps an interval of a literal before or after it.
func (w *rewriter) moment(i, end int) int {
	t := w.t
	if t.IsWord(i, "TIMESTAMP") || t.IsWord(i, "TRANSACTION") || t.IsWord(i, "DATE") {
		i++
	}
	switch {
	case i >= end:
		return -1
	case w.literal(i):
		i++
	case t.IsWord(i, "NOW"), t.IsWord(i, "CURRENT_TIMESTAMP"), t.IsWord(i, "SYSDATE"), t.IsWord(i, "CURDATE"):
		if i++; t.IsSymbol(i, "(") {
			if i++; w.literal(i) {
				i++
			}
			if !t.IsSymbol(i, ")") {
				return -1
			}
			i++
		}
	default:
		return -1
	}
	if (t.IsSymbol(i, "-") || t.IsSymbol(i, "+")) && t.IsWord(i+1, "INTERVAL") && w.literal(i+2) && i+3 < end && t.Tokens[i+3].Kind == token.Word {
		i += 4
	}
	return i
}

// literal reports whether token i is a literal or a parameter.
func (w *rewriter) literal(i int) bool {
	if i >= len(w.t.Tokens) {
		return false
	}
	k := w.t.Tokens[i].Kind
	return k == token.String || k == token.Number || w.t.IsSymbol(i, "?")
}

// shimLimit cuts ROWS EXAMINED n out of LIMIT, and LIMIT out of GROUP_CONCAT.
func shimLimit(w *rewriter, i, end int) (int, error) {
	t := w.t
	next := i + 1
	if w.literal(next) {
		next++
		if (t.IsSymbol(next, ",") || t.IsWord(next, "OFFSET")) && w.literal(next+1) {
			next += 2
		}
		if w.concats(i) && t.IsSymbol(next, ")") {
			return next, nil
		}
	}
	if !t.IsWord(next, "ROWS") || !t.IsWord(next+1, "EXAMINED") || !w.literal(next+2) {
		return i, nil
	}
	if next > i+1 {
		for j := i; j < next; j++ {
			w.copy(j)
		}
	}
	return next + 3, nil
}

// concats reports whether token i stands directly in the parentheses of
// GROUP_CONCAT or JSON_ARRAYAGG.
func (w *rewriter) concats(i int) bool {
	open := int(w.up[i])
	return open > 0 && (w.t.IsWord(open-1, "GROUP_CONCAT") || w.t.IsWord(open-1, "JSON_ARRAYAGG"))
}

// shimFetch cuts [OFFSET n ROWS] [FETCH FIRST n ROWS ONLY].
func shimFetch(w *rewriter, i, end int) (int, error) {
	t := w.t
	start := i
	if t.IsWord(i, "OFFSET") {
		if !w.literal(i+1) || !t.IsWord(i+2, "ROW") && !t.IsWord(i+2, "ROWS") {
			return i, nil
		}
		i += 3
	}
	if t.IsWord(i, "FETCH") {
		if i++; !t.IsWord(i, "FIRST") && !t.IsWord(i, "NEXT") {
			return start, unreadable("FETCH")
		}
		if i++; w.literal(i) {
			i++
		}
		if !t.IsWord(i, "ROW") && !t.IsWord(i, "ROWS") {
			return start, unreadable("FETCH")
		}
		i++
		switch {
		case t.IsWord(i, "ONLY"):
			i++
		case t.IsWord(i, "WITH") && t.IsWord(i+1, "TIES"):
			i += 2
		default:
			return start, unreadable("FETCH")
		}
	}
	return i, nil
}

// shimValues writes VALUES (1), (2) where a query can stand as VALUES ROW (1),
// ROW (2).
func shimValues(w *rewriter, i, end int) (int, error) {
	t := w.t
	query := i == 0
	switch {
	case t.IsWord(i-1, "UNION"), t.IsWord(i-1, "EXCEPT"), t.IsWord(i-1, "INTERSECT"), t.IsWord(i-1, "ALL"), t.IsWord(i-1, "DISTINCT"):
		query = true
	case t.IsSymbol(i-1, "("):
		query = !w.insert
	}
	if !query || !t.IsSymbol(i+1, "(") {
		return i, nil
	}
	w.copy(i)
	for i++; ; {
		after := w.closing(i, end) + 1
		w.word("ROW")
		if err := w.rewrite(i, after); err != nil {
			return i, err
		}
		if !t.IsSymbol(after, ",") || !t.IsSymbol(after+1, "(") {
			return after, nil
		}
		w.copy(after)
		i = after + 1
	}
}

// shimJSONTable takes out JSON_TABLE(document, path COLUMNS (...)).
func shimJSONTable(w *rewriter, i, end int) (int, error) {
	t := w.t
	if !t.IsSymbol(i+1, "(") {
		return i, nil
	}
	last := w.closing(i+1, end)
	comma := w.comma(i+2, last)
	if last == end || comma == last || !w.literal(comma+1) || !t.IsWord(comma+2, "COLUMNS") || !t.IsSymbol(comma+3, "(") || w.closing(comma+3, end) != last-1 {
		return i, unreadable("JSON_TABLE")
	}
	j := &jsonTable{}
	if !w.jsonColumns(j, comma+4, last-1) {
		return i, unreadable("JSON_TABLE")
	}
	inner := *w
	inner.out = nil
	if err := inner.rewrite(i+2, comma); err != nil {
		return i, err
	}
	w.tables, w.lists = inner.tables, inner.lists
	j.doc = string(inner.out)
	w.table(j)
	return last + 1, nil
}

// comma returns the first comma of tokens [i, end) outside parentheses, or end.
func (w *rewriter) comma(i, end int) int {
	for ; i < end; i++ {
		if w.t.IsSymbol(i, "(") {
			i = int(w.pair[i])
		} else if w.t.IsSymbol(i, ",") {
			return i
		}
	}
	return end
}

// as returns the first AS of tokens [i, end) outside parentheses, or end.
func (w *rewriter) as(i, end int) int {
	for ; i < end; i++ {
		if w.t.IsSymbol(i, "(") {
			i = int(w.pair[i])
		} else if w.t.IsWord(i, "AS") {
			return i
		}
	}
	return end
}

// jsonColumns reads the columns of a JSON_TABLE.
func (w *rewriter) jsonColumns(j *jsonTable, i, end int) bool {
	t := w.t
	for i < end {
		next := w.comma(i, end)
		switch {
		case t.IsWord(i, "NESTED"):
			open := i + 1
			if t.IsWord(open, "PATH") {
				open++
			}
			if !w.literal(open) || !t.IsWord(open+1, "COLUMNS") || !t.IsSymbol(open+2, "(") || w.closing(open+2, end) != next-1 || !w.jsonColumns(j, open+3, next-1) {
				return false
			}
		case t.IsName(i) && t.IsWord(i+1, "FOR") && t.IsWord(i+2, "ORDINALITY") && next == i+3:
			j.columns = append(j.columns, JSONColumn{t.Name(i), true})
		case t.IsName(i) && next > i+2:
			// The type, PATH and what to do on empty or error hold no names.
			for k := i + 1; k < next; k++ {
				if t.Tokens[k].Kind == token.Quoted || t.IsSymbol(k, "@") || t.IsSymbol(k, "@@") || t.IsWord(k, "SELECT") {
					return false
				}
			}
			j.columns = append(j.columns, JSONColumn{t.Name(i), false})
		default:
			return false
		}
		i = next + 1
	}
	return len(j.columns) > 0
}

// calls reports whether token i is a function that is called. With a blank before
// the parenthesis the server takes most for names of tables, or of functions of
// others, unless the mode has it otherwise.
func (w *rewriter) calls(i int) bool {
	return w.t.IsSymbol(i+1, "(") && (w.mode.IgnoreSpace || w.t.Tokens[i].End == w.t.Tokens[i+1].Start)
}

// shimMedian writes MEDIAN(x) as MAX(x). To MySQL it may be a stored function.
func shimMedian(w *rewriter, i, end int) (int, error) {
	if !w.calls(i) || !w.mode.MariaDB {
		return i, nil
	}
	w.out = append(w.out, " MAX"...)
	return i + 1, nil
}

// shimPercentile writes PERCENTILE_CONT(a) WITHIN GROUP (ORDER BY b) as
// MAX(CONCAT(a, b)).
func shimPercentile(w *rewriter, i, end int) (int, error) {
	t := w.t
	if !t.IsSymbol(i+1, "(") {
		return i, nil
	}
	a := w.closing(i+1, end)
	if !t.IsWord(a+1, "WITHIN") || !t.IsWord(a+2, "GROUP") || !t.IsSymbol(a+3, "(") || !t.IsWord(a+4, "ORDER") || !t.IsWord(a+5, "BY") {
		return i, unreadable("PERCENTILE")
	}
	b := w.closing(a+3, end)
	last := b
	if t.IsWord(last-1, "ASC") || t.IsWord(last-1, "DESC") {
		last--
	}
	if b == end || w.comma(a+6, last) != last {
		return i, unreadable("PERCENTILE")
	}
	w.out = append(w.out, " MAX(CONCAT("...)
	if err := w.rewrite(i+2, a); err != nil {
		return i, err
	}
	w.word(",")
	if err := w.rewrite(a+6, last); err != nil {
		return i, err
	}
	w.word("))")
	return b + 1, nil
}

// shimLastValue writes LAST_VALUE(a, b) without OVER as COALESCE(a, b).
func shimLastValue(w *rewriter, i, end int) (int, error) {
	if !w.calls(i) || w.t.IsWord(w.closing(i+1, end)+1, "OVER") {
		return i, nil
	}
	w.out = append(w.out, " COALESCE"...)
	return i + 1, nil
}

// shimJSONAgg writes JSON_ARRAYAGG, which may have ORDER BY and LIMIT, as
// GROUP_CONCAT.
func shimJSONAgg(w *rewriter, i, end int) (int, error) {
	if !w.calls(i) || w.t.IsWord(w.closing(i+1, end)+1, "OVER") {
		return i, nil
	}
	w.out = append(w.out, " GROUP_CONCAT"...)
	return i + 1, nil
}

// shimDynamic writes COLUMN_GET(a, 'b' AS type) without the types.
func shimDynamic(w *rewriter, i, end int) (int, error) {
	t := w.t
	if !t.IsSymbol(i+1, "(") {
		return i, nil
	}
	last := w.closing(i+1, end)
	w.copy(i)
	w.copy(i + 1)
	for i += 2; i < last; {
		next := w.comma(i, last)
		if err := w.rewrite(i, w.as(i, next)); err != nil {
			return i, err
		}
		if next < last {
			w.copy(next)
		}
		i = next + 1
	}
	return last, nil
}

// shimTree writes EXPLAIN FORMAT = TREE as EXPLAIN FORMAT = JSON.
func shimTree(w *rewriter, i, _ int) (int, error) {
	if i != 3 || !w.t.IsWord(0, "EXPLAIN") && !w.t.IsWord(0, "DESC") && !w.t.IsWord(0, "DESCRIBE") || !w.t.IsWord(1, "FORMAT") || !w.t.IsSymbol(2, "=") {
		return i, nil
	}
	w.word("JSON")
	return i + 1, nil
}

// shimExtended drops EXTENDED and PARTITIONS after EXPLAIN.
func shimExtended(w *rewriter, i, end int) (int, error) {
	if i != 1 || !w.t.IsWord(0, "EXPLAIN") || i+2 >= end {
		return i, nil
	}
	return i + 1, nil
}

// castTypes are types of CAST that the parser lacks, and the like it has: DATE for
// those to which not every text can be cast.
var castTypes = map[string]string{"inet4": "DATE", "inet6": "DATE", "uuid": "DATE", "varchar": "CHAR", "int": "SIGNED", "interval": "DATE"}

// shimAs handles aliases with names of columns, those of rows, and types of CAST.
func shimAs(w *rewriter, i, end int) (int, error) {
	t := w.t
	after, columns := w.names(i+2, end)
	switch {
	case i+1 >= end || !t.IsName(i+1):
	case w.insert && w.depth0(i) && t.IsWord(after, "ON") && t.IsWord(after+1, "DUPLICATE") && !w.selects(i):
		if w.row.alias != "" {
			return i, unreadable("INSERT")
		}
		w.row = aliasList{t.Name(i + 1), columns}
		return after, nil
	case columns != nil && t.IsSymbol(i-1, ")"):
		w.word("AS `" + placeholder + strconv.Itoa(len(w.lists)) + "`")
		w.lists = append(w.lists, aliasList{t.Name(i + 1), columns})
		return after, nil
	}
	return shimCastType(w, i, end)
}

// names reads a list of names in parentheses and returns the token after it; i
// and nil if there is none.
func (w *rewriter) names(i, end int) (after int, out []string) {
	if !w.t.IsSymbol(i, "(") || i >= end {
		return i, nil
	}
	for j := i + 1; w.t.IsName(j); j += 2 {
		out = append(out, w.t.Name(j))
		if w.t.IsSymbol(j+1, ")") {
			return j + 2, out
		}
		if !w.t.IsSymbol(j+1, ",") {
			break
		}
	}
	return i, nil
}

// selects reports whether a query begins before token i, outside parentheses.
func (w *rewriter) selects(i int) bool {
	for j := range i {
		if w.depth0(j) && (w.t.IsWord(j, "SELECT") || w.t.IsWord(j, "TABLE") || w.t.IsWord(j, "WITH")) {
			return true
		}
	}
	return false
}

// shimJSONValue cuts RETURNING and what is to come on empty or error out of
// JSON_VALUE(document, path ...).
func shimJSONValue(w *rewriter, i, end int) (int, error) {
	t := w.t
	if !w.calls(i) {
		return i, nil
	}
	last := w.closing(i+1, end)
	comma := w.comma(i+2, last)
	if comma >= last || !w.literal(comma+1) || comma+2 == last {
		return i, nil
	}
	for j := comma + 2; j < last; j++ {
		if t.Tokens[j].Kind == token.Quoted || t.IsSymbol(j, "@") || t.IsSymbol(j, "@@") || t.IsSymbol(j, "?") || t.IsWord(j, "SELECT") {
			return i, unreadable("JSON_VALUE")
		}
	}
	w.copy(i)
	if err := w.rewrite(i+1, comma+2); err != nil {
		return i, err
	}
	w.word(")")
	return last + 1, nil
}

// shimCastType writes CAST(x AS INET6) as CAST(x AS DATE).
func shimCastType(w *rewriter, i, end int) (int, error) {
	t := w.t
	if i+2 >= end || t.Tokens[i+1].Kind != token.Word {
		return i, nil
	}
	like, ok := castTypes[strings.ToLower(string(t.Bytes(i+1)))]
	if !ok {
		return i, nil
	}
	open := int(w.up[i])
	last := i + 2
	if t.IsSymbol(last, "(") {
		last = w.closing(last, end) + 1
	}
	if !t.IsWord(open-1, "CAST") || !t.IsSymbol(last, ")") {
		return i, nil
	}
	w.word("AS " + like)
	return last, nil
}
