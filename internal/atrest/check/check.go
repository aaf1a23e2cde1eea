// Package check finds what is wrong with the structure of a volume directory,
// and repairs what can be repaired without guessing.
package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

// A Severity says what a problem means.
type Severity string

const (
	// Damage is content that cannot be read, or not be trusted.
	Damage Severity = "damage"
	// Untidy is what harms nothing yet.
	Untidy Severity = "untidy"
)

// A Problem is one thing found.
type Problem struct {
	Path     string   `json:"path"`           // relative to the volume directory
	Name     string   `json:"name,omitempty"` // as a mount shows it, if that is another
	What     string   `json:"what"`
	Severity Severity `json:"severity"`
	Remedy   string   `json:"remedy,omitempty"` // what Repair does about it; "" if nothing
	Repaired bool     `json:"repaired"`

	repair func() error
}

// A Report is the result of Run.
type Report struct {
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"` // of content
	Problems []Problem `json:"problems"`
}

// Options for Run. The zero value looks at the structure and changes nothing.
type Options struct {
	// Repair does what each problem's Remedy says. The Dir must not be a view.
	Repair bool
	// Read reads all content, too: it finds what the disk cannot read any more.
	Read bool
	// Zeros reads all content and reports pages that are zeros though they were
	// written: a failing disk or a bad copy leaves such pages, and so does a
	// program that zeroes a page in parts.
	Zeros bool
	// Progress is called with the files done.
	Progress func(files int)
}

type checker struct {
	ctx    context.Context
	d      *volume.Dir
	o      Options
	report Report
	ids    map[volume.FileID]string // file id → first path
}

// Run checks d. Without Repair nothing is changed; d may then be a view of a
// mounted volume, whose files may be in the making.
func Run(ctx context.Context, d *volume.Dir, o Options) (*Report, error) {
	c := &checker{ctx: ctx, d: d, o: o, ids: map[volume.FileID]string{}}
	err := c.checkPrivate()
	if err == nil {
		err = c.checkBeside()
	}
	if err == nil {
		err = d.Walk(c.checkEntry)
	}
	if err != nil {
		return nil, fmt.Errorf("check volume: %w", err)
	}
	for i := range c.report.Problems {
		p := &c.report.Problems[i]
		if rel, err := filepath.Rel(d.Root().Name(), filepath.Join(d.Path(), p.Path)); err == nil && filepath.IsLocal(rel) {
			if name := d.PlainPath(rel); name != rel {
				p.Name = name
			}
		}
	}
	if o.Repair {
		for i := range c.report.Problems {
			p := &c.report.Problems[i]
			if p.repair == nil {
				continue
			}
			if err := p.repair(); err != nil {
				return nil, fmt.Errorf("repair %s: %w", p.Path, err)
			}
			p.Repaired = true
		}
	}
	return &c.report, nil
}

func (c *checker) add(p Problem) { c.report.Problems = append(c.report.Problems, p) }

// rel returns path as problems name it.
func (c *checker) rel(path string) string {
	if rel, err := filepath.Rel(c.d.Path(), path); err == nil {
		return rel
	}
	return path
}

// known are the files that .veildb may hold, in any state of the volume.
var known = map[string]bool{"config": true, "config.copy": true, "lock": true, "mount.log": true, "control": true}

// checkPrivate looks at what the volume keeps beside its tree.
func (c *checker) checkPrivate() error {
	if err := c.checkCopy(); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.d.Private("."))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, path := e.Name(), c.d.Private(e.Name())
		p := Problem{Path: c.rel(path), Severity: Untidy}
		switch {
		case known[name]:
			continue
		case name == "lost":
			p.What = "copies of files whose header was lost, made before they were written again; remove them when they are no longer of use"
		case name == "rekey" || name == "rekey.journal":
			// At work, or interrupted: the next opening completes it.
			continue
		case name == "convert" && c.d.Config().State == volume.StateReady:
			p.What, p.Remedy = "journal of a conversion that is complete", "remove it"
			p.repair = func() error { return os.Remove(path) }
		case name == "convert":
			continue
		case strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp"):
			p.What, p.Remedy = "left by an interrupted write; the next mount removes it", "remove it"
			p.repair = func() error { return os.Remove(path) }
		default:
			p.What = "not a file of this program"
		}
		c.add(p)
	}
	return nil
}

