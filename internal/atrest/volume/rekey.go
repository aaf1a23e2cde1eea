package volume

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/veildb/veildb/internal/disk"
)

// Rekeying copies a file, block by block, into a new lower file under another
// key, while it is read and written, and then puts the new one in the place of
// the old one in one step. So a lower file is of one key throughout at any
// moment, also for who copies it meanwhile, and a crash leaves the old one or
// the new one.

// rekeyChunk is the granularity of copying and of what is copied again, in
// bytes.
const rekeyChunk = 1 << 20

// maxRounds bounds how often Rekey copies what was written meanwhile before it
// keeps writers out.
const maxRounds = 8

// RekeyOptions are what Rekey needs of its caller.
type RekeyOptions struct {
	// Wait is called before so many bytes are copied; its error ends Rekey.
	// May be nil.
	Wait func(ctx context.Context, bytes int) error
	// Enter is called before everybody is kept out of f for the last step, and
	// the function it returns after it: whoever may hold locks of its own while
	// it calls f takes them here, before f's. May be nil.
	Enter func() (leave func())
	// Commit puts the new lower file, whose content is durable, in the place
	// of the old one, and returns the open file to use from then on. Nobody
	// reads or writes f meanwhile. After an error f stays as it was.
	Commit func() (disk.File, error)
}

// Rekey re-encrypts f under the current key of keys, as a new file with a new
// id in to, which must be empty and sparse where it is not written. Only one
// call at a time may run on f. The old lower file stays open; closing it, or
// to after an error, is the caller's. f must have a header.
func (f *File) Rekey(ctx context.Context, to disk.File, keys KeySource, o RekeyOptions) error {
	h := f.Header()
	h.KeyVersion = keys.Current()
	rand.Read(h.FileID[:]) // never fails, see crypto/rand
	key, cipher, err := fileKeys(keys, h.KeyVersion, h.FileID)
	if err != nil {
		return fmt.Errorf("rekey file: %w", err)
	}
	defer clear(key[:])
	target := &File{lower: to, base: HeaderSize, cipher: cipher, header: h}
	if _, err = to.WriteAt(h.seal(nil, &key), 0); err == nil {
		err = f.moveTo(ctx, target, &o)
	}
	if err != nil {
		cipher.Wipe()
		return fmt.Errorf("rekey file: %w", err)
	}
	return nil
}

// moveTo copies f to target, whose header is written, and becomes target.
func (f *File) moveTo(ctx context.Context, target *File, o *RekeyOptions) error {
	dirty := new(dirtyChunks)
	f.content.Lock()
	f.moved = dirty
	size, err := f.lower.Size()
	f.content.Unlock()
	defer func() {
		f.content.Lock()
		f.moved = nil
		f.content.Unlock()
	}()
	if err != nil {
		return err
	}
	m := &mover{from: f, to: target, wait: o.Wait}
	defer m.wipe()
	for off := int64(0); off < size-f.base; off += rekeyChunk {
		if err := m.copy(ctx, off, true); err != nil {
			return err
		}
	}
	for range maxRounds {
		if err := target.lower.Sync(); err != nil {
			return err
		}
		n, err := m.catchUp(ctx, dirty)
		if err != nil {
			return err
		}
		if n <= 1 {
			break
		}
	}
	if o.Enter != nil {
		defer o.Enter()()
	}
	return f.finishMove(ctx, m, dirty, o)
}

// finishMove copies, with everybody kept out, what is left, and replaces what
// lies below f.
func (f *File) finishMove(ctx context.Context, m *mover, dirty *dirtyChunks, o *RekeyOptions) error {
	f.content.Lock()
	defer f.content.Unlock()
	m.wait = nil
	if _, err := m.catchUp(ctx, dirty); err != nil {
		return err
	}
	size, err := f.lower.Size()
	if err == nil {
		err = m.to.lower.Truncate(size)
	}
	if err == nil {
		err = m.to.lower.Sync()
	}
	if err != nil {
		return err
	}
	f.gate.Lock()
	defer f.gate.Unlock()
	lower, err := o.Commit()
	if err != nil {
		return err
	}
	f.cipher.Wipe()
	f.lower, f.cipher, f.header = lower, m.to.cipher, m.to.header
	return nil
}

// Changing runs change, which changes content in [off, end) by other means
// than f's methods, such as by the lower file itself, so that Rekey knows.
func (f *File) Changing(off, end int64, change func() error) error {
	f.content.RLock()
	defer f.content.RUnlock()
	defer f.moved.mark(off, end)
	return change()
}

