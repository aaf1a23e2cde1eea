// Package rekey brings the files of a volume to its current data key, file by
// file.
package rekey

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

// Options for Run. The zero value works on a volume that is not mounted.
type Options struct {
	// Rate bounds the bytes re-encrypted a second; 0 does not.
	Rate int64
	// Replace, if set, re-encrypts the file that has these names in the tree, and
	// no others, which a mount serves; Run does it by itself for a volume at
	// rest. It waits as wait says. An error that matches os.ErrNotExist says that
	// the names changed meanwhile.
	Replace func(ctx context.Context, names []string, wait func(context.Context, int) error) error
	// Still, which goes with Replace, keeps names of files as they are until what
	// it returns is called: a walk of directories whose files get other names may
	// miss some.
	Still func() (release func())
	// Progress is called now and then with the bytes of content done and in all.
	Progress func(Progress)
	// Note is told of each file that is left as it is, and why.
	Note func(path, why string)
}

// Progress tells how far a run is.
type Progress struct {
	Files, AllFiles int
	Bytes, AllBytes int64 // of content
}

// A Summary tells what was done.
type Summary struct {
	Version uint32 `json:"key_version"` // the data key that files have now
	Files   int    `json:"files"`       // re-encrypted
	Bytes   int64  `json:"bytes"`
	Current int    `json:"current"` // files that had the current key already
	Left    int    `json:"left"`    // files that keep an older key; see Options.Note
}

// A job is a file to re-encrypt, with all its names.
type job struct {
	inode [2]uint64 // device and number
	names []string
	size  int64
	links uint64
}

// Run re-encrypts all files of d that have not got its current data key, and
// leaves encrypted names under the key that their directory was made with. It
// notes in the configuration when all have. It may be interrupted at any time
// and run again: each file has one key throughout, the old or the new one.
func Run(ctx context.Context, d *volume.Dir, o Options) (Summary, error) {
	r := &runner{d: d, o: o, wait: newPace(o.Rate).wait, left: map[[2]uint64]bool{}}
	if r.o.Replace == nil {
		r.o.Replace = r.replaceAtRest
	}
	if r.o.Note == nil {
		r.o.Note = func(string, string) {}
	}
	err := r.run(ctx)
	if err != nil {
		return r.sum, fmt.Errorf("rekey volume: %w", err)
	}
	return r.sum, nil
}

type runner struct {
	d        *volume.Dir
	o        Options
	wait     func(context.Context, int) error
	sum      Summary
	progress Progress
	left     map[[2]uint64]bool // inodes of files that keep an older key
}

func (r *runner) run(ctx context.Context) error {
	r.sum.Version = r.d.Keys().Current()
	jobs, current, err := r.plan()
	r.sum.Current = current
	for n := 0; err == nil; n++ {
		// Without Still names do not change, with it the first list is a draft.
		if err := r.pass(ctx, jobs, r.o.Still == nil || n > 0); err != nil {
			return err
		}
		if jobs, err = r.planStill(); len(jobs) == 0 {
			break
		}
		if n == maxPasses {
			for _, j := range jobs {
				r.leave(j, "it had other names whenever its turn came; run the same command again")
			}
			break
		}
	}
	if err != nil || r.sum.Left > 0 {
		return err
	}
	return r.d.Update(func(c *volume.Config) { c.Rekeyed = time.Now().UTC().Truncate(time.Second) })
}

// maxPasses bounds how often the tree is walked for files that were missed.
const maxPasses = 20

// planStill lists the files that are still to be done, if names may have changed.
func (r *runner) planStill() ([]*job, error) {
	if r.o.Still == nil {
		return nil, nil
	}
	defer r.o.Still()()
	jobs, _, err := r.plan()
	return jobs, err
}

// pass re-encrypts jobs, except those that are not there any more under their
// names. complete says that no name was missed when they were listed.
func (r *runner) pass(ctx context.Context, jobs []*job, complete bool) error {
	for _, j := range jobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		missed := j.links - min(uint64(len(j.names)), j.links)
		if missed > 0 {
			if complete {
				r.leave(j, fmt.Sprintf("%d of its %d names are outside of the volume; remove those, or copy it and put the copy in its place", missed, j.links))
			}
			continue
		}
		if err := r.do(ctx, j); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: %w", r.d.PlainPath(j.names[0]), err)
		}
		r.progress.Files++
		r.show()
	}
	return nil
}

