package volume

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"crypto/rand"

	"golang.org/x/sys/unix"
)

// Every change of an encrypted directory is one lower step that matters, with
// steps before and after it that do not: a directory without entries need not
// have an id file, and a sealed name without its entry is nobody's. So whatever
// dies between two steps loses no entry and leaves no directory that cannot be
// removed.

// ErrNoNames is a directory that holds no entry and has no id yet.
var ErrNoNames = errors.New("directory holds no names yet")

// step is called after each lower step that changes a directory. Tests stop
// there.
var step = func() {}

// LoadNames reads the id of the open directory dir, whose names are encrypted.
// dir may be opened with O_PATH. Errors: ErrNoNames for a directory without
// entries, those of Open for an id file that is missing or does not stand.
func LoadNames(dir int, keys KeySource) (*DirNames, error) {
	n, err := loadNames(dir, keys)
	if errors.Is(err, unix.ENOENT) {
		var free bool
		if free, err = isFree(dir); err == nil && free {
			return nil, ErrNoNames
		}
		if err == nil {
			n, err = loadNames(dir, keys) // made meanwhile?
		}
		if errors.Is(err, unix.ENOENT) {
			err = fmt.Errorf("%w: %s is missing", ErrCorrupt, dirFileName)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("load names of directory: %w", err)
	}
	return n, nil
}

func loadNames(dir int, keys KeySource) (*DirNames, error) {
	f, err := openOwn(dir, dirFileName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := readHeaderOf(f, keys, roleNames)
	if err != nil {
		return nil, err
	}
	return newDirNames(keys, h)
}

// MakeNames is LoadNames, and gives an id to a directory that has none yet.
func MakeNames(dir int, keys KeySource) (*DirNames, error) {
	n, err := LoadNames(dir, keys)
	if !errors.Is(err, ErrNoNames) {
		return n, err
	}
	if err := RenewID(dir, keys); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, err
	}
	return LoadNames(dir, keys)
}

// IsMissingID reports whether the open directory dir has no id file.
func IsMissingID(dir int) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, dirFileName, &st, unix.AT_SYMLINK_NOFOLLOW) == unix.ENOENT
}

// RenewID gives a new id to the open directory dir, which has none; the names of
// its entries cannot be read any more. The error matches unix.EEXIST if it has
// one.
func RenewID(dir int, keys KeySource) error {
	h := Header{KeyVersion: keys.Current(), Role: roleNames}
	rand.Read(h.FileID[:]) // never fails, see crypto/rand
	key, cipher, err := fileKeys(keys, h.KeyVersion, h.FileID)
	if err != nil {
		return fmt.Errorf("make id of directory: %w", err)
	}
	defer clear(key[:])
	cipher.Wipe()
	if err := putFile(dir, dirFileName, h.seal(nil, &key)); err != nil {
		return fmt.Errorf("make id of directory: %w", err)
	}
	return nil
}

// putFile makes the file name in dir, which appears with all its content, and
// that durable. The error is unix.EEXIST if it exists.
func putFile(dir int, name string, data []byte) error {
	fd, err := unix.Openat(dir, ".", unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), dir, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return err
	}
	step()
	return nil
}

// listDir returns the lower names in dir.
func listDir(dir int) ([]string, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	return f.Readdirnames(-1)
}

// isFree reports whether the directory dir holds no entry.
func isFree(dir int) (bool, error) {
	names, err := listDir(dir)
	if err != nil {
		return false, err
	}
	for _, n := range names {
		if !IsOwnName(n) {
			return false, nil
		}
	}
	return true, nil
}

// strip takes from the directory name in dir what names need, if it holds no
// entry, so that it can be removed. The error is unix.ENOTEMPTY if it does.
func strip(dir int, name string) error {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	free, err := isFree(fd)
	if err != nil {
		return err
	}
	if !free {
		return unix.ENOTEMPTY
	}
	names, err := listDir(fd)
	if err != nil {
		return err
	}
	for _, n := range names {
		if n != dirFileName {
			if err := unlinkStep(fd, n); err != nil {
				return err
			}
		}
	}
	return unlinkStep(fd, dirFileName)
}

