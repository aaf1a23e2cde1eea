package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// Names of a volume may be encrypted. A plan knows each entry by the name that a
// mount shows, and beside it by what it is in the source and in the target.

func (s side) hidesNames() bool { return s.names == volume.NamesEncrypted }

// openDir opens the directory rel for its names.
func (s side) openDir(rel string) (int, error) {
	fd, err := unix.Open(s.path(rel), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: s.path(rel), Err: err}
	}
	return fd, nil
}

// readlink returns where the symbolic link rel leads.
func (s side) readlink(rel string) (string, error) {
	to, err := os.Readlink(s.path(rel))
	if err == nil && s.hidesNames() {
		if to, err = volume.OpenLink(s.keys, to); err != nil {
			err = fmt.Errorf("%s: %w", s.path(rel), err)
		}
	}
	return to, err
}

// symlink makes rel a symbolic link that leads to target.
func (s side) symlink(target, rel string) (err error) {
	if s.hidesNames() {
		if target, err = volume.SealLink(s.keys, target); err != nil {
			return fmt.Errorf("%s: %w", s.path(rel), err)
		}
	}
	return os.Symlink(target, s.path(rel))
}

// ownOf reports whether rel is a file that encrypted names need, and which long
// entry needs it; "" stands for all of its directory.
func (s side) ownOf(rel string) (entry string, own bool) {
	dir, base := filepath.Split(rel)
	if !s.hidesNames() || !volume.IsOwnName(base) {
		return "", false
	}
	if entry = volume.LongEntry(base); entry != "" {
		entry = filepath.Join(dir, entry)
	}
	return entry, true
}

// sourceNames tells what paths of a source are, in the order of a walk.
type sourceNames struct {
	side
	dirs map[string]*sourceDir // by path in the source
}

type sourceDir struct {
	path  string // as a mount shows it
	names *volume.DirNames
}

func newSourceNames(from side) *sourceNames {
	return &sourceNames{from, map[string]*sourceDir{".": {path: "."}}}
}

// of returns the path that a mount shows for rel, or that rel is no entry but a
// file that names need.
func (n *sourceNames) of(rel string) (shown string, own bool, err error) {
	if _, own := n.ownOf(rel); own || !n.hidesNames() || rel == "." {
		return rel, own, nil
	}
	parent := n.dirs[filepath.Dir(rel)]
	fd, err := n.openDir(filepath.Dir(rel))
	if err != nil {
		return "", false, err
	}
	defer unix.Close(fd)
	if parent.names == nil {
		if parent.names, err = volume.LoadNames(fd, n.keys); err != nil {
			return "", false, fmt.Errorf("%s: %w", n.path(rel), err)
		}
	}
	name, err := parent.names.Name(fd, filepath.Base(rel))
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", n.path(rel), err)
	}
	shown = filepath.Join(parent.path, name)
	n.dirs[rel] = &sourceDir{path: shown}
	return shown, false, nil
}

// targetNames says what entries are in a target, parents first.
type targetNames struct {
	side
	make bool                        // make what names need
	dirs map[string]string           // path as a mount shows it → in the target
	keep map[string]*volume.DirNames // by the former
}

func newTargetNames(to side, make bool) *targetNames {
	return &targetNames{to, make, map[string]string{".": "."}, map[string]*volume.DirNames{}}
}

// place sets e.to; to "" if that is not known yet.
func (n *targetNames) place(e *entry) error {
	if e.to = e.path; !n.hidesNames() || e.path == "." {
		return nil
	}
	e.to = ""
	dir := filepath.Dir(e.path)
	lower, known := n.dirs[dir]
	if !known {
		return nil
	}
	fd, err := n.openDir(lower)
	if !n.make && errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	names, err := n.of(dir, fd)
	if errors.Is(err, volume.ErrNoNames) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", n.path(lower), err)
	}
	low, err := names.Lower(filepath.Base(e.path))
	if err == nil && n.make {
		err = low.Keep(fd)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.path, err)
	}
	e.to = filepath.Join(lower, low.Name)
	if e.kind() == unix.S_IFDIR {
		n.dirs[e.path] = e.to
	}
	return nil
}

// of returns the names of the directory dir, open as fd.
func (n *targetNames) of(dir string, fd int) (*volume.DirNames, error) {
	if names := n.keep[dir]; names != nil {
		return names, nil
	}
	load := volume.LoadNames
	if n.make {
		load = volume.MakeNames
	}
	names, err := load(fd, n.keys)
	if err == nil {
		n.keep[dir] = names
	}
	return names, err
}

// place finds out what the entries are in to, as far as an earlier run made
// them.
func (p *plan) place(to side) error {
	names := newTargetNames(to, false)
	for i := range p.entries {
		if err := names.place(&p.entries[i]); err != nil {
			return err
		}
	}
	return nil
}
