package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// checkName looks at the name of e in a volume whose names are encrypted.
func (c *checker) checkName(e *volume.Entry) error {
	path := filepath.Join(c.d.Root().Name(), e.Path)
	switch {
	case e.Own:
		c.checkOwn(path, e)
	case errors.Is(e.NameErr, volume.ErrName) || errors.Is(e.NameErr, unix.ENOENT):
		c.addName(path, e)
	case e.NameErr != nil:
		// Its directory cannot be read; that is reported there.
	case e.Kind() == unix.S_IFLNK:
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if _, err := volume.OpenLink(c.d.Keys(), to); err != nil {
			c.add(Problem{Path: c.rel(path), What: "where the link leads: " + err.Error(), Severity: Damage})
		}
	}
	if e.Kind() == unix.S_IFDIR {
		return c.checkDir(path)
	}
	return nil
}

// checkOwn looks at a file that names need.
func (c *checker) checkOwn(path string, e *volume.Entry) {
	p := Problem{Path: c.rel(path), Severity: Damage}
	entry := volume.LongEntry(filepath.Base(path))
	switch {
	case e.Kind() != unix.S_IFREG:
		p.What = "not a regular file, though names need it"
	case entry == "" && e.Err != nil:
		p.What = "id of the directory, without which its names cannot be read: " + e.Err.Error()
	case entry == "":
		first, known := c.ids[e.Header.FileID]
		if !known {
			c.ids[e.Header.FileID] = p.Path
			return
		}
		p.Severity = Untidy
		p.What = "copied below the mount from " + first + ": equal names in both look equal; copy the directory anew through the mount"
	default:
		if _, err := os.Lstat(filepath.Join(filepath.Dir(path), entry)); err == nil {
			return
		}
		p.What, p.Severity, p.Remedy = "long name of an entry that is not there, left by an interrupted operation", Untidy, "remove it"
		p.repair = func() error { return os.Remove(path) }
	}
	c.add(p)
}

// checkDir looks for the id of a directory, which one with entries must have. A
// damaged one is reported by itself.
func (c *checker) checkDir(path string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	_, err = volume.LoadNames(fd, c.d.Keys())
	if err == nil || errors.Is(err, volume.ErrNoNames) || !volume.IsMissingID(fd) {
		return nil
	}
	c.add(Problem{
		Path: c.rel(path), Severity: Damage, What: "the file with its id is missing, so its names cannot be read; a backup of it makes them readable again",
		Remedy: "give it a new id; a second repair then gives new names to what it holds",
		repair: func() error { return c.inDir(path, func(dir int) error { return volume.RenewID(dir, c.d.Keys()) }) },
	})
	return nil
}

// addName reports an entry whose name cannot be read. Its content can.
func (c *checker) addName(path string, e *volume.Entry) {
	name := fmt.Sprintf("recovered.%d", e.Stat.Ino)
	c.add(Problem{
		Path: c.rel(path), Severity: Damage, What: "no mount shows it: " + nameProblem(e.NameErr),
		Remedy: "name it " + name,
		repair: func() error {
			return c.inDir(filepath.Dir(path), func(dir int) error {
				names, err := volume.LoadNames(dir, c.d.Keys())
				if err != nil {
					return err
				}
				to, err := names.Lower(name)
				if err != nil {
					return err
				}
				return volume.RenameEntry(dir, volume.LowerName{Name: filepath.Base(path)}, dir, to, unix.RENAME_NOREPLACE)
			})
		},
	})
}

func nameProblem(err error) string {
	if errors.Is(err, unix.ENOENT) {
		return "the file with its long name is missing"
	}
	return err.Error()
}

// inDir calls do with the open directory path, and makes durable what it did.
func (c *checker) inDir(path string, do func(dir int) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := do(int(f.Fd())); err != nil {
		return err
	}
	return f.Sync()
}
