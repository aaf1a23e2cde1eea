package cli

import (
	"io"
	"os"
	"strconv"
)

// plainWidth is the width of text that goes to a file or a pipe: room for the
// widest tables.
const plainWidth = 160

// terminalWidth is the number of columns to lay text out for: the terminal's,
// or that of COLUMNS, or plainWidth where there is no terminal.
func terminalWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok && isTerminal(w) {
		if n := windowColumns(f); n > 0 {
			return n
		}
		return 80
	}
	return plainWidth
}

// useColor follows https://no-color.org.
func useColor(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && isTerminal(w) }
