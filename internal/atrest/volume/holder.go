package volume

import (
	"fmt"
	"path/filepath"
	"strings"
)

// A Holder is the process that said it holds a volume. It may have died since.
type Holder struct {
	PID     int    `json:"pid"`
	Purpose string `json:"purpose"`
}

// ReadHolder returns who last took the lock of the volume at path and has not
// released it; zero if nobody.
func ReadHolder(path string) Holder {
	var h Holder
	b, err := readOwn(filepath.Join(path, privateName, lockName), maxHolder)
	if err != nil {
		return h
	}
	pid, rest, _ := strings.Cut(string(b), "\n")
	if _, err := fmt.Sscanf(pid, "%d", &h.PID); err != nil || h.PID <= 0 {
		return Holder{}
	}
	h.Purpose, _, _ = strings.Cut(rest, "\n")
	return h
}

func describeHolder(path string) string {
	switch h := ReadHolder(path); {
	case h.PID == 0:
		return ""
	case h.Purpose == "":
		return fmt.Sprintf(" (process %d)", h.PID)
	default:
		return fmt.Sprintf(" (process %d: %s)", h.PID, h.Purpose)
	}
}
