package volume

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/disk"
)

// A file is replaced by renaming its successor over it. A file with several
// names takes several renames; a journal, durable before the first of them,
// says which, and OpenDir completes what a crash interrupted before anybody
// can write to the one or the other.
const (
	replaceDir     = "rekey"         // in privateName: successors in the making
	replaceJournal = "rekey.journal" // in privateName
	maxJournal     = 64 << 20
)

// replacement is the content of the journal.
type replacement struct {
	Successor string   `json:"successor"` // name in replaceDir
	Names     [][]byte `json:"names"`     // paths in the tree, as bytes
}

// NewSuccessor makes an empty file that Replace can put in the place of
// another, and returns it with its path.
func (d *Dir) NewSuccessor() (*os.File, error) {
	if err := os.Mkdir(d.Private(replaceDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.CreateTemp(d.Private(replaceDir), "file.*")
}

// Replace puts the file successor, which NewSuccessor made and whose content
// and attributes are durable, in the place of the names, relative to the tree,
// which are all those of one file. A crash leaves all of them the old file or
// the next OpenDir makes all of them the new one. d must not be a view.
func (d *Dir) Replace(successor string, names []string) error {
	if len(names) == 1 {
		return d.replaceOne(successor, names[0])
	}
	r := replacement{Successor: filepath.Base(successor)}
	for _, n := range names {
		r.Names = append(r.Names, []byte(n))
	}
	data, err := json.Marshal(&r)
	if err != nil {
		return err
	}
	if err := disk.AtomicWrite(d.Private(replaceJournal), data, 0o600); err != nil {
		return err
	}
	return d.completeReplace(&r)
}

func (d *Dir) replaceOne(successor, name string) error {
	path := filepath.Join(d.root.Name(), name)
	if err := os.Rename(successor, path); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}

// completeReplace makes all names of r its successor, from wherever that was
// interrupted, and forgets the journal.
func (d *Dir) completeReplace(r *replacement) error {
	successor := d.Private(filepath.Join(replaceDir, r.Successor))
	var new unix.Stat_t
	if err := unix.Lstat(successor, &new); err != nil {
		return &os.PathError{Op: "lstat", Path: successor, Err: err}
	}
	temp := successor + ".link"
	for _, n := range r.Names {
		path := filepath.Join(d.root.Name(), string(n))
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return &os.PathError{Op: "lstat", Path: path, Err: err}
		}
		if st.Ino == new.Ino && st.Dev == new.Dev {
			continue
		}
		if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Link(successor, temp); err != nil {
			return err
		}
		if err := os.Rename(temp, path); err != nil {
			return err
		}
		if err := disk.SyncDir(filepath.Dir(path)); err != nil {
			return err
		}
	}
	if err := os.Remove(d.Private(replaceJournal)); err != nil {
		return err
	}
	if err := disk.SyncDir(d.Private(".")); err != nil {
		return err
	}
	return os.Remove(successor)
}

// recoverReplace completes a replacement that was interrupted, and removes
// successors that never came to be one. d must be locked.
func (d *Dir) recoverReplace() error {
	data, err := os.ReadFile(d.Private(replaceJournal))
	if err == nil {
		var r replacement
		if len(data) > maxJournal || json.Unmarshal(data, &r) != nil || !validReplacement(&r) {
			return fmt.Errorf("%w: journal of a replacement", ErrCorrupt)
		}
		err = d.completeReplace(&r)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("complete interrupted replacement: %w", err)
	}
	return os.RemoveAll(d.Private(replaceDir))
}

// validReplacement keeps a journal that was tampered with inside of the volume.
func validReplacement(r *replacement) bool {
	local := func(n []byte) bool { return filepath.IsLocal(string(n)) }
	return len(r.Names) > 0 && r.Successor == filepath.Base(r.Successor) && filepath.IsLocal(r.Successor) &&
		!slices.ContainsFunc(r.Names, func(n []byte) bool { return !local(n) })
}