func unlinkStep(dir int, name string) error {
	if err := unix.Unlinkat(dir, name, 0); err != nil && err != unix.ENOENT {
		return err
	}
	step()
	return nil
}

// openOwn opens the file name in dir, which names need, for reading. The error
// matches ErrCorrupt for what is no file, such as a link or a pipe; none is
// followed or waited for.
func openOwn(dir int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrCorrupt, name)
	}
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// readSealed reads a sealed name.
func readSealed(dir int, name string) ([]byte, error) {
	f, err := openOwn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSealed+1))
}

// LongEntry returns the lower name of the entry that the file own goes with, or
// "" if own is not a file that goes with a long name.
func LongEntry(own string) string {
	if sum, ok := strings.CutPrefix(own, sealedPrefix); ok {
		return longPrefix + sum
	}
	return ""
}

// Keep sees to it that what goes with n is in the open directory dir, for who
// makes the entry n later.
func (n *LowerName) Keep(dir int) error {
	_, err := n.keep(dir)
	return err
}

// sealedFile is the file that goes with a long name.
func (n *LowerName) sealedFile() string {
	return sealedPrefix + strings.TrimPrefix(n.Name, longPrefix)
}

// keep sees to it that what goes with n is in dir, and reports whether it was
// not.
func (n *LowerName) keep(dir int) (made bool, err error) {
	if n.sealed == nil {
		return false, nil
	}
	got, err := readSealed(dir, n.sealedFile())
	if err == nil && string(got) == string(n.sealed) {
		return false, nil
	}
	if !errors.Is(err, unix.ENOENT) {
		// Damaged: nobody could read the name by it.
		if err := unlinkStep(dir, n.sealedFile()); err != nil {
			return false, err
		}
	}
	err = putFile(dir, n.sealedFile(), n.sealed)
	if errors.Is(err, unix.EEXIST) { // by somebody else just now
		return false, nil
	}
	return err == nil, err
}

// drop removes what goes with n from dir if n has no entry there. One that
// stays does no harm, so errors do not matter.
func (n *LowerName) drop(dir int) {
	var st unix.Stat_t
	if n.sealed != nil && unix.Fstatat(dir, n.Name, &st, unix.AT_SYMLINK_NOFOLLOW) == unix.ENOENT {
		unlinkStep(dir, n.sealedFile())
	}
}

// MakeEntry has make, which must do it in one step, make the entry n of the
// open directory dir.
func MakeEntry(dir int, n LowerName, make func(name string) error) error {
	made, err := n.keep(dir)
	if err != nil {
		return err
	}
	if err := make(n.Name); err != nil {
		if made {
			n.drop(dir)
		}
		return err
	}
	step()
	return nil
}

// RemoveEntry removes the entry n of the open directory dir, with flags as
// unlinkat(2) takes them.
func RemoveEntry(dir int, n LowerName, flags int) error {
	err := unix.Unlinkat(dir, n.Name, flags)
	if n.sealer && flags&unix.AT_REMOVEDIR != 0 && notEmpty(err) {
		if err = strip(dir, n.Name); err == nil {
			err = unix.Unlinkat(dir, n.Name, flags)
		}
	}
	if err != nil {
		return err
	}
	step()
	n.drop(dir)
	return nil
}

func notEmpty(err error) bool { return err == unix.ENOTEMPTY || err == unix.EEXIST }

// RenameEntry makes the entry from of the open directory fromDir the entry to of
// toDir, with flags as renameat2(2) takes them.
func RenameEntry(fromDir int, from LowerName, toDir int, to LowerName, flags uint) error {
	made, err := to.keep(toDir)
	if err != nil {
		return err
	}
	rename := func() error { return unix.Renameat2(fromDir, from.Name, toDir, to.Name, flags) }
	err = rename()
	if to.sealer && flags == 0 && notEmpty(err) {
		if err = strip(toDir, to.Name); err == nil {
			err = rename()
		}
	}
	if err != nil {
		if made {
			to.drop(toDir)
		}
		return err
	}
	step()
	from.drop(fromDir) // not after an exchange, or of another link to the same file
	return nil
}
