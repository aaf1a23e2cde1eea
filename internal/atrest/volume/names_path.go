package volume

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A pathNames turns paths of a tree as they are below into those that a mount
// shows. It keeps what it learned of directories, so it must not outlive a walk.
type pathNames struct {
	d    *Dir
	dirs map[string]*pathDir // by lower path
}

type pathDir struct {
	names    *DirNames
	namesErr error  // why they are not known
	path     string // as a mount shows it
	pathErr  error  // why it is not known
}

// errAbove is for a name that can be read, below one that cannot.
var errAbove = fmt.Errorf("%w: name of a directory above", ErrCorrupt)

func newPathNames(d *Dir) *pathNames { return &pathNames{d, map[string]*pathDir{}} }

// describe fills what e says of its name. Its directory was described before.
func (p *pathNames) describe(e *Entry) {
	if p.d.Config().Names != NamesEncrypted {
		e.Name = e.Path
		return
	}
	e.Own = e.Path != "." && IsOwnName(filepath.Base(e.Path))
	if p.d.keys != nil && !e.Own {
		e.Name, e.NameErr = p.name(e.Path)
	}
}

// name returns the path that the lower path rel has in a mount.
func (p *pathNames) name(rel string) (string, error) {
	if rel == "." {
		return ".", nil
	}
	parent := p.dir(filepath.Dir(rel))
	if parent.namesErr != nil {
		return "", parent.namesErr
	}
	fd, err := p.open(filepath.Dir(rel))
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	name, err := parent.names.Name(fd, filepath.Base(rel))
	if err != nil {
		return "", err
	}
	if parent.pathErr != nil {
		return "", errAbove
	}
	return filepath.Join(parent.path, name), nil
}

// dir returns what is known of the directory with the lower path rel.
func (p *pathNames) dir(rel string) *pathDir {
	if known := p.dirs[rel]; known != nil {
		return known
	}
	known := new(pathDir)
	p.dirs[rel] = known
	known.path, known.pathErr = p.name(rel)
	fd, err := p.open(rel)
	if err != nil {
		known.namesErr = err
		return known
	}
	defer unix.Close(fd)
	known.names, known.namesErr = LoadNames(fd, p.d.keys)
	return known
}

func (p *pathNames) open(rel string) (int, error) {
	return unix.Openat(int(p.d.root.Fd()), rel, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// PlainPath returns the path that a mount shows for the lower path rel of the
// tree, or rel itself where that cannot be told: it is for messages.
func (d *Dir) PlainPath(rel string) string {
	var e Entry
	e.Path = rel
	newPathNames(d).describe(&e)
	if e.Name == "" {
		return rel
	}
	return e.Name
}
