package sqlvfs

import "github.com/ncruces/go-sqlite3/vfs"

// WithBase puts the encrypting VFS over base.
func (o Options) WithBase(base vfs.VFS) Options {
	o.base = base
	return o
}
