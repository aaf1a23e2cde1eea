package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// An entry is one name of the source tree.
type entry struct {
	path string // relative to the root, as a mount shows it; "." is the root itself
	from string // the same as it is in the source
	to   string // the same as it is in the target, once place or makeDirs knew
	stat unix.Stat_t
	size int64 // of the content of a regular file, in bytes
	same int   // index of the first entry with this inode, or -1
}

func (e *entry) kind() uint32 { return e.stat.Mode & unix.S_IFMT }

// A stamp changes whenever a file does.
type stamp struct {
	Ino   uint64 `json:"ino"`
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"` // ns
	CTime int64  `json:"ctime"` // ns
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
}

// A plan is the source tree as it was found, parents before children.
type plan struct {
	from    side
	note    func(path, what string)
	entries []entry
	inodes  map[[2]uint64]int // device and inode of regular files → entry
	skipped int
	owner   sync.Once // for the note that owners are not kept
}

// makePlan reads the whole tree of from.
func makePlan(from side, note func(path, what string)) (*plan, error) {
	p := &plan{from: from, note: note, inodes: map[[2]uint64]int{}}
	names := newSourceNames(from)
	err := filepath.WalkDir(from.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from.root, path)
		if err != nil {
			return err
		}
		shown, own, err := names.of(rel)
		if err != nil || own {
			return err
		}
		return p.add(shown, rel)
	})
	if err != nil {
		return nil, fmt.Errorf("read tree: %w", err)
	}
	return p, nil
}

// add adds the entry rel, which is from in the source.
func (p *plan) add(rel, from string) error {
	e := entry{path: rel, from: from, same: -1}
	if err := unix.Lstat(p.from.path(from), &e.stat); err != nil {
		return &os.PathError{Op: "lstat", Path: p.from.path(from), Err: err}
	}
	switch e.kind() {
	case unix.S_IFREG:
		e.size = e.stat.Size
		if p.from.keys != nil {
			e.size = volume.ContentSize(e.size)
		}
		key := [2]uint64{e.stat.Dev, e.stat.Ino}
		if first, ok := p.inodes[key]; ok {
			e.same = first
		} else {
			p.inodes[key] = len(p.entries)
		}
	case unix.S_IFSOCK:
		p.skip(rel, "socket, not copied: its server makes it anew")
		return nil
	case unix.S_IFDIR:
		if rel == "lost+found" {
			p.skip(rel, "belongs to the file system, not copied")
			return fs.SkipDir
		}
	case unix.S_IFLNK:
		p.noteLink(&e)
	}
	p.entries = append(p.entries, e)
	return nil
}

func (p *plan) skip(rel, why string) {
	p.skipped++
	p.note(rel, why)
}

// noteLink tells of a link out of the tree: what it names is not converted.
func (p *plan) noteLink(e *entry) {
	to, err := p.from.readlink(e.from)
	if err != nil {
		return // copying it will say so
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(p.from.root, filepath.Dir(e.path), to)
	}
	if !within(p.from.root, filepath.Clean(to)) {
		p.note(e.path, "link out of the tree, kept as it is: what it names is not converted")
	}
}

// copied reports whether e has content to copy.
func (e *entry) copied() bool { return e.kind() == unix.S_IFREG && e.same < 0 }

func (p *plan) totals() (files int, bytes int64) {
	for i := range p.entries {
		if e := &p.entries[i]; e.copied() {
			files++
			bytes += e.allocated()
		}
	}
	return files, bytes
}

// allocated estimates the bytes of content that are not holes.
func (e *entry) allocated() int64 {
	// Blocks hold metadata on some file systems, and a small file may have none.
	if n := e.stat.Blocks * 512; n < e.size && n > 0 {
		return n
	}
	return e.size
}

