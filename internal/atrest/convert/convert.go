// Package convert copies a plain directory tree into a volume, and back, or into
// one that the kernel encrypts: verified, resumable, and never visible half done.
package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// Errors that a caller decides on, besides those of package volume.
var (
	// ErrInUse is a source that a program has open.
	ErrInUse = errors.New("source is in use")
	// ErrChanged is a source that changed while it was converted.
	ErrChanged = errors.New("source changed meanwhile")
	// ErrVerify is a target whose content is not the source's when read back.
	ErrVerify = errors.New("what was written reads back differently")
	// ErrNested is a source and a target of which one lies in the other.
	ErrNested = errors.New("one directory lies in the other")
	// ErrOther is a target that holds the unfinished conversion of another
	// source.
	ErrOther = errors.New("unfinished conversion of another source")
	// ErrJournal is a journal that cannot be understood.
	ErrJournal = errors.New("journal of the conversion is damaged")
)

// A Job is one conversion. Source and Target are directories.
//
// Encrypting, Target becomes a volume in state converting, which no mount
// accepts; the last step makes it ready. Decrypting, the tree grows in a hidden
// directory beside Target, and the last step gives it that name. Run of the
// same Job goes on after an interruption: what its journal holds is durable and
// verified.
type Job struct {
	Source, Target string
	Decrypt        bool
	// Names says how a new volume keeps names; empty means volume.NamesPlain, or
	// what an unfinished volume says.
	Names volume.Names

	// Plain makes Target a plain tree, as Decrypt does, of a Source that is one,
	// too. Prepare, if it is not nil, is called first, by each Run, with the
	// hidden directory in which everything grows, and Finish with the complete
	// tree in it before that gets its name.
	Plain           bool
	Prepare, Finish func(dir string) error

	// Keys opens the keys, once the lock of the volume is held.
	Keys func() (volume.KeySource, error)

	// Workers is how many files or parts of files are copied at once; 0
	// stands for a number that suits the machine.
	Workers int
	// Rate bounds the bytes read from Source a second; 0 does not.
	Rate int64
	// FromDisk makes the verification read what was written from the disk, not
	// from the cache of the system, at the price of reading it all again.
	FromDisk bool

	// Progress is called now and then, by one goroutine at a time.
	Progress func(Progress)
	// Note is called, by several goroutines, with what a user should know: what
	// is not copied, and links that lead out of the tree.
	Note func(path, what string)
}

// Progress tells how far a conversion is.
type Progress struct {
	Files, AllFiles int
	Bytes, AllBytes int64 // of content, holes not counted
	Resumed         int64 // part of Bytes that an earlier run did
}

// A Summary tells what was done.
type Summary struct {
	Files, Directories, Links, Skipped int
	Bytes                              int64 // of content
	Resumed                            int64 // bytes that an earlier run did
	Elapsed                            time.Duration
}

// Run converts. Errors, besides those of the system: ErrInUse, ErrChanged,
// ErrVerify, ErrNested, ErrOther, ErrJournal, unix.ENOSPC before anything is
// written, and those of volume.InitDir and volume.OpenDir. After any error but
// the last ones the same Job can be run again.
func (j *Job) Run(ctx context.Context) (Summary, error) {
	s, err := j.run(ctx)
	if err != nil {
		return s, fmt.Errorf("convert directory: %w", err)
	}
	return s, nil
}

func (j *Job) run(ctx context.Context) (Summary, error) {
	began := time.Now()
	if err := j.checkPaths(); err != nil {
		return Summary{}, err
	}
	t, err := j.open(ctx)
	if err != nil {
		return Summary{}, err
	}
	defer t.close()
	p, err := makePlan(t.from, j.note)
	if err != nil {
		return Summary{}, err
	}
	if err := p.checkUse(); err != nil {
		return Summary{}, err
	}
	if err := p.place(t.to); err != nil {
		return Summary{}, err
	}
	jn, err := openJournal(t.journal, t.identity, p, t.to)
	if err != nil {
		return Summary{}, err
	}
	defer jn.close()
	if err := p.checkSpace(t.to.root, jn); err != nil {
		return Summary{}, err
	}
	root, err := os.Open(t.to.root)
	if err != nil {
		return Summary{}, err
	}
	defer root.Close()
	if err := p.makeDirs(t.to); err != nil {
		return Summary{}, err
	}
	if err := newCopier(j, t, p, jn, root).run(ctx); err != nil {
		return Summary{}, err
	}
	if err := p.finish(t.to, root); err != nil {
		return Summary{}, err
	}
	// A server that was started meanwhile has changed something, or holds it.
	if err := errors.Join(p.checkUnchanged(), p.checkUse()); err != nil {
		return Summary{}, err
	}
	if err := t.commit(); err != nil {
		return Summary{}, err
	}
	s := p.summary()
	s.Resumed, s.Elapsed = jn.resumedBytes, time.Since(began)
	return s, nil
}

func (j *Job) note(path, what string) {
	if j.Note != nil {
		j.Note(path, what)
	}
}

// checkPaths makes both paths absolute and refuses nested ones.
func (j *Job) checkPaths() error {
	var err error
	if j.Source, err = filepath.EvalSymlinks(j.Source); err != nil {
		return err
	}
	if j.Source, err = filepath.Abs(j.Source); err != nil {
		return err
	}
	if j.Target, err = filepath.Abs(j.Target); err != nil {
		return err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(j.Target))
	if err != nil {
		return err
	}
	real := filepath.Join(parent, filepath.Base(j.Target))
	if r, err := filepath.EvalSymlinks(real); err == nil {
		real = r
	}
	j.Target = real
	if within(j.Source, j.Target) || within(j.Target, j.Source) {
		return fmt.Errorf("%w: %s, %s", ErrNested, j.Source, j.Target)
	}
	fi, err := os.Stat(j.Source)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return &os.PathError{Op: "read", Path: j.Source, Err: unix.ENOTDIR}
	}
	return nil
}

func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
