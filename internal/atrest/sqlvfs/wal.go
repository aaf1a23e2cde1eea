package sqlvfs

import (
	"encoding/binary"
	"io"

	"github.com/ncruces/go-sqlite3/vfs"
)

// A walFile is a write-ahead log. SQLite lays it out as a header of 32 bytes
// and frames of 24 + page size bytes (https://sqlite.org/fileformat2.html,
// section 4.1), so every second frame would begin inside a 16-byte block. A
// writer that appends to that block would rewrite the end of a page that
// another process may be reading at the moment, and would have to read it
// first. Instead 8 bytes of padding follow each frame's header:
//
//	log offset                            file offset
//	0 to 31                               the same
//	32 + i(24+p) + r, r < 24              32 + i(32+p) + r        frame header
//	32 + i(24+p) + r, r >= 24             32 + i(32+p) + r + 8    page
//
// SQLite writes the frames of a transaction one by one, header and page apart.
// They are put together and go down in few writes, which saves more system
// calls than padding and cipher cost. What waits goes down
//
//   - with the frame that commits, so that the commit waits for nothing and
//     gets the error if there is one,
//   - before anything else is done to the log,
//   - before SQLite locks, unlocks or publishes anything in shared memory: so
//     it never outlives the lock for writing, or becomes visible too late,
//   - when maxBatch is reached.
//
// Headers that SQLite writes alone, each after reading its frame, to renew the
// checksums of frames that a transaction wrote twice, do not wait.
type walFile struct {
	file
	pageSize int64 // 0 until the log's header was seen

	batch     []byte // what waits: frames as they lie in the file
	batchOff  int64  // file offset of batch
	next      int64  // log offset at which batch goes on; 0 if nothing waits
	wantsPage bool   // batch ends with a header
	commits   bool   // which is that of a committing frame
	err       error  // of writing a batch where it could not be reported

	lastRead int64 // log offset of the last read, 0 after a write
}

const (
	walHeader      = 32
	walFrameHeader = 24
	walPad         = 8

	maxBatch = 64 << 10
)

// learn takes the page size from the log's header h.
func (w *walFile) learn(h []byte) {
	w.pageSize = 0
	magic := binary.BigEndian.Uint32(h)
	size := int64(binary.BigEndian.Uint32(h[8:]))
	if magic&^1 == 0x377f0682 && size >= 512 && size <= 65536 && size&(size-1) == 0 {
		w.pageSize = size
	}
}

// load learns from the file. A log without a good header holds no frames for
// SQLite either; its bytes are then taken as they lie.
func (w *walFile) load() error {
	if w.pageSize != 0 {
		return nil
	}
	var h [walHeader]byte
	if n, err := w.file.ReadAt(h[:], 0); n < len(h) {
		if err == io.EOF {
			err = nil
		}
		return err
	}
	w.learn(h[:])
	return nil
}

// place returns the file offset of log offset off, and how many bytes follow
// there without a gap.
func (w *walFile) place(off int64) (at, run int64) {
	if off < walHeader {
		return off, walHeader - off
	}
	if w.pageSize == 0 {
		return off, 1 << 30
	}
	frame, r := (off-walHeader)/(walFrameHeader+w.pageSize), (off-walHeader)%(walFrameHeader+w.pageSize)
	at = walHeader + frame*(walFrameHeader+walPad+w.pageSize) + r
	if r < walFrameHeader {
		return at, walFrameHeader - r
	}
	return at + walPad, walFrameHeader + w.pageSize - r
}

// logSize is the inverse of place for a length.
func (w *walFile) logSize(size int64) int64 {
	if size < walHeader || w.pageSize == 0 {
		return size
	}
	slot := walFrameHeader + walPad + w.pageSize
	frame, r := (size-walHeader)/slot, (size-walHeader)%slot
	if r > walFrameHeader {
		r = max(r-walPad, walFrameHeader)
	}
	return walHeader + frame*(walFrameHeader+w.pageSize) + r
}

// flush sends down what waits.
func (w *walFile) flush() error { return w.flushWith(nil) }