func (p *plan) summary() Summary {
	s := Summary{Skipped: p.skipped}
	for i := range p.entries {
		switch e := &p.entries[i]; {
		case e.copied():
			s.Files++
			s.Bytes += e.size
		case e.kind() == unix.S_IFDIR:
			s.Directories++
		default:
			s.Links++
		}
	}
	return s
}

// checkSpace returns unix.ENOSPC if what is left to copy cannot fit.
func (p *plan) checkSpace(root string, jn *journal) error {
	var fsinfo unix.Statfs_t
	if err := unix.Statfs(root, &fsinfo); err != nil {
		return err
	}
	var need int64
	for i := range p.entries {
		if e := &p.entries[i]; e.copied() && !jn.done(i) {
			need += (e.allocated()+4095)&^4095 + volume.HeaderSize - jn.bytesOf(i)
		}
	}
	if free := int64(fsinfo.Bavail) * fsinfo.Bsize; need > free {
		return fmt.Errorf("%d MiB are needed and %d MiB free in %s: %w", need>>20, free>>20, root, unix.ENOSPC)
	}
	return nil
}

// makeDirs makes the directories of the target, for their owner only while
// files come in, and removes what the source does not have.
func (p *plan) makeDirs(to side) error {
	names := newTargetNames(to, true)
	wanted := make(map[string]*entry, len(p.entries))
	for i := range p.entries {
		e := &p.entries[i]
		if err := names.place(e); err != nil {
			return err
		}
		wanted[e.to] = e
		if e.kind() != unix.S_IFDIR {
			continue
		}
		path := to.path(e.to)
		if fi, err := os.Lstat(path); err == nil && !fi.IsDir() {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := os.Chmod(path, 0o700); err != nil {
			return err
		}
	}
	return filepath.WalkDir(to.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(to.root, path)
		if err != nil {
			return err
		}
		if e := wanted[rel]; e != nil && (e.kind() == unix.S_IFDIR) == d.IsDir() {
			return nil
		}
		if entry, own := to.ownOf(rel); own && (entry == "" || wanted[entry] != nil) {
			return nil
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// finish makes what is no content: links, special files, and last, children
// before parents, what directories say of themselves. Then all is synced.
func (p *plan) finish(to side, root *os.File) error {
	for i := range p.entries {
		e := &p.entries[i]
		if e.kind() == unix.S_IFDIR || e.copied() {
			continue
		}
		if err := p.makeOther(to, e); err != nil {
			return err
		}
	}
	for i := range slices.Backward(p.entries) {
		if e := &p.entries[i]; e.kind() == unix.S_IFDIR {
			if err := p.copyAttributes(to, e); err != nil {
				return err
			}
		}
	}
	return syncFS(root)
}

func (p *plan) makeOther(to side, e *entry) error {
	path := to.path(e.to)
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	if e.same >= 0 {
		return os.Link(to.path(p.entries[e.same].to), path)
	}
	var err error
	if e.kind() == unix.S_IFLNK {
		var target string
		if target, err = p.from.readlink(e.from); err == nil {
			err = to.symlink(target, e.to)
		}
	} else if err = unix.Mknod(path, e.stat.Mode, int(e.stat.Rdev)); err != nil {
		err = &os.PathError{Op: "mknod", Path: path, Err: err}
	}
	if err != nil {
		return err
	}
	return p.copyAttributes(to, e)
}

// checkUnchanged returns ErrChanged if the source is not what the plan saw.
func (p *plan) checkUnchanged() error {
	now, err := makePlan(p.from, func(string, string) {})
	if err != nil {
		return err
	}
	for i := range now.entries {
		if i >= len(p.entries) || now.entries[i].path != p.entries[i].path ||
			stampOf(&now.entries[i].stat) != stampOf(&p.entries[i].stat) {
			return fmt.Errorf("%w: %s", ErrChanged, now.entries[i].path)
		}
	}
	if len(now.entries) != len(p.entries) {
		return fmt.Errorf("%w: %s", ErrChanged, p.entries[len(now.entries)].path)
	}
	return nil
}
