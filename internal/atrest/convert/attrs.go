package convert

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// copyAttributes gives the target of e its owner, mode, extended attributes
// and times, in the order in which one does not undo another.
func (p *plan) copyAttributes(to side, e *entry) error {
	path := to.path(e.path)
	err := unix.Lchown(path, int(e.stat.Uid), int(e.stat.Gid))
	if errors.Is(err, unix.EPERM) && os.Geteuid() != 0 {
		p.owner.Do(func() { p.note(e.path, "owners are not kept: only root can give files away") })
		err = nil
	}
	if err != nil {
		return &os.PathError{Op: "chown", Path: path, Err: err}
	}
	if err := p.copyXattrs(to, e); err != nil {
		return err
	}
	if e.kind() != unix.S_IFLNK {
		if err := unix.Chmod(path, e.stat.Mode&0o7777); err != nil {
			return &os.PathError{Op: "chmod", Path: path, Err: err}
		}
	}
	times := []unix.Timespec{e.stat.Atim, e.stat.Mtim}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, times, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "set times of", Path: path, Err: err}
	}
	return nil
}

// copyXattrs copies extended attributes, access control lists among them.
// Those that only the system may set are noted when they cannot be kept.
func (p *plan) copyXattrs(to side, e *entry) error {
	from := p.from.path(e.path)
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
		if err := p.copyXattr(to, e, string(name)); err != nil {
			return fmt.Errorf("copy attribute %s of %s: %w", name, from, err)
		}
	}
	return nil
}

func (p *plan) copyXattr(to side, e *entry, name string) error {
	from := p.from.path(e.path)
	n, err := unix.Lgetxattr(from, name, nil)
	if err != nil {
		return err
	}
	value := make([]byte, n)
	if n, err = unix.Lgetxattr(from, name, value); err != nil {
		return err
	}
	err = unix.Lsetxattr(to.path(e.path), name, value[:n], 0)
	if (errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP)) && !strings.HasPrefix(name, "user.") {
		p.note(e.path, "attribute "+name+" not kept: "+err.Error())
		return nil
	}
	return err
}
