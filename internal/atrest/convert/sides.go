package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

// A side is one of the two trees.
type side struct {
	root string
	keys volume.KeySource // nil for the plain one
	// names says how a volume keeps names; see names.go.
	names volume.Names
}

// content is an open file of a side: its plain content, and what lies below.
type content struct {
	disk.File
	os   *os.File
	base int64 // offset of content byte 0 in os
	id   string
}

// osFile adds Size to *os.File.
type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

func (s side) path(rel string) string { return filepath.Join(s.root, rel) }

// open opens the regular file rel for reading.
func (s side) open(rel string) (*content, error) {
	f, err := openQuietly(s.path(rel))
	if err != nil {
		return nil, err
	}
	if s.keys == nil {
		return &content{File: osFile{f}, os: f}, nil
	}
	v, err := volume.Open(osFile{f}, s.keys, volume.Options{})
	if errors.Is(err, volume.ErrEmpty) {
		// Made a moment before a crash: it never had content.
		return &content{File: osFile{f}, os: f}, nil
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", s.path(rel), err)
	}
	return &content{File: v, os: f, base: volume.HeaderSize, id: fmt.Sprintf("%x", v.Header().FileID)}, nil
}

// openQuietly opens a regular file for reading, without changing when it was
// last read if this process may do that.
func openQuietly(path string) (*os.File, error) {
	const flags = os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK
	f, err := os.OpenFile(path, flags|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) {
		f, err = os.OpenFile(path, flags, 0)
	}
	return f, err
}

