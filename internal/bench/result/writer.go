package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrExists reports a directory that already holds a run.
var ErrExists = errors.New("directory already holds a run")

// A Writer appends records to run.jsonl. Each record is handed to the
// operating system before Write returns, in one piece, so a run that is
// interrupted or killed keeps everything written. It is not safe for
// concurrent use.
type Writer struct {
	f *os.File
}

// Create starts a run in dir, which it creates if need be. The error matches
// ErrExists if there is one already; nothing is ever overwritten.
func Create(dir string, h Header) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create run: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create run in %s: %w", dir, ErrExists)
	}
	if err != nil {
		return nil, fmt.Errorf("create run: %w", err)
	}
	w := &Writer{f}
	h.Type, h.Format = TypeHeader, RunFormat
	if err := w.Write(h); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return w, nil
}

// Resume opens the run in dir to go on with it and returns what it holds. A
// torn last line is cut off the file first. Errors as for Read.
func Resume(dir string) (*Writer, *Run, error) {
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("resume run: %w", err)
	}
	run, err := Read(f)
	if err == nil {
		err = trim(f, run)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("resume run: %w", err), f.Close())
	}
	return &Writer{f}, run, nil
}

// trim cuts what follows the last good record and ends that with a newline.
func trim(f *os.File, run *Run) error {
	if err := f.Truncate(run.Size); err != nil {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, run.Size-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	_, err := f.Write([]byte{'\n'})
	return err
}

// Write appends one record: a Header, Block, Check, Void, Note or End.
func (w *Writer) Write(record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if _, err := w.f.Write(append(addSum(line), '\n')); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Close forces the records to disk and closes the file.
func (w *Writer) Close() error {
	if err := errors.Join(w.f.Sync(), w.f.Close()); err != nil {
		return fmt.Errorf("close run: %w", err)
	}
	return nil
}
