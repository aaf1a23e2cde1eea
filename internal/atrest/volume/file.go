package volume

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/veildb/veildb/internal/crypto/aesxts"
	"github.com/veildb/veildb/internal/disk"
)

// A File is an open encrypted file. It may be used by several goroutines at
// once, except Close, which must come last.
//
// Other processes may have the lower file open through Files of their own as
// long as whoever changes blocks or sizes excludes the others from the same
// ones, as databases do with their locks. Writers of two parts of one 16-byte
// block, and a writer at an end that is no multiple of 16, must exclude each
// other, too.
type File struct {
	lower  disk.File
	base   int64 // lower offset of content byte 0
	cipher *aesxts.Cipher
	header Header

	refuseZeros bool
	sectorHoles bool

	// gate guards lower, cipher and header, which Rekey replaces, for whoever
	// reads without content. It is taken after content, for one step only.
	gate sync.RWMutex

	// moved notes what is written while Rekey copies, or is nil; guarded by
	// content.
	moved *dirtyChunks

	// size is the content's length as last seen. It is exact unless another
	// process changes the file.
	size atomic.Int64

	// content guards blocks that are read, changed and written back, and the
	// size: held exclusively by who does that, shared by who writes or reads
	// parts that such a change could catch half-way. Reading whole blocks
	// needs no lock, they are old or new, but where the lower file is cut.
	content sync.RWMutex

	// cuts counts beginnings and ends of cutting the lower file: odd while one
	// goes on. A read that met one may hold half a block and is repeated.
	cuts atomic.Uint64
}

func newFile(lower disk.File, base int64, cipher *aesxts.Cipher, h Header, opts Options) (*File, error) {
	f := &File{lower: lower, base: base, cipher: cipher, header: h, refuseZeros: opts.RefuseZeros, sectorHoles: opts.SectorHoles}
	if _, err := f.Size(); err != nil {
		return nil, err
	}
	return f, nil
}

// Header returns what the file's header says; zero for a Scratch file.
func (f *File) Header() Header {
	f.gate.RLock()
	defer f.gate.RUnlock()
	return f.header
}

// Size returns the length of the content, asked of the lower file each time.
func (f *File) Size() (int64, error) {
	f.gate.RLock()
	defer f.gate.RUnlock()
	n, err := f.lower.Size()
	if err != nil {
		return 0, fmt.Errorf("read size: %w", err)
	}
	size := decodedSize(n - f.base)
	f.size.Store(size)
	return size, nil
}

// Sync makes everything written before durable.
func (f *File) Sync() error {
	f.gate.RLock()
	lower := f.lower
	f.gate.RUnlock()
	return lower.Sync()
}

// Close wipes the key and closes the lower file, without syncing it.
func (f *File) Close() error {
	f.cipher.Wipe()
	return f.lower.Close()
}

// ReadAt reads content as io.ReaderAt does. p is also used as the buffer of
// the lower read, so it may hold ciphertext after an error. The error matches
// ErrZeroed where data was overwritten with zeros.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("read encrypted file: negative offset")
	}
	if off+int64(len(p)) > f.size.Load() {
		return f.readAtEnd(p, off)
	}
	return f.read(p, off)
}

// readAtEnd reads where p may reach past the end.
func (f *File) readAtEnd(p []byte, off int64) (int, error) {
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	if off >= size {
		return 0, io.EOF
	}
	if int64(len(p)) <= size-off {
		return f.read(p, off)
	}
	n, err := f.read(p[:size-off], off)
	if err == nil {
		err = io.EOF
	}
	return n, err
}

// read reads content that exists, unless another process cut it off meanwhile.
func (f *File) read(p []byte, off int64) (int, error) {
	if (off|int64(len(p)))&blockMask != 0 {
		return f.readPartial(p, off)
	}
	cuts := f.cuts.Load()
	n, err := f.readBlocks(p, off)
	if cuts&1 != 0 || cuts != f.cuts.Load() {
		// Never with content held, which keeps the file whole.
		f.content.RLock()
		defer f.content.RUnlock()
		return f.readBlocks(p, off)
	}
	return n, err
}

// readBlocks reads whole blocks as they are below.
func (f *File) readBlocks(p []byte, off int64) (int, error) {
	f.gate.RLock()
	defer f.gate.RUnlock()
	n, err := f.lower.ReadAt(p, f.base+off)
	if n < len(p) {
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		n = int(max(decodedSize(off+int64(n))-off, 0)) &^ blockMask
		err = io.EOF
	} else {
		err = nil
	}
	if derr := f.decrypt(p[:n], off); derr != nil {
		return 0, derr
	}
	return n, err
}

