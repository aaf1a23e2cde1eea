package volume

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
//
// replaced says that the names are the new file, also with an error: then that
// may not be durable, or the next OpenDir completes it. If it is false, all are
// the old file. Nobody may change names meanwhile.
func (d *Dir) Replace(successor string, names []string) (replaced bool, err error) {
	if len(names) == 1 {
		return d.replaceOne(successor, names[0])
	}
	r := replacement{Successor: filepath.Base(successor)}
	for _, n := range names {
		r.Names = append(r.Names, []byte(n))
	}
	err = d.prepareReplace(&r)
	if err != nil {
		return false, errors.Join(err, d.abandonReplace(&r))
	}
	for i, n := range names {
		if err = os.Rename(d.spare(&r, i), d.inTree(n)); err != nil {
			if uerr := d.undoReplace(&r, i); uerr != nil {
				return true, errors.Join(err, uerr)
			}
			return false, errors.Join(err, d.abandonReplace(&r))
		}
	}
	if err := d.syncDirs(&r); err != nil {
		return true, err
	}
	return true, d.forgetReplace(&r)
}

func (d *Dir) replaceOne(successor, name string) (replaced bool, err error) {
	path := d.inTree(name)
	if err := os.Rename(successor, path); err != nil {
		return false, err
	}
	return true, disk.SyncDir(filepath.Dir(path))
}

func (d *Dir) inTree(name string) string { return filepath.Join(d.root.Name(), name) }

func (d *Dir) successor(r *replacement) string {
	return d.Private(filepath.Join(replaceDir, r.Successor))
}

// old is one more name of the file that is replaced: it tells that file from
// one that got its name later, and its number goes to no other file.
func (d *Dir) old(r *replacement) string { return d.successor(r) + ".old" }

// spare is a name of the successor that is to become its i-th in the tree.
func (d *Dir) spare(r *replacement, i int) string { return fmt.Sprint(d.successor(r), ".", i) }

// prepareReplace does all that may fail for want of space or links, and writes
// the journal last.
func (d *Dir) prepareReplace(r *replacement) error {
	if err := os.Link(d.inTree(string(r.Names[0])), d.old(r)); err != nil {
		return err
	}
	for i := range r.Names {
		if err := os.Link(d.successor(r), d.spare(r, i)); err != nil {
			return err
		}
	}
	if err := disk.SyncDir(d.Private(replaceDir)); err != nil {
		return err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return disk.AtomicWrite(d.Private(replaceJournal), data, 0o600)
}

// undoReplace gives the first n names back to the old file.
func (d *Dir) undoReplace(r *replacement, n int) error {
	for i := range n {
		if err := os.Link(d.old(r), d.spare(r, i)); err != nil {
			return err
		}
		if err := os.Rename(d.spare(r, i), d.inTree(string(r.Names[i]))); err != nil {
			return err
		}
	}
	return nil
}

// abandonReplace forgets a replacement whose names are all the old file. Without
// the successor its journal means nothing.
func (d *Dir) abandonReplace(r *replacement) error {
	err := os.Remove(d.successor(r))
	jerr := os.Remove(d.Private(replaceJournal))
	if errors.Is(jerr, fs.ErrNotExist) {
		jerr = nil
	}
	d.removeSpares(r)
	return errors.Join(err, jerr, disk.SyncDir(d.Private(replaceDir)), disk.SyncDir(d.Private(".")))
}

// forgetReplace forgets a replacement that is complete and durable.
func (d *Dir) forgetReplace(r *replacement) error {
	if err := os.Remove(d.Private(replaceJournal)); err != nil {
		return err
	}
	if err := disk.SyncDir(d.Private(".")); err != nil {
		return err
	}
	d.removeSpares(r)
	return os.Remove(d.successor(r))
}

// removeSpares removes names that the next OpenDir removes otherwise.
func (d *Dir) removeSpares(r *replacement) {
	os.Remove(d.old(r))
	for i := range r.Names {
		os.Remove(d.spare(r, i))
	}
}

// syncDirs makes the names of r durable.
func (d *Dir) syncDirs(r *replacement) error {
	done := map[string]bool{}
	for _, n := range r.Names {
		dir := filepath.Dir(d.inTree(string(n)))
		if done[dir] {
			continue
		}
		done[dir] = true
		if err := disk.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// completeReplace makes all names of r its successor, from wherever that was
// interrupted, and forgets the journal. Names that became other files since are
// theirs.
func (d *Dir) completeReplace(r *replacement) error {
	successor := d.successor(r)
	to, err := os.Lstat(successor)
	if err != nil {
		return err
	}
	old, err := os.Lstat(d.old(r))
	if errors.Is(err, fs.ErrNotExist) {
		old, err = nil, nil // of a version that made none, and kept names still
	}
	if err != nil {
		return err
	}
	temp := successor + ".link"
	for _, n := range r.Names {
		path := d.inTree(string(n))
		fi, err := os.Lstat(path)
		if old != nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if os.SameFile(fi, to) || old != nil && !os.SameFile(fi, old) {
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
	}
	if err := d.syncDirs(r); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.forgetReplace(r)
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
