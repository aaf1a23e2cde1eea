package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	chunkSize     = 256 << 10 // bytes read, written and compared at once: they stay in the CPU's cache
	segmentSize   = 64 << 20  // bytes of a part of a file, which one worker copies
	writebackSize = 8 << 20   // bytes after which the disk is told to begin

	// Between two checkpoints at most this is done that an interruption costs.
	checkpointBytes = 1 << 30
	checkpointFiles = 20_000
	checkpointEvery = 15 * time.Second

	progressEvery = 100 * time.Millisecond
)

// segments is the number of parts of a file of size bytes; an empty file has
// one.
func segments(size int64) int { return int(max(1, (size+segmentSize-1)/segmentSize)) }

// A copier copies the content of a plan. Workers take parts of files; one
// collector syncs the target and writes the journal.
type copier struct {
	job     *Job
	from    side
	to      side
	plan    *plan
	journal *journal
	root    *os.File // of the target, opened before any write so that syncing reports all errors
	rate    *throttle
	seed    maphash.Seed
	bytes   atomic.Int64
	buffers sync.Pool
}

func newCopier(j *Job, t *transfer, p *plan, jn *journal, root *os.File) *copier {
	c := &copier{root: root, job: j, from: t.from, to: t.to, plan: p, journal: jn, rate: newThrottle(j.Rate), seed: maphash.MakeSeed()}
	c.buffers.New = func() any { return &buffers{source: make([]byte, chunkSize), target: make([]byte, chunkSize)} }
	return c
}

// A part is the work of one worker at a time.
type part struct {
	file *transferFile
	n    int
}

// A transferFile is a file whose content is being copied.
type transferFile struct {
	c     *copier
	entry int
	parts int
	left  atomic.Int32 // parts not yet copied

	once     sync.Once
	src, dst *content
	check    *content // dst, opened anew
	data     holes    // of src
	err      error
}

func (c *copier) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := make(chan part)
	copied := make(chan record, 4096)
	var failed sync.Once
	var firstErr error
	fail := func(err error) {
		failed.Do(func() { firstErr = err; cancel() })
	}
	var workers sync.WaitGroup
	for range c.workers() {
		workers.Go(func() {
			for p := range parts {
				rec, err := p.file.copyPart(ctx, p.n)
				if err != nil {
					fail(err)
					continue
				}
				copied <- rec
			}
		})
	}
	go func() {
		c.feed(ctx, parts)
		workers.Wait()
		close(copied)
	}()
	if err := c.collect(ctx, copied); err != nil {
		fail(err)
		for range copied { // until the workers have noticed
		}
	}
	if firstErr != nil {
		return firstErr
	}
	return ctx.Err()
}

func (c *copier) workers() int {
	if c.job.Workers > 0 {
		return c.job.Workers
	}
	return min(max(4, 2*runtime.GOMAXPROCS(0)), 16)
}

// feed hands out what the journal does not have, in the order of the plan.
func (c *copier) feed(ctx context.Context, parts chan<- part) {
	defer close(parts)
	for i := range c.plan.entries {
		e := &c.plan.entries[i]
		if !e.copied() || c.journal.done(i) {
			continue
		}
		f := &transferFile{c: c, entry: i, parts: segments(e.size)}
		f.left.Store(int32(f.parts - len(c.journal.parts[i])))
		for n := range f.parts {
			if c.journal.has(i, n) {
				continue
			}
			select {
			case parts <- part{f, n}:
			case <-ctx.Done():
				f.abandon(n)
				return
			}
		}
	}
}

// abandon gives up the parts of f from n on that the journal does not have.
func (f *transferFile) abandon(n int) {
	var rest int32
	for ; n < f.parts; n++ {
		if !f.c.journal.has(f.entry, n) {
			rest++
		}
	}
	if f.left.Add(-rest) == 0 {
		f.close()
	}
}

// collect syncs and records what was copied, until copied is closed.
func (c *copier) collect(ctx context.Context, copied <-chan record) error {
	var batch []record
	var batchBytes int64
	files, allBytes := c.plan.totals()
	done := c.resumedFiles()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	last := time.Now()
	show := func() {
		if c.job.Progress != nil {
			resumed := c.journal.resumedBytes
			c.job.Progress(Progress{Files: done, AllFiles: files, Bytes: resumed + c.bytes.Load(), AllBytes: allBytes, Resumed: resumed})
		}
	}
	checkpoint := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := c.checkpoint(ctx, batch)
		batch, batchBytes, last = batch[:0], 0, time.Now()
		return err
	}
	for {
		select {
		case rec, more := <-copied:
			if !more {
				show()
				return checkpoint()
			}
			batch, batchBytes = append(batch, rec), batchBytes+rec.Bytes
			if rec.Part == rec.Parts-1 {
				done++
			}
		case <-tick.C:
			show()
		}
		if batchBytes >= checkpointBytes || len(batch) >= checkpointFiles || time.Since(last) >= checkpointEvery {
			if err := checkpoint(); err != nil {
				return err
			}
		}
	}
}

func (c *copier) resumedFiles() (n int) {
	for i := range c.journal.parts {
		if c.journal.done(i) {
			n++
		}
	}
	return n
}

// checkpoint makes batch durable, then says so in the journal.
func (c *copier) checkpoint(ctx context.Context, batch []record) error {
	if err := syncFS(c.root); err != nil {
		return err
	}
	if c.job.FromDisk {
		if err := c.verifyFromDisk(ctx, batch); err != nil {
			return err
		}
	}
	return c.journal.append(batch)
}