// readPartial reads the whole blocks around p into a buffer.
func (f *File) readPartial(p []byte, off int64) (int, error) {
	f.content.RLock()
	defer f.content.RUnlock()
	start, total := floorBlock(off), 0
	for len(p) > 0 {
		want := min(ceilBlock(off+int64(len(p)))-start, maxScratch)
		buf := getScratch(int(want))
		n, err := f.read((*buf)[:want], start)
		skip := int(off - start)
		copied := 0
		if n > skip {
			copied = copy(p, (*buf)[skip:n])
		}
		clear((*buf)[:n]) // plaintext
		putScratch(buf)
		total += copied
		p, off = p[copied:], off+int64(copied)
		start = off // a multiple of 16 unless this was the last round
		if err != nil && len(p) > 0 {
			return total, err
		}
	}
	return total, nil
}

// WriteAt writes content as io.WriterAt does; p is left unchanged. Writing
// past the end fills the gap with zeros. Writes that start and end at
// multiples of 16 are one lower write each, up to 1 MiB, and may run in
// parallel; others read the blocks at their ends first. After an error the range may hold any
// mix of old and new 16-byte blocks.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("write encrypted file: negative offset")
	}
	done := 0
	for done < len(p) {
		part := p[done:min(done+maxScratch, len(p))]
		n, err := f.write(part, off+int64(done))
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

func (f *File) write(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	size, ok := f.startWhole(off, end)
	if !ok {
		return f.writePartial(p, off)
	}
	defer f.content.RUnlock()
	defer f.moved.mark(off, end) // also after an error: a part may be written
	if err := f.encryptTo(p, off, 0); err != nil {
		return 0, err
	}
	f.grow(size, end)
	return len(p), nil
}

// WriteOver is WriteAt for a caller who needs p no more: it may hold ciphertext
// afterwards, and whole blocks need no other buffer.
func (f *File) WriteOver(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	if off < 0 {
		return f.WriteAt(p, off)
	}
	size, ok := f.startWhole(off, end)
	if !ok {
		return f.WriteAt(p, off)
	}
	defer f.content.RUnlock()
	defer f.moved.mark(off, end) // also after an error: a part may be written
	f.crypt(p, p, off, true)
	if _, err := f.lower.WriteAt(p, f.base+off); err != nil {
		return 0, err
	}
	f.grow(size, end)
	return len(p), nil
}

// WritePair writes a and b one behind the other at off, in one lower write. It
// is for callers whose data lies in two places. Other lengths than multiples of
// 16 cost a copy.
func (f *File) WritePair(a, b []byte, off int64) error {
	n := len(a) + len(b)
	size, ok := f.startWhole(off, off+int64(n))
	if ok && len(a)&blockMask != 0 {
		f.content.RUnlock()
		ok = false
	}
	if !ok {
		p := append(append(make([]byte, 0, n), a...), b...)
		defer clear(p)
		_, err := f.WriteAt(p, off)
		return err
	}
	defer f.content.RUnlock()
	defer f.moved.mark(off, off+int64(n))
	buf := getScratch(n)
	defer putScratch(buf)
	f.crypt((*buf)[:len(a)], a, off, true)
	f.crypt((*buf)[len(a):n], b, off+int64(len(a)), true)
	if _, err := f.lower.WriteAt((*buf)[:n], f.base+off); err != nil {
		return err
	}
	f.grow(size, off+int64(n))
	return nil
}

// startWhole reports whether [off, end) can be written without reading; then
// it holds content for reading and size is the length seen.
func (f *File) startWhole(off, end int64) (size int64, ok bool) {
	f.content.RLock()
	size = f.size.Load()
	if (off|end)&blockMask != 0 || size&blockMask != 0 && end > floorBlock(size) {
		f.content.RUnlock()
		return 0, false
	}
	return size, true
}

// grow notes that content reaches end, where it was last seen to reach size.
func (f *File) grow(size, end int64) {
	for end > size && !f.size.CompareAndSwap(size, end) {
		size = f.size.Load()
	}
}

// encryptTo writes whole blocks, with extra zero bytes after them that only
// lengthen the lower file.
func (f *File) encryptTo(p []byte, off int64, extra int) error {
	buf := getScratch(len(p) + extra)
	defer putScratch(buf)
	b := (*buf)[:len(p)+extra] // plaintext is never in it
	f.crypt(b[:len(p)], p, off, true)
	clear(b[len(p):])
	_, err := f.lower.WriteAt(b, f.base+off)
	return err
}

// writePartial writes any range: it reads the blocks that p covers in part,
// fills a gap before p, and keeps the length of the lower file in step.
func (f *File) writePartial(p []byte, off int64) (int, error) {
	f.content.Lock()
	defer f.content.Unlock()
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	defer f.moved.mark(off, off+int64(len(p)))
	defer f.moved.resize(size, max(size, off))
	if err := f.closeTail(size, off); err != nil {
		return 0, errors.Join(err, f.refresh())
	}
	start, end := floorBlock(off), off+int64(len(p))
	stop := ceilBlock(end)
	buf := getScratch(int(stop - start))
	defer putScratch(buf)
	b := (*buf)[:stop-start]
	defer clear(b) // plaintext
	clear(b)
	if err := f.keepEdges(b, start, off, end, min(size, stop)); err != nil {
		return 0, err
	}
	copy(b[off-start:], p)
	newSize := max(size, end)
	extra := 0
	if end == newSize {
		extra = int(encodedSize(end) - stop)
	}
	err = f.encryptTo(b, start, extra)
	if err == nil && encodedSize(newSize) < encodedSize(size) {
		err = f.cut(newSize)
	}
	if err != nil {
		return 0, errors.Join(err, f.refresh())
	}
	f.size.Store(newSize)
	return len(p), nil
}

// refresh brings f.size in step with the lower file after a failed change.
func (f *File) refresh() error {
	_, err := f.Size()
	return err
}

// keepEdges reads into b, which stands for the content from start on, the
// first and the last block if [off, end) covers them in part. Bytes from size
// on do not exist and stay zero.
func (f *File) keepEdges(b []byte, start, off, end, size int64) error {
	edge := func(block int64) error {
		if block >= size {
			return nil
		}
		e := b[block-start:][:BlockSize]
		if n, err := f.lower.ReadAt(e, f.base+block); n < len(e) {
			return fmt.Errorf("read block to change: %w", err)
		}
		if err := f.decrypt(e, block); err != nil {
			return err
		}
		if size-block < BlockSize {
			clear(e[size-block:])
		}
		return nil
	}
	first, last := floorBlock(off), floorBlock(end)
	if off&blockMask != 0 || end < first+BlockSize {
		if err := edge(first); err != nil {
			return err
		}
	}
	if end&blockMask != 0 && last != first && end < size {
		return edge(last)
	}
	return nil
}

// closeTail makes the bytes between size, the end of the content, and the next
// block zeros, as they must be before content grows beyond that block to off.
// The caller holds content.
func (f *File) closeTail(size, off int64) error {
	block := floorBlock(size)
	if size == block || off < block+BlockSize {
		return nil // no tail, or whoever writes into its block keeps it
	}
	var b [BlockSize]byte
	if err := f.keepEdges(b[:], block, size, size+1, size); err != nil {
		return err
	}
	defer clear(b[:])
	return f.encryptTo(b[:], block, int(encodedSize(size)-block-BlockSize))
}

// Truncate changes the length of the content. New bytes are zero; cut-off
// bytes never come back.
func (f *File) Truncate(size int64) error {
	if size < 0 {
		return errors.New("truncate encrypted file: negative size")
	}
	f.content.Lock()
	defer f.content.Unlock()
	old, err := f.Size()
	if err != nil {
		return err
	}
	defer f.moved.resize(old, size)
	if size > old {
		// Nobody writes into the tail's block here: close it also where size
		// stays inside it, or bytes that were cut off would come back.
		if err := f.closeTail(old, max(size, floorBlock(old)+BlockSize)); err != nil {
			return errors.Join(err, f.refresh())
		}
	}
	if err := f.cut(size); err != nil {
		return errors.Join(err, f.refresh())
	}
	f.size.Store(size)
	return nil
}

// cut gives the lower file the length for a content of size bytes. The caller
// holds content.
func (f *File) cut(size int64) error {
	f.cuts.Add(1)
	defer f.cuts.Add(1)
	return f.lower.Truncate(f.base + encodedSize(size))
}

// crypt encrypts or decrypts whole blocks from content offset off on.
func (f *File) crypt(dst, src []byte, off int64, encrypt bool) {
	unit, index := unitOf(off)
	if index != 0 {
		n := min(UnitSize-index*BlockSize, len(src))
		f.cryptPart(dst[:n], src[:n], unit, index, encrypt)
		dst, src, unit = dst[n:], src[n:], unit+1
	}
	if n := len(src) &^ (UnitSize - 1); n > 0 {
		if encrypt {
			f.cipher.EncryptUnits(dst[:n], src[:n], UnitSize, unit)
		} else {
			f.cipher.DecryptUnits(dst[:n], src[:n], UnitSize, unit)
		}
		dst, src, unit = dst[n:], src[n:], unit+uint64(n/UnitSize)
	}
	if len(src) > 0 {
		f.cryptPart(dst, src, unit, 0, encrypt)
	}
}

func (f *File) cryptPart(dst, src []byte, unit uint64, index int, encrypt bool) {
	if encrypt {
		f.cipher.Encrypt(dst, src, unit, index)
	} else {
		f.cipher.Decrypt(dst, src, unit, index)
	}
}