// create makes rel a new file of size bytes, all of them a hole, in place of
// whatever is there.
func (s side) create(rel string, size int64) (*content, error) {
	f, err := s.createLower(rel)
	if err != nil {
		return nil, err
	}
	c := &content{File: osFile{f}, os: f}
	if s.keys != nil {
		// The header becomes durable with the content, before the journal says so.
		v, err := volume.Create(osFile{f}, s.keys, volume.Options{Unsynced: true})
		if err != nil {
			f.Close()
			return nil, err
		}
		c = &content{File: v, os: f, base: volume.HeaderSize, id: fmt.Sprintf("%x", v.Header().FileID)}
	} else if c.id, err = inode(f); err != nil {
		f.Close()
		return nil, err
	}
	if err := c.Truncate(size); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (s side) createLower(rel string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL | unix.O_NOFOLLOW
	f, err := os.OpenFile(s.path(rel), flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err := os.RemoveAll(s.path(rel)); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(s.path(rel), flags, 0o600)
	}
	return f, err
}

// reopen opens rel, which an earlier run created, for writing what is missing.
func (s side) reopen(rel string) (*content, error) {
	f, err := os.OpenFile(s.path(rel), os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if s.keys == nil {
		id, err := inode(f)
		if err != nil {
			f.Close()
			return nil, err
		}
		return &content{File: osFile{f}, os: f, id: id}, nil
	}
	v, err := volume.Open(osFile{f}, s.keys, volume.Options{})
	if err != nil {
		f.Close()
		return nil, err
	}
	return &content{File: v, os: f, base: volume.HeaderSize, id: fmt.Sprintf("%x", v.Header().FileID)}, nil
}

// inode identifies a plain file.
func inode(f *os.File) (string, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("i%d", st.Ino), nil
}

// transfer is an open conversion: both sides, where the journal is, and the
// last step.
type transfer struct {
	from, to side
	journal  string
	identity identity
	commit   func() error
	close    func()
}

func (j *Job) open(ctx context.Context) (*transfer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case j.Plain:
		return j.openPlain()
	case j.Decrypt:
		return j.openDecrypt()
	}
	return j.openEncrypt()
}

const journalName = "convert"

func (j *Job) openEncrypt() (*transfer, error) {
	keys, err := j.initVolume()
	if err != nil {
		return nil, err
	}
	open := j.Keys
	if keys != nil {
		open = func() (volume.KeySource, error) { return keys, nil }
	}
	d, err := volume.OpenDir(j.Target, open, volume.DirOptions{Converting: true, Purpose: "converting " + j.Source})
	if errors.Is(err, volume.ErrReady) {
		return nil, fmt.Errorf("%w: %s", fs.ErrExist, j.Target)
	}
	if err != nil {
		return nil, err
	}
	id, err := identify(j.Source, "encrypt")
	if kept := d.Config().Names; err == nil && j.Names != "" && j.Names != kept {
		err = fmt.Errorf("%w: its names are %s", ErrOther, kept)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	t := &transfer{
		from: side{root: j.Source}, to: side{d.Root().Name(), d.Keys(), d.Config().Names},
		journal: d.Private(journalName), identity: id, close: func() { d.Close() },
	}
	t.commit = func() error {
		if err := d.Update(func(c *volume.Config) { c.State = volume.StateReady }); err != nil {
			return err
		}
		return os.Remove(t.journal)
	}
	return t, nil
}

// initVolume makes the target a volume unless it is one, and returns the keys
// if it had to open them.
func (j *Job) initVolume() (volume.KeySource, error) {
	v, err := volume.ViewDir(j.Target, nil)
	if err == nil {
		return nil, v.Close()
	}
	if !errors.Is(err, volume.ErrNotVolume) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p, err := makePlan(side{root: j.Source}, func(string, string) {})
	if err == nil {
		err = p.checkUse() // before anything appears
	}
	if err != nil {
		return nil, err
	}
	keys, err := j.Keys()
	if err != nil {
		return nil, err
	}
	return keys, volume.InitDir(j.Target, keys, volume.Config{State: volume.StateConverting, Names: j.Names})
}

// openDecrypt opens a volume to be read, and makes the target a plain tree.
func (j *Job) openDecrypt() (*transfer, error) {
	if err := j.checkEmpty(); err != nil {
		return nil, err
	}
	d, err := volume.OpenDir(j.Source, j.Keys, volume.DirOptions{ReadOnly: true, Purpose: "decrypting to " + j.Target})
	if err != nil {
		return nil, err
	}
	t, err := j.openHidden("decrypt")
	if err != nil {
		d.Close()
		return nil, err
	}
	hidden := t.close
	t.close = func() { hidden(); d.Close() }
	t.from = side{d.Root().Name(), d.Keys(), d.Config().Names}
	return t, nil
}

// openPlain makes the target a plain tree of a source that is one.
func (j *Job) openPlain() (*transfer, error) {
	if err := j.checkEmpty(); err != nil {
		return nil, err
	}
	p, err := makePlan(side{root: j.Source}, func(string, string) {})
	if err == nil {
		err = p.checkUse() // before anything appears
	}
	if err != nil {
		return nil, err
	}
	t, err := j.openHidden("copy")
	if err != nil {
		return nil, err
	}
	t.from = side{root: j.Source}
	return t, nil
}

// checkEmpty refuses a target that holds something.
func (j *Job) checkEmpty() error {
	if entries, err := os.ReadDir(j.Target); err == nil && len(entries) > 0 {
		return fmt.Errorf("%w: %s holds something", fs.ErrExist, j.Target)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// openHidden prepares the hidden directory beside the target, in which a plain
// tree grows.
func (j *Job) openHidden(way string) (*transfer, error) {
	id, err := identify(j.Source, way)
	if err != nil {
		return nil, err
	}
	work := filepath.Join(filepath.Dir(j.Target), "."+filepath.Base(j.Target)+".veildb-convert")
	tree := filepath.Join(work, "files")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, err
	}
	if j.Prepare != nil {
		if err := j.Prepare(work); err != nil {
			os.Remove(work) // if it is still empty
			return nil, err
		}
	}
	if err := os.MkdirAll(tree, 0o700); err != nil {
		return nil, err
	}
	lock, err := disk.Lock(filepath.Join(work, "lock"))
	if err != nil {
		return nil, err
	}
	t := &transfer{to: side{root: tree}, journal: filepath.Join(work, journalName), identity: id, close: func() { lock.Close() }}
	t.commit = func() error {
		if j.Finish != nil {
			if err := j.Finish(tree); err != nil {
				return err
			}
		}
		// Plain rename replaces an empty directory, and nothing else.
		if err := unix.Rename(tree, j.Target); err != nil {
			return &os.LinkError{Op: "rename", Old: tree, New: j.Target, Err: err}
		}
		if err := disk.SyncDir(filepath.Dir(j.Target)); err != nil {
			return err
		}
		return os.RemoveAll(work)
	}
	return t, nil
}
