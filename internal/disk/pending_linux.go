package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a new file without a name in dir. The error matches
// errors.ErrUnsupported where that, or naming it later, is not possible.
func openUnnamed(dir string, perm fs.FileMode) (File, error) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		return nil, errors.ErrUnsupported
	}
	f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, perm)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil, errors.ErrUnsupported
	}
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func linkUnnamed(f File, path string) error {
	from := fmt.Sprintf("/proc/self/fd/%d", f.(osFile).Fd())
	err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: from, New: path, Err: err}
	}
	return nil
}
