// Package schema describes what the databases of a server hold, and says when
// two names mean the same table or column.
package schema

import (
	"errors"
	"fmt"
	"strings"
)

// A Column is a column of a table, by its three names as they were written.
// Two Columns are the same column when Names.Fold makes them equal.
type Column struct {
	Database string
	Table    string
	Column   string
}

func (c Column) String() string { return c.Database + "." + c.Table + "." + c.Column }

// Names says how a server compares the names of databases and tables. Names of
// columns are compared without regard to case everywhere.
type Names byte

// The ways to compare. The zero value takes more names for the same, which is
// the safe side for whoever protects them.
const (
	IgnoreCase Names = iota // lower_case_table_names 1 and 2
	MatchCase               // lower_case_table_names 0
)

// ErrSetting means a value of lower_case_table_names that does not exist.
var ErrSetting = errors.New("lower_case_table_names is 0, 1 or 2")

// FromSetting returns the Names of a server with that lower_case_table_names,
// or ErrSetting.
func FromSetting(lowerCaseTableNames int) (Names, error) {
	switch lowerCaseTableNames {
	case 0:
		return MatchCase, nil
	case 1, 2:
		return IgnoreCase, nil
	}
	return IgnoreCase, fmt.Errorf("compare names by %d: %w", lowerCaseTableNames, ErrSetting)
}

// Fold returns the form of c that all its spellings have in common.
func (n Names) Fold(c Column) Column {
	return Column{n.FoldTable(c.Database), n.FoldTable(c.Table), FoldColumn(c.Column)}
}

// FoldTable folds the name of a database or table.
func (n Names) FoldTable(name string) string {
	if n == MatchCase {
		return name
	}
	return strings.ToLower(name)
}

// FoldColumn folds the name of a column.
func FoldColumn(name string) string { return strings.ToLower(name) }
