package secret

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func dontDump(mem []byte) error { return unix.Madvise(mem, unix.MADV_DONTDUMP) }

// HardenProcess makes this process one that leaves no core dump and that other
// processes of the same user cannot attach to. Daemons that hold keys call it
// first; it also takes /proc/self away from the process unless it is root.
func HardenProcess() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make process undumpable: %w", err)
	}
	return noCore()
}
