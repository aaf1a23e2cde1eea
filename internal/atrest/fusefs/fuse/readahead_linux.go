package fuse

import (
	"os"
	"path/filepath"
	"strconv"
)

// readAhead is how far the kernel reads ahead of who reads a file from front to
// back, in KiB. Its default of 128 has such a reader wait for each request in
// turn; with 512 some are always under way. More gained nothing.
const readAhead = 512

// setReadAhead sets it for the file system mounted at path. It is an
// improvement, no need: only root may do it, and not in every container.
func setReadAhead(path string) {
	if e, ok, err := Find(path); err == nil && ok {
		os.WriteFile(filepath.Join("/sys/class/bdi", e.Device, "read_ahead_kb"), []byte(strconv.Itoa(readAhead)), 0)
	}
}
