//go:build unix

package secret

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapRegion returns n zero bytes, rounded up to whole pages, of locked memory
// that is left out of core dumps, between two pages that cannot be touched. A
// warning instead of an error tells that the memory is usable but unprotected.
func mapRegion(n int) (mem []byte, warning string, err error) {
	page := os.Getpagesize()
	n = (n + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, n+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, "", fmt.Errorf("map memory: %w", err)
	}
	mem = all[page : page+n : page+n]
	for _, guard := range [][]byte{all[:page], all[page+n:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			return nil, "", fmt.Errorf("protect guard page: %w", err)
		}
	}
	if err := dontDump(mem); err != nil {
		warning = fmt.Sprintf("key memory would appear in core dumps (%v); set ulimit -c 0", err)
	}
	if err := unix.Mlock(mem); err != nil {
		warning = fmt.Sprintf("key memory can be swapped to disk (lock memory: %v); raise the limit with ulimit -l 65536, "+
			"or LimitMEMLOCK=64M in the systemd unit, or run without swap", err)
	}
	return mem, warning, nil
}

func noCore() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}
