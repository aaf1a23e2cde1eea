package cells

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// A Column names a base column. Database is empty where the engine has one
// database or the name is not known. Names are kept as the engine gives them;
// comparison and labels fold case.
type Column struct {
	Database, Table, Column string
}

// String returns the name as people write it: customer.c_id.
func (c Column) String() string {
	if c.Database == "" {
		return c.Table + "." + c.Column
	}
	return c.Database + "." + c.Table + "." + c.Column
}

// fold returns c with its case folded. Folding is Unicode's, wider than
// SQLite's: two names that only differ in case are one name to us, so a rule
// can only match more than the engine would, never less.
func (c Column) fold() Column {
	return Column{strings.ToLower(c.Database), strings.ToLower(c.Table), strings.ToLower(c.Column)}
}

// Label kinds: the first byte of a label. Part of the format.
const (
	kindColumn     = 0x01 // uvarint length and bytes of database, table, column
	kindExpression = 0x02 // SHA-256 over the sorted column labels
)

// A Label is what a cell is bound to: the additional data its tag covers. It
// is computed once a result column and shared by all its cells. The zero Label
// is no label.
type Label struct{ *label }

type label struct {
	aad  []byte // never written after creation
	name string
}

// ColumnLabel returns the label of cells that show base column c unchanged.
func ColumnLabel(c Column) Label {
	return Label{&label{aad: appendColumn([]byte{kindColumn}, c), name: c.String()}}
}

// ExpressionLabel returns the label of cells computed from protected columns:
// expressions, aggregates and whatever else has no single base column. The
// order of columns and repetitions make no difference.
func ExpressionLabel(columns []Column) Label {
	parts := make([]string, len(columns))
	names := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = string(appendColumn(nil, c))
		names[i] = c.fold().String()
	}
	slices.Sort(parts)
	slices.Sort(names)
	h := sha256.New()
	for _, p := range slices.Compact(parts) {
		h.Write([]byte(p))
	}
	return Label{&label{
		aad:  h.Sum([]byte{kindExpression}),
		name: "expression over " + strings.Join(slices.Compact(names), ", "),
	}}
}

// appendColumn appends the folded names, each behind its length, so that no
// two columns share an encoding.
func appendColumn(dst []byte, c Column) []byte {
	c = c.fold()
	for _, s := range [...]string{c.Database, c.Table, c.Column} {
		dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	}
	return dst
}

// IsZero reports whether l is no label.
func (l Label) IsZero() bool { return l.label == nil }

// String names the label for people: the column, or the columns an expression
// is computed from. It holds no data.
func (l Label) String() string {
	if l.label == nil {
		return "none"
	}
	return l.name
}
