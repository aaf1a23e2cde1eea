package sysbench

import (
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// A kind is one statement of the scripts. All but the last four exist once for
// each table.
type kind int

const (
	pointSelect kind = iota
	simpleRange
	sumRange
	orderRange
	distinctRange
	indexUpdate
	nonIndexUpdate
	deleteRow
	insertRow

	begin
	commit
	randomPoints
	randomRanges
	kinds
)

// perTable reports whether the kind exists for each table.
func (k kind) perTable() bool { return k < begin }

// reads reports whether the statement returns rows.
func (k kind) reads() bool { return k <= distinctRange || k >= randomPoints }

// text is the statement with ? for its parameters. "sbtest" is followed by the
// table's number.
func (k kind) text(table int, o *Options, d dsn.Dialect, writes bool) string {
	t := "sbtest" + strconv.Itoa(table)
	const ids = " WHERE id BETWEEN ? AND ?"
	switch k {
	case pointSelect:
		return "SELECT c FROM " + t + " WHERE id=?"
	case simpleRange:
		return "SELECT c FROM " + t + ids
	case sumRange:
		return "SELECT SUM(k) FROM " + t + ids
	case orderRange:
		return "SELECT c FROM " + t + ids + " ORDER BY c"
	case distinctRange:
		return "SELECT DISTINCT c FROM " + t + ids + " ORDER BY c"
	case indexUpdate:
		return "UPDATE " + t + " SET k=k+1 WHERE id=?"
	case nonIndexUpdate:
		return "UPDATE " + t + " SET c=? WHERE id=?"
	case deleteRow:
		return "DELETE FROM " + t + " WHERE id=?"
	case insertRow:
		return "INSERT INTO " + t + " (id, k, c, pad) VALUES (?, ?, ?, ?)"
	case begin:
		// SQLite has one writer. A transaction that starts as a reader and
		// then writes fails if another wrote meanwhile, so transactions
		// that write say so at once and wait for their turn.
		if d == dsn.SQLite && writes {
			return "BEGIN IMMEDIATE"
		}
		return "BEGIN"
	case commit:
		return "COMMIT"
	case randomPoints:
		return "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (" + repeat("?", ", ", o.RandomPoints) + ")"
	case randomRanges:
		return "SELECT count(k) FROM sbtest1 WHERE " + repeat("k BETWEEN ? AND ?", " OR ", o.NumberOfRanges)
	}
	panic("sysbench: internal error: unknown statement")
}

func repeat(s, sep string, n int) string {
	return strings.TrimSuffix(strings.Repeat(s+sep, n), sep)
}

// splice appends text with its parameters replaced by the values, which are
// integers and strings of digits and dashes: nothing needs escaping.
func splice(dst []byte, text string, args []any) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] != '?' {
			dst = append(dst, text[i])
			continue
		}
		switch v := args[0].(type) {
		case int64:
			dst = strconv.AppendInt(dst, v, 10)
		case string:
			dst = append(append(append(dst, '\''), v...), '\'')
		}
		args = args[1:]
	}
	return dst
}
