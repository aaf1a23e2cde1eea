package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/veildb/veildb/internal/atrest/convert"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// runDirectory converts a directory into a volume, or back.
func (o *convertOptions) runDirectory(ctx context.Context, env *Env) error {
	var ring *keyring.Ring
	var mu sync.Mutex // guards p, which two goroutines draw with
	p := env.progress()
	started := time.Now()
	job := convert.Job{
		Source: o.in, Target: o.out, Decrypt: o.decrypt,
		Names: volume.Names(o.names), Workers: o.workers, Rate: o.throttle * 1e6, FromDisk: o.fromDisk,
		Keys: func() (volume.KeySource, error) {
			if ring != nil {
				return ring, nil
			}
			var err error
			if ring, err = openKeyring(ctx, env, o.key); err != nil {
				return nil, err // not a nil *Ring in an interface
			}
			return ring, nil
		},
		Progress: func(c convert.Progress) {
			mu.Lock()
			defer mu.Unlock()
			showConvert(p, c, time.Since(started))
		},
		Note: func(path, what string) {
			mu.Lock()
			defer mu.Unlock()
			p.clear()
			env.note(path + ": " + what)
		},
	}
	defer func() {
		if ring != nil {
			ring.Close()
		}
	}()
	done, err := o.prepareKernel(env, &job)
	if err == nil && !(job.Plain && o.decrypt) {
		err = o.checkDirection()
	}
	if err != nil {
		return errors.Join(err, done())
	}
	s, err := runJob(ctx, &job, done)
	p.clear()
	if err != nil {
		return o.explain(err)
	}
	return o.tell(env, s)
}

// checkDirection refuses a volume to encrypt once more, and a plain directory
// to decrypt.
func (o *convertOptions) checkDirection() error {
	v, err := volume.ViewDir(o.in, nil)
	switch {
	case err == nil:
		v.Close()
		if !o.decrypt {
			return usagef("convert directory", "to make it plain, add --decrypt", "%s is an encrypted volume", o.in)
		}
	case errors.Is(err, volume.ErrNotVolume) && o.decrypt:
		if lower, err := lowerOf(o.in); err == nil && lower != o.in {
			return usagef("convert directory", "unmount it, then name the volume: --in "+lower, "%s is where the volume %s is mounted", o.in, lower)
		}
		return usagef("convert directory", "to encrypt it, leave out --decrypt", "%w", err)
	}
	return nil
}

// showConvert draws the progress of a conversion that has run for so long.
func showConvert(p *progress, c convert.Progress, spent time.Duration) {
	// Of this run: what an earlier one did says nothing of the time to go.
	done, all := c.Bytes-c.Resumed, max(c.AllBytes-c.Resumed, 1)
	rate := float64(done) / max(spent.Seconds(), 0.001) / 1e6
	p.update(float64(done)/float64(all), "convert", fmt.Sprintf("%.0f MB/s, %d of %d files", rate, c.Files, c.AllFiles))
}

// explain adds what to do about an error of a conversion.
func (o *convertOptions) explain(err error) error {
	again := "run the same command again; what is done is kept"
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, volume.ErrNotEmpty):
		return usagef("", "name a directory that is empty or does not exist; nothing was changed", "%w", err)
	case errors.Is(err, context.Canceled):
		return &Error{Code: ExitInterrupted, Err: err, Hint: again}
	}
	return err
}

func (o *convertOptions) tell(env *Env, s convert.Summary) error {
	if env.JSON {
		return printJSON(env, map[string]any{
			"in": o.in, "out": o.out, "encrypted": !o.decrypt, "files": s.Files, "directories": s.Directories,
			"links": s.Links, "skipped": s.Skipped, "bytes": s.Bytes, "resumed_bytes": s.Resumed, "seconds": s.Elapsed.Seconds(),
		})
	}
	what := "encrypted"
	if o.decrypt {
		what = "decrypted"
	}
	fmt.Fprintf(env.Stdout, "%s: %s, %s and %s of %d MiB in %s, every byte compared\n",
		o.out, what, counted(s.Files, "file"), counted(s.Directories, "directory", "directories"), s.Bytes>>20, s.Elapsed.Round(10*time.Millisecond))
	return nil
}
