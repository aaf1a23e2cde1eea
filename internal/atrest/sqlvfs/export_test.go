package sqlvfs

import (
	"strconv"

	"github.com/ncruces/go-sqlite3/vfs"
)

// WithBase opens the database, encrypted or not, over base.
func (o Options) WithBase(base vfs.VFS) Options {
	o.base = base
	return o
}

// HeldKeys counts the key sources that registered VFSes still hold.
func HeldKeys() int {
	held := 0
	for i := range vfsCount.Load() {
		v, ok := vfs.Find("veildb-" + strconv.FormatInt(i+1, 10)).(*encVFS)
		if !ok {
			continue
		}
		v.mu.Lock()
		if v.keys != nil {
			held++
		}
		v.mu.Unlock()
	}
	return held
}
