package fuse

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// An Entry is a mount in the mount table.
type Entry struct {
	Path     string
	Source   string
	Device   string // "major:minor"
	Root     string // what of the file system is mounted: a path in it
	Type     string // of the file system
	ReadOnly bool
}

// Find returns the topmost mount at path, if it is one of this program. A mount
// of another file system there is no match.
func Find(path string) (Entry, bool, error) {
	var found Entry
	ours := false
	err := Mounts(func(e Entry) {
		if e.Path == path {
			found, ours = e, e.Type == FSType
		}
	})
	return found, ours, err
}

// Mounts calls f for each mount of any file system, in the order of the table:
// of those at one path the last is on top.
func Mounts(f func(e Entry)) error {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("read mount table: %w", err)
	}
	defer file.Close()
	if err := parseMounts(file, f); err != nil {
		return fmt.Errorf("read mount table: %w", err)
	}
	return nil
}

// parseMounts reads the format of proc(5): "id parent major:minor root path
// options [optional...] - type source superoptions".
func parseMounts(r io.Reader, f func(e Entry)) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		left, right, ok := strings.Cut(lines.Text(), " - ")
		a, b := strings.Fields(left), strings.Fields(right)
		if !ok || len(a) < 6 || len(b) < 2 {
			continue
		}
		e := Entry{Path: unescape(a[4]), Source: unescape(b[1]), Device: a[2], Root: unescape(a[3]), Type: b[0]}
		e.ReadOnly = strings.HasPrefix(a[5], "ro")
		f(e)
	}
	return lines.Err()
}

// unescape undoes the octal escapes of mount tables: \040 is a blank.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
