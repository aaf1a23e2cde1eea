//go:build unix

package kms

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownerOnly returns ErrInsecure unless only the owner, who is this user or
// root, may use the regular file.
func ownerOnly(path string, fi fs.FileInfo) error {
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: %w", path, ErrInsecure)
	}
	if mode := fi.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("mode of %s is %04o, want 0600: %w", path, mode, ErrInsecure)
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("owner of %s is user %d, want %d: %w", path, st.Uid, os.Geteuid(), ErrInsecure)
	}
	return nil
}