// flushWith sends down what waits and page, which follows it.
func (w *walFile) flushWith(page []byte) error {
	if w.next == 0 {
		err := w.err
		w.err = nil
		return err
	}
	err := w.writePair(w.batch, page, w.batchOff)
	clear(w.batch) // plaintext
	w.batch, w.next, w.wantsPage = w.batch[:0], 0, false
	return err
}

// settle is flush where no error can be reported; the next call reports it.
func (w *walFile) settle() {
	if w.next != 0 {
		w.err = w.flush()
	}
}

// ReadAt implements vfs.File.
func (w *walFile) ReadAt(p []byte, off int64) (int, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	w.lastRead = off
	if off+int64(len(p)) > walHeader {
		if err := w.load(); err != nil {
			return 0, err
		}
	}
	done := 0
	for done < len(p) {
		at, run := w.place(off + int64(done))
		part := p[done:]
		if int64(len(part)) > run {
			part = part[:run]
		}
		n, err := w.file.ReadAt(part, at)
		done += n
		if n < len(part) {
			return done, err
		}
	}
	return done, nil
}

// WriteAt implements vfs.File.
func (w *walFile) WriteAt(p []byte, off int64) (int, error) {
	lastRead := w.lastRead
	w.lastRead = 0
	if off == 0 && len(p) == walHeader {
		if err := w.flush(); err != nil {
			return 0, err
		}
		w.learn(p)
		return w.file.WriteAt(p, 0)
	}
	if err := w.load(); err != nil {
		return 0, err
	}
	switch {
	case w.wantsPage && off == w.next && int64(len(p)) == w.pageSize:
		return len(p), w.addPage(p)
	case len(p) == walFrameHeader && w.pageSize != 0 && (off-walHeader)%(walFrameHeader+w.pageSize) == 0:
		return len(p), w.addHeader(p, off, off != lastRead)
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	done := 0
	for done < len(p) {
		at, run := w.place(off + int64(done))
		part := p[done:]
		if int64(len(part)) > run {
			part = part[:run]
		}
		n, err := w.file.WriteAt(part, at)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// addHeader adds a frame's header to what waits, or writes it at once.
func (w *walFile) addHeader(h []byte, off int64, wait bool) error {
	if w.wantsPage || off != w.next || w.err != nil {
		if err := w.flush(); err != nil {
			return err
		}
		w.batchOff, _ = w.place(off)
	}
	w.batch = append(w.batch, h...)
	w.batch = append(w.batch, make([]byte, walPad)...)
	w.next, w.wantsPage = off+walFrameHeader, true
	w.commits = binary.BigEndian.Uint32(h[4:]) != 0 // the database's size after a commit
	if !wait {
		return w.flush()
	}
	return nil
}

// addPage adds the page that belongs to the header before it.
func (w *walFile) addPage(page []byte) error {
	if w.commits || len(w.batch)+len(page) >= maxBatch {
		return w.flushWith(page)
	}
	w.batch = append(w.batch, page...)
	w.next, w.wantsPage = w.next+w.pageSize, false
	return nil
}

// Truncate implements vfs.File.
func (w *walFile) Truncate(size int64) error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.load(); err != nil {
		return err
	}
	at, _ := w.place(size)
	if r := (size - walHeader) % (walFrameHeader + max(w.pageSize, 1)); r == walFrameHeader && w.pageSize != 0 {
		at -= walPad // ends with a frame's header
	}
	return w.file.Truncate(at)
}

// Size implements vfs.File.
func (w *walFile) Size() (int64, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	size, err := w.file.Size()
	if err != nil || size <= walHeader {
		return size, err
	}
	if err := w.load(); err != nil {
		return 0, err
	}
	return w.logSize(size), nil
}

// Sync implements vfs.File.
func (w *walFile) Sync(flags vfs.SyncFlag) error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.file.Sync(flags)
}

// Close implements vfs.File.
func (w *walFile) Close() error {
	if w.main != nil && w.main.wal == w {
		w.main.wal = nil
	}
	ferr := w.flush()
	if err := w.file.Close(); err != nil {
		return err
	}
	return ferr
}
