//go:build unix

package sidecar

import (
	"io/fs"
	"os"
	"syscall"
)

// ownerOnly reports whether only the owner, who is this user or root, may use
// the file.
func ownerOnly(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return fi.Mode().Perm()&0o077 == 0 && (!ok || st.Uid == 0 || int(st.Uid) == os.Geteuid())
}
