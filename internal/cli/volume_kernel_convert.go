package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/atrest/convert"
	"github.com/veildb/veildb/internal/atrest/fscrypt"
)

// prepareKernel sets up job if its source or its target is encrypted by the
// kernel. The caller calls done when job has run, whatever came of it.
func (o *convertOptions) prepareKernel(env *Env, job *convert.Job) (done func() error, err error) {
	done = func() error { return nil }
	k, err := findKernel(o.in)
	if err != nil {
		return done, err
	}
	if k != nil {
		if done, err = o.unlockSource(k, job); err != nil {
			return done, err
		}
	}
	if o.decrypt {
		job.Plain = k != nil
		return done, nil
	}
	if !o.kernel {
		return done, nil
	}
	job.Plain = true
	var d *fscrypt.Dir
	job.Prepare = func(dir string) error {
		keys, err := job.Keys()
		if err == nil {
			d, err = fscrypt.Open(dir, keys)
		}
		return explainKernel(err, dir)
	}
	job.Finish = func(dir string) error {
		noteCopy(env, d.WriteCopy(job.Target))
		return d.Adopt(dir)
	}
	return func() error {
		if d == nil {
			return nil
		}
		return d.Lock(job.Target) // also of one that was not completed
	}, nil
}

// unlockSource makes sure that k can be read. One that is to be decrypted is
// unlocked, and locked by what is returned.
func (o *convertOptions) unlockSource(k *kernelVolume, job *convert.Job) (done func() error, err error) {
	done = func() error { return nil }
	state, err := k.State()
	if err != nil || state == fscrypt.KeyPresent {
		return done, err
	}
	if !o.decrypt {
		return done, fmt.Errorf("convert directory: %s: %w", o.in, fscrypt.ErrLocked)
	}
	keys, err := job.Keys()
	if err == nil {
		err = k.Unlock(keys)
	}
	if err != nil {
		return done, err
	}
	return func() error { return k.Lock(k.home) }, nil
}

// runJob runs job, and what is to be done after it.
func runJob(ctx context.Context, job *convert.Job, done func() error) (convert.Summary, error) {
	s, err := job.Run(ctx)
	if derr := done(); derr != nil && !errors.Is(derr, fscrypt.ErrLocked) {
		err = errors.Join(err, derr)
	}
	return s, err
}