// plan lists the files under older keys, without those that were left, and counts
// those under the current one.
func (r *runner) plan() (jobs []*job, current int, err error) {
	byInode := map[[2]uint64]*job{}
	err = r.d.Walk(func(e *volume.Entry) error {
		if e.Kind() != unix.S_IFREG || e.Own { // names keep their key
			return nil
		}
		key := [2]uint64{e.Stat.Dev, e.Stat.Ino}
		if j := byInode[key]; j != nil {
			j.names = append(j.names, e.Path)
			return nil
		}
		switch {
		case e.Again || r.left[key]:
		case e.Err == nil && e.Header.KeyVersion == r.sum.Version:
			current++
		case errors.Is(e.Err, volume.ErrEmpty):
		case errors.Is(e.Err, volume.ErrCorrupt) || errors.Is(e.Err, volume.ErrNotOurs) || errors.Is(e.Err, volume.ErrTruncated):
			// Nobody can read it; that keeps no other from its new key.
			r.leave(&job{inode: key, names: []string{e.Path}}, e.Err.Error())
		case e.Err != nil:
			return fmt.Errorf("%s: %w", e.Path, e.Err)
		default:
			j := &job{inode: key, names: []string{e.Path}, size: e.Size(), links: uint64(e.Stat.Nlink)}
			byInode[key] = j
			jobs = append(jobs, j)
			r.progress.AllFiles++
			r.progress.AllBytes += j.size
		}
		return nil
	})
	return jobs, current, err
}

func (r *runner) show() {
	if r.o.Progress != nil {
		r.o.Progress(r.progress)
	}
}

// do re-encrypts one file.
func (r *runner) do(ctx context.Context, j *job) error {
	before := r.progress.Bytes
	err := r.o.Replace(ctx, j.names, func(ctx context.Context, n int) error {
		r.progress.Bytes = min(r.progress.Bytes+int64(n), before+j.size)
		r.show()
		return r.wait(ctx, n)
	})
	r.progress.Bytes = before + j.size
	if err != nil {
		return err
	}
	r.sum.Files++
	r.sum.Bytes += j.size
	return nil
}

func (r *runner) leave(j *job, why string) {
	r.sum.Left++
	r.left[j.inode] = true
	r.o.Note(r.d.PlainPath(j.names[0]), why)
}

// replaceAtRest re-encrypts a file that nobody else uses.
func (r *runner) replaceAtRest(ctx context.Context, names []string, wait func(context.Context, int) error) error {
	full := filepath.Join(r.d.Root().Name(), names[0])
	var st unix.Stat_t
	if err := unix.Lstat(full, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: full, Err: err}
	}
	lower, err := disk.OS.OpenFile(full, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	f, err := volume.Open(lower, r.d.Keys(), volume.Options{})
	if err != nil {
		lower.Close()
		return err
	}
	defer f.Close()
	to, err := r.d.NewSuccessor()
	if err != nil {
		return err
	}
	defer to.Close()
	replaced := false
	err = f.Rekey(ctx, osFile{to}, r.d.Keys(), volume.RekeyOptions{Wait: wait, Commit: func() (disk.File, error) {
		err := volume.CopyAttributes(full, to.Name(), &st, func(what string) { r.o.Note(names[0], what) })
		if err == nil {
			err = to.Sync()
		}
		if err == nil {
			replaced, err = r.d.Replace(to.Name(), names)
		}
		return lower, err // f is closed next, and nobody reads it
	}})
	if err != nil && !replaced { // else it has a name, or the next OpenDir gives it one
		os.Remove(to.Name())
	}
	return err
}

// osFile adds Size and Punch to *os.File.
type osFile struct{ *os.File }

var _ volume.HolePuncher = osFile{}

// Punch implements volume.HolePuncher.
func (f osFile) Punch(off, n int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
}

// Size implements disk.File.
func (f osFile) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}