// A mover copies chunks.
type mover struct {
	from, to *File
	wait     func(ctx context.Context, bytes int) error
	buf      []byte
}

func (m *mover) wipe() { clear(m.buf) }

// copy copies the chunk at content offset off. fresh says that nothing was
// written there, so that holes need not be.
func (m *mover) copy(ctx context.Context, off int64, fresh bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if fresh {
		if hole, err := m.from.Hole(off, rekeyChunk); err != nil || hole {
			return err
		}
	}
	if m.buf == nil {
		m.buf = make([]byte, rekeyChunk)
	}
	n, err := m.from.lower.ReadAt(m.buf, m.from.base+off)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	b := m.buf[:n&^blockMask] // bytes behind the last whole block mean nothing
	if m.wait != nil && !isZero(b) {
		if err := m.wait(ctx, len(b)); err != nil {
			return err
		}
	}
	m.recrypt(b, off)
	err = nil
	for len(b) > 0 {
		page := b[:min(pageSize, len(b))]
		run := len(page)
		for run < len(b) && !isZero(page) && !isZero(b[run:min(run+pageSize, len(b))]) {
			run = min(run+pageSize, len(b))
		}
		switch {
		case !isZero(page):
			_, err = m.to.lower.WriteAt(b[:run], m.to.base+off)
		case !fresh:
			err = m.unwrite(page, off)
		}
		if err != nil {
			return err
		}
		b, off = b[run:], off+int64(run)
	}
	return nil
}

// A HolePuncher is a lower file that can make a range a hole again. Rekey
// writes zeros where the error matches errors.ErrUnsupported.
type HolePuncher interface {
	Punch(off, n int64) error
}

// unwrite makes the target a hole where page, which is zeros, is to be.
func (m *mover) unwrite(page []byte, off int64) error {
	err := errors.ErrUnsupported
	if p, ok := m.to.lower.(HolePuncher); ok {
		err = p.Punch(m.to.base+off, int64(len(page)))
	}
	if errors.Is(err, errors.ErrUnsupported) {
		_, err = m.to.lower.WriteAt(page, m.to.base+off)
	}
	return err
}

// catchUp copies what was written since it was copied, and returns how many
// chunks that were.
func (m *mover) catchUp(ctx context.Context, dirty *dirtyChunks) (int, error) {
	list, cut := dirty.take()
	if cut >= 0 {
		// What is longer than that again was written, and noted, since.
		size, err := m.to.lower.Size()
		if err != nil {
			return 0, err
		}
		if cut = m.to.base + floorBlock(cut); cut < size {
			if err := m.to.lower.Truncate(cut); err != nil {
				return 0, err
			}
		}
	}
	for _, off := range list {
		if err := m.copy(ctx, off, false); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// recrypt turns ciphertext of one file into that of the other, in place. What
// was never written stays so.
func (m *mover) recrypt(b []byte, off int64) {
	for len(b) > 0 {
		n := zeroBlock(b)
		m.from.crypt(b[:n], b[:n], off, false)
		m.to.crypt(b[:n], b[:n], off, true)
		b, off = b[n:], off+int64(n)
		for len(b) > 0 && isZero(b[:BlockSize]) {
			b, off = b[BlockSize:], off+BlockSize
		}
	}
}

// dirtyChunks are the chunks that were written since Rekey began. A nil one
// notes nothing.
type dirtyChunks struct {
	mu    sync.Mutex
	set   map[int64]struct{} // content offsets
	short int64              // one more than the shortest length since; 0 if it never was cut
}

// mark notes that content in [off, end), and the blocks it shares, changed.
func (d *dirtyChunks) mark(off, end int64) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.markLocked(off, end)
}

func (d *dirtyChunks) markLocked(off, end int64) {
	if d.set == nil {
		d.set = map[int64]struct{}{}
	}
	for c := off / rekeyChunk * rekeyChunk; c < end; c += rekeyChunk {
		d.set[c] = struct{}{}
	}
}

// resize notes that the length changed from old to size.
func (d *dirtyChunks) resize(old, size int64) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if size < old && (d.short == 0 || size < d.short-1) {
		d.short = size + 1
	}
	end := min(old, size) // its block is written anew
	d.markLocked(end, end+1)
}

// take returns what was noted, in order, and the shortest length or -1, and
// forgets both.
func (d *dirtyChunks) take() (list []int64, short int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list = make([]int64, 0, len(d.set))
	for off := range d.set {
		list = append(list, off)
	}
	slices.Sort(list)
	short = d.short - 1
	d.set, d.short = nil, 0
	return list, short
}
