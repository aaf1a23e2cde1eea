package sqlvfs

import "github.com/ncruces/go-sqlite3/vfs"

// A journalFile is a rollback journal. SQLite writes a record of it, page
// number, page and checksum, in three pieces of 4, page size and 4 bytes, none
// of which ends at a multiple of 16. They are put together and go down as one
// write. Whatever else is done to the journal, and any write to its database,
// first sends down what waits.
type journalFile struct {
	file
	pending    []byte
	pendingOff int64
}

const journalWord = 4 // a record's first and last piece

func (j *journalFile) flush() error {
	if len(j.pending) == 0 {
		return nil
	}
	_, err := j.file.WriteAt(j.pending, j.pendingOff)
	clear(j.pending)
	j.pending = j.pending[:0]
	return err
}

// ReadAt implements vfs.File.
func (j *journalFile) ReadAt(p []byte, off int64) (int, error) {
	if err := j.flush(); err != nil {
		return 0, err
	}
	return j.file.ReadAt(p, off)
}

// WriteAt implements vfs.File.
func (j *journalFile) WriteAt(p []byte, off int64) (int, error) {
	switch {
	case len(j.pending) > 0 && off == j.pendingOff+int64(len(j.pending)):
		j.pending = append(j.pending, p...)
		if len(p) != journalWord {
			return len(p), nil
		}
		if err := j.flush(); err != nil {
			return 0, err
		}
		return len(p), nil
	case len(p) == journalWord:
		if err := j.flush(); err != nil {
			return 0, err
		}
		j.pending, j.pendingOff = append(j.pending, p...), off
		return len(p), nil
	}
	if err := j.flush(); err != nil {
		return 0, err
	}
	return j.file.WriteAt(p, off)
}

// Truncate implements vfs.File.
func (j *journalFile) Truncate(size int64) error {
	if err := j.flush(); err != nil {
		return err
	}
	return j.file.Truncate(size)
}

// Size implements vfs.File.
func (j *journalFile) Size() (int64, error) {
	if err := j.flush(); err != nil {
		return 0, err
	}
	return j.file.Size()
}

// Sync implements vfs.File.
func (j *journalFile) Sync(flags vfs.SyncFlag) error {
	if err := j.flush(); err != nil {
		return err
	}
	return j.file.Sync(flags)
}

// Close implements vfs.File.
func (j *journalFile) Close() error {
	if j.main != nil && j.main.journal == j {
		j.main.journal = nil
	}
	ferr := j.flush()
	if err := j.file.Close(); err != nil {
		return err
	}
	return ferr
}