// checkCopy compares the copy of the configuration with the one in use, which
// the opening of the volume has read.
func (c *checker) checkCopy() error {
	config, err := os.ReadFile(c.d.Private("config"))
	if err != nil {
		return err
	}
	spare, err := os.ReadFile(c.d.Private("config.copy"))
	if err == nil && bytes.Equal(config, spare) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.add(Problem{
		Path: c.rel(c.d.Private("config.copy")), What: "not a copy of the configuration, as after an interrupted change; the next mount mends it", Severity: Untidy,
		Remedy: "copy the configuration",
		repair: func() error { return disk.AtomicWrite(c.d.Private("config.copy"), config, 0o600) },
	})
	return nil
}

// checkBeside looks for what lies beside the tree and is not the volume's.
func (c *checker) checkBeside() error {
	entries, err := os.ReadDir(c.d.Path())
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "files" || name == ".veildb" || name == "lost+found":
		default:
			c.add(Problem{Path: name, What: "lies beside the tree; no mount shows it, and it is not encrypted", Severity: Untidy})
		}
	}
	return nil
}

// checkEntry looks at one name of the tree.
func (c *checker) checkEntry(e *volume.Entry) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.d.Config().Names == volume.NamesEncrypted {
		if err := c.checkName(e); err != nil {
			return err
		}
	}
	if e.Kind() != unix.S_IFREG || e.Again || e.Own {
		return nil
	}
	c.report.Files++
	c.report.Bytes += e.Size()
	if c.o.Progress != nil {
		c.o.Progress(c.report.Files)
	}
	path := filepath.Join(c.d.Root().Name(), e.Path)
	if e.Err != nil {
		c.addHeader(path, e)
		return nil
	}
	if first, ok := c.ids[e.Header.FileID]; ok {
		c.add(Problem{
			Path: c.rel(path), Severity: Untidy,
			What: "copied below the mount from " + first + ": both have one key, so comparing them shows where they differ; copy it anew through the mount",
		})
	} else {
		c.ids[e.Header.FileID] = c.rel(path)
	}
	if !volume.ValidLength(e.Stat.Size) {
		c.add(Problem{
			Path: c.rel(path), What: fmt.Sprintf("length %d is one that no complete write leaves", e.Stat.Size), Severity: Untidy,
			Remedy: "cut it to the content that is there",
			repair: func() error { return os.Truncate(path, volume.LowerSize(e.Size())) },
		})
	}
	if c.o.Read || c.o.Zeros {
		return c.readContent(path, e.Size())
	}
	return nil
}

// addHeader reports a file whose header does not stand.
func (c *checker) addHeader(path string, e *volume.Entry) {
	p := Problem{Path: c.rel(path), What: e.Err.Error(), Severity: Damage}
	lost, err := neverWritten(path)
	switch {
	case errors.Is(e.Err, volume.ErrEmpty) && e.Stat.Size == 0:
		return // made, and nothing written yet
	case err == nil && lost && e.Stat.Size <= volume.HeaderSize:
		p.What, p.Severity = "its header was lost in a crash before anything of it was synced", Untidy
		p.Remedy = "make it empty"
		p.repair = func() error { return os.Truncate(path, 0) }
	case err == nil && lost:
		// Its key can still be found in a manifest or an older copy.
		p.What = "its header was overwritten with zeros, or lost in a crash before anything of it was synced"
	}
	c.add(p)
}

// neverWritten reports whether the header of the lower file path is zeros, or
// cut off, as a crash right after its creation leaves it.
func neverWritten(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	b := make([]byte, volume.HeaderSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return len(bytes.Trim(b[:n], "\x00")) == 0, nil
}

// readContent reads all content of path, size bytes, but its holes.
func (c *checker) readContent(path string, size int64) error {
	lower, err := disk.OS.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	f, err := volume.Open(lower, c.d.Keys(), volume.Options{RefuseZeros: c.o.Zeros})
	if err != nil {
		lower.Close()
		c.add(Problem{Path: c.rel(path), What: err.Error(), Severity: Damage})
		return nil
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	defer clear(buf)
	for off := int64(0); off < size; off += int64(len(buf)) {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		hole, err := f.Hole(off, int64(len(buf)))
		if err == nil && hole {
			continue
		}
		n, err := f.ReadAt(buf, off)
		if errors.Is(err, io.EOF) || err == nil && n < len(buf) {
			return nil
		}
		if err != nil {
			p := Problem{Path: c.rel(path), What: fmt.Sprintf("from byte %d: %v", off, err), Severity: Damage}
			if errors.Is(err, volume.ErrZeroed) {
				p.Severity = Untidy
			}
			c.add(p)
			return nil
		}
	}
	return nil
}
