//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// windowColumns asks the terminal for its width; 0 if it will not say.
func windowColumns(f *os.File) int {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(ws.Col)
}