// syncFS makes everything in the file system of root durable, and reports
// errors of writing since root was opened.
func syncFS(root *os.File) error {
	if err := unix.Syncfs(int(root.Fd())); err != nil {
		return fmt.Errorf("sync file system of %s: %w", root.Name(), err)
	}
	return nil
}

// open opens the file on both sides, once.
func (f *transferFile) open() error {
	f.once.Do(func() {
		e := &f.c.plan.entries[f.entry]
		if f.src, f.err = f.c.from.open(e.from); f.err != nil {
			return
		}
		f.data = holes{f: f.src.os, base: f.src.base, none: e.stat.Blocks*512 >= e.stat.Size}
		if f.c.journal.begun(f.entry) {
			f.dst, f.err = f.c.to.reopen(e.to)
		} else {
			f.dst, f.err = f.c.to.create(e.to, e.size)
		}
		if f.err == nil {
			f.check, f.err = f.c.to.open(e.to)
		}
	})
	return f.err
}

func (f *transferFile) close() error {
	var err error
	for _, c := range []*content{f.src, f.dst, f.check} {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// copyPart copies part n and, if it is the last one missing, completes the
// file.
func (f *transferFile) copyPart(ctx context.Context, n int) (record, error) {
	e := &f.c.plan.entries[f.entry]
	rec := record{Path: []byte(e.to), Stamp: stampOf(&e.stat), Part: n, Parts: f.parts, entry: f.entry}
	err := f.open()
	if err == nil {
		rec.ID = f.dst.id
		rec.Bytes, rec.sums, err = f.copyRange(ctx, int64(n)*segmentSize, min(e.size, int64(n+1)*segmentSize))
	}
	// The last one closes, also after an error of another part.
	if f.left.Add(-1) == 0 {
		if err == nil && f.err == nil {
			err = f.c.plan.copyAttributes(f.c.to, e)
		}
		err = errors.Join(err, f.close())
	}
	if err != nil {
		return rec, fmt.Errorf("%s: %w", f.c.from.path(e.from), err)
	}
	return rec, nil
}

// copyRange copies the content in [off, end), leaving holes out, and compares
// what it reads back. It returns how many bytes it copied and, for
// Job.FromDisk, a sum of each chunk of the range.
func (f *transferFile) copyRange(ctx context.Context, off, end int64) (copied int64, sums []uint64, err error) {
	b := f.c.buffers.Get().(*buffers)
	defer func() { b.wipe(); f.c.buffers.Put(b) }()
	started := off // of what the disk was not told yet
	for ; off < end; off += chunkSize {
		p := b.source[:min(chunkSize, end-off)]
		start, stop, err := f.data.next(off, off+int64(len(p)))
		if err != nil {
			return copied, nil, err
		}
		if start == stop {
			sums = f.c.keepSum(sums, nil)
			continue
		}
		if err := f.c.rate.wait(ctx, len(p)); err != nil {
			return copied, nil, err
		}
		if err := f.copyChunk(p, b.target[:len(p)], off, start, stop); err != nil {
			return copied, nil, err
		}
		b.used = max(b.used, len(p))
		sums = f.c.keepSum(sums, p)
		copied += int64(len(p))
		f.c.bytes.Add(int64(len(p)))
		if off+chunkSize-started >= writebackSize {
			if err := f.startWriteback(started, off+chunkSize); err != nil {
				return copied, nil, err
			}
			started = off + chunkSize
		}
	}
	return copied, sums, f.startWriteback(started, end)
}

// copyChunk copies the content at off by way of p and compares it by way of
// back. The first data in it is [start, stop).
func (f *transferFile) copyChunk(p, back []byte, off, start, stop int64) error {
	if n, err := f.src.ReadAt(p, off); n < len(p) {
		if errors.Is(err, io.EOF) {
			err = ErrChanged
		}
		return err
	}
	end := off + int64(len(p))
	for start < stop {
		if _, err := f.dst.WriteAt(p[start-off:stop-off], start); err != nil {
			return err
		}
		var err error
		if start, stop, err = f.data.next(stop, end); err != nil {
			return err
		}
	}
	if f.c.job.FromDisk {
		return nil // later, when it is there
	}
	if n, err := f.check.ReadAt(back, off); n < len(back) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read back: %w", err)
	}
	if !bytes.Equal(p, back) {
		return fmt.Errorf("%w: in the %d bytes from %d", ErrVerify, len(p), off)
	}
	return nil
}

// startWriteback lets the disk begin with [off, end); a checkpoint waits for it.
func (f *transferFile) startWriteback(off, end int64) error {
	if off >= end {
		return nil
	}
	err := unix.SyncFileRange(int(f.dst.os.Fd()), f.dst.base+off, end-off, unix.SYNC_FILE_RANGE_WRITE)
	if errors.Is(err, unix.ESPIPE) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return nil // only a hint
	}
	return err
}

// keepSum appends the sum of p, if sums are wanted at all: 64 bits under a
// random key, or 0 for a hole.
func (c *copier) keepSum(sums []uint64, p []byte) []uint64 {
	switch {
	case !c.job.FromDisk:
		return nil
	case p == nil:
		return append(sums, 0)
	}
	return append(sums, c.sum(p))
}

func (c *copier) sum(p []byte) uint64 { return max(maphash.Bytes(c.seed, p), 1) }

// buffers are what one worker needs for a chunk. They hold plaintext.
type buffers struct {
	source, target []byte
	used           int // bytes of each that may not be zero
}

func (b *buffers) wipe() {
	clear(b.source[:b.used])
	clear(b.target[:b.used])
	b.used = 0
}
