package volume

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// OwnAttribute is the extended attribute that holds what a directory which the
// kernel encrypts knows of itself. It says nothing of a copy, and is not copied.
const OwnAttribute = "user.veildb.kernel"

// CopyAttributes gives to the owner, mode, extended attributes and times of
// from, whose Lstat is st, in the order in which one does not undo another.
// note is told what this process may not set; it must not be nil.
func CopyAttributes(from, to string, st *unix.Stat_t, note func(what string)) error {
	err := unix.Lchown(to, int(st.Uid), int(st.Gid))
	if errors.Is(err, unix.EPERM) && os.Geteuid() != 0 {
		note("owner not kept: only root can give files away")
		err = nil
	}
	if err != nil {
		return &os.PathError{Op: "chown", Path: to, Err: err}
	}
	if err := copyXattrs(from, to, note); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		if err := unix.Chmod(to, st.Mode&0o7777); err != nil {
			return &os.PathError{Op: "chmod", Path: to, Err: err}
		}
	}
	times := []unix.Timespec{st.Atim, st.Mtim}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, to, times, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "set times of", Path: to, Err: err}
	}
	return nil
}

// copyXattrs copies extended attributes, access control lists among them.
func copyXattrs(from, to string, note func(string)) error {
	n, err := unix.Llistxattr(from, nil)
	if errors.Is(err, unix.ENOTSUP) || err == nil && n == 0 {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "list attributes of", Path: from, Err: err}
	}
	list := make([]byte, n)
	if n, err = unix.Llistxattr(from, list); err != nil {
		return &os.PathError{Op: "list attributes of", Path: from, Err: err}
	}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(list[:n], []byte{0}), []byte{0}) {
		if string(name) == OwnAttribute {
			continue
		}
		if err := copyXattr(from, to, string(name), note); err != nil {
			return fmt.Errorf("copy attribute %s of %s: %w", name, from, err)
		}
	}
	return nil
}

func copyXattr(from, to, name string, note func(string)) error {
	n, err := unix.Lgetxattr(from, name, nil)
	if err != nil {
		return err
	}
	value := make([]byte, n)
	if n, err = unix.Lgetxattr(from, name, value); err != nil {
		return err
	}
	err = unix.Lsetxattr(to, name, value[:n], 0)
	if (errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP)) && !strings.HasPrefix(name, "user.") {
		note("attribute " + name + " not kept: " + err.Error())
		return nil
	}
	return err
}
