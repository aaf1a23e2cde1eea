package fusefs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// Programs see names, the lower tree has what package volume makes of them. The
// kernel keeps everybody else out of a directory while one of its entries
// changes, and out of one that is removed or replaced.

// hidesNames reports whether names are encrypted.
func (fs *fileSystem) hidesNames() bool { return fs.opts.Names == volume.NamesEncrypted }

// namesOf returns the names of the directory dir, and gives it some if it has
// none and make is set. The error is unix.ENOENT for a directory without names,
// which has no entries either.
func (fs *fileSystem) namesOf(dir *node, make bool) (*volume.DirNames, unix.Errno) {
	if !fs.hidesNames() {
		return volume.PlainNames, 0
	}
	if names := dir.names.Load(); names != nil {
		return names, 0
	}
	load := volume.LoadNames
	if make {
		load = volume.MakeNames
	}
	names, err := load(dir.fd, fs.opts.Keys)
	if err != nil {
		if errors.Is(err, volume.ErrNoNames) {
			return nil, unix.ENOENT
		}
		return nil, fs.refuse(dir, err)
	}
	dir.names.Store(names)
	return names, 0
}

// lower returns what name is below in dir. With make set it is about to be made.
func (fs *fileSystem) lower(dir *node, name string, make bool) (volume.LowerName, unix.Errno) {
	names, errno := fs.namesOf(dir, make)
	if errno != 0 {
		return volume.LowerName{}, errno
	}
	low, err := names.Lower(name)
	return low, errnoOf(err)
}

// forgetNames forgets the names of the directory low in dir, which may have lost
// its id in an attempt to remove it.
func (fs *fileSystem) forgetNames(dir *node, low volume.LowerName) {
	var st unix.Stat_t
	if !fs.hidesNames() || unix.Fstatat(dir.fd, low.Name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if n := fs.nodes[inode{uint64(st.Dev), st.Ino}]; n != nil {
		n.names.Store(nil)
	}
}

// shown returns the name of the lower entry of dir, and false for one that no
// program is to see.
func (fs *fileSystem) shown(dir *node, names *volume.DirNames, lower []byte) (string, bool) {
	name := string(lower)
	if name == "." || name == ".." {
		return name, true
	}
	if names.IsHidden(name) {
		return "", false
	}
	name, err := names.Name(dir.fd, name)
	if err != nil {
		fs.complain(dir, "list", fmt.Errorf("%s: %w", lower, err))
		return "", false
	}
	return name, true
}

// linkTarget returns where the symbolic link n leads, reading it by way of buf.
func (fs *fileSystem) linkTarget(n *node, buf []byte) (string, unix.Errno) {
	k, err := unix.Readlinkat(n.fd, "", buf[:unix.PathMax])
	if err != nil {
		return "", errnoOf(err)
	}
	target := string(buf[:k])
	if fs.hidesNames() {
		if target, err = volume.OpenLink(fs.opts.Keys, target); err != nil {
			return "", fs.refuse(n, err)
		}
	}
	return target, 0
}

// linkSize is how long the target of the symbolic link n is, of size bytes
// below.
func (fs *fileSystem) linkSize(n *node, size int64) int64 {
	if !fs.hidesNames() {
		return size
	}
	var buf [unix.PathMax]byte
	if target, errno := fs.linkTarget(n, buf[:]); errno == 0 {
		return int64(len(target))
	}
	return size
}

// lowerTarget returns what the target of a symbolic link is below.
func (fs *fileSystem) lowerTarget(target string) (string, error) {
	if !fs.hidesNames() {
		return target, nil
	}
	return volume.SealLink(fs.opts.Keys, target)
}
