package cells

import "errors"

var (
	// ErrTampered means a cell does not open under its label: it was altered,
	// cut, moved from another column, or is no cell at all.
	ErrTampered = errors.New("cell damaged or not of this column")

	// ErrWrongKey means the cell was sealed under another key than the one
	// the key source gives for the cell's key version.
	ErrWrongKey = errors.New("cell sealed under another key")

	// ErrUnknownType means a value has a Go type no cell can hold. The error
	// names the type, never the value.
	ErrUnknownType = errors.New("value of a type cells cannot hold")

	// ErrClosed means a Sealer or Opener was used after Close.
	ErrClosed = errors.New("cell keys already wiped")

	// ErrSyntax means a list of columns has a line that is no column.
	ErrSyntax = errors.New("not a column pattern")
)
