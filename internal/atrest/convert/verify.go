package convert

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// verify reads part n of the target file f back and compares the sums of its
// chunks. Holes must read as zeros.
func (c *copier) verify(f *content, path string, n int, sums []uint64) error {
	buf := c.buffers.Get().(*buffers)
	defer func() { buf.wipe(); c.buffers.Put(buf) }()
	buf.used = len(buf.target)
	size, err := f.Size()
	if err != nil {
		return err
	}
	off := int64(n) * segmentSize
	for _, want := range sums {
		b := buf.target[:min(chunkSize, max(size-off, 0))]
		if got, err := f.ReadAt(b, off); got < len(b) && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read back: %w", err)
		}
		if want == 0 && !zero(b) || want != 0 && c.sum(b) != want {
			return fmt.Errorf("%w: %s in the %d bytes from %d", ErrVerify, path, chunkSize, off)
		}
		off += chunkSize
	}
	return nil
}

// verifyFromDisk verifies batch after dropping what the system has in memory.
func (c *copier) verifyFromDisk(ctx context.Context, batch []record) error {
	for i := range batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := c.plan.entries[batch[i].entry].to
		f, err := c.to.open(path)
		if err != nil {
			return err
		}
		if err := unix.Fadvise(int(f.os.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			f.Close()
			return fmt.Errorf("drop cache of %s: %w", path, err)
		}
		err = errors.Join(c.verify(f, path, batch[i].Part, batch[i].sums), f.Close())
		if err != nil {
			return err
		}
		batch[i].sums = nil
	}
	return nil
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
