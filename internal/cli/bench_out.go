package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/disk"
)

// What a result directory holds beside result.FileName.
const (
	lockName   = "lock" // held locked by the run at work
	dataName   = "data" // the databases, while it runs
	reportName = "report.html"
)

// lockMark is the content of the lock file. It is there before anything else
// is, so that a directory without it, and without records, is not a run's.
const lockMark = "held by veildb bench while it runs\n"

// place names the result directory where no option does, and sees to it that
// the study's servers can work in it: root's home is often closed to their user.
func (o *benchRun) place(d *study.Definition) error {
	o.named = o.out != ""
	if !o.named {
		o.out = fmt.Sprintf("veildb-%s-%s", d.Name, time.Now().Format("20060102-150405"))
	}
	if o.user != nil || d.Engine == "sqlite" {
		return nil
	}
	// Servers' users pass the directories made here, whatever the umask is; they
	// read no more for that.
	unix.Umask(unix.Umask(0o077) &^ 0o011)
	err := target.Reachable(d.Engine, o.out)
	switch {
	case !errors.Is(err, target.ErrNotPermitted):
		return err
	case o.named:
		return &Error{Code: ExitMissing, Op: "run study " + d.Name, Err: err,
			Hint: "name a directory below /var/tmp with --out"}
	}
	o.out = filepath.Join("/var/tmp", o.out)
	if err := os.Mkdir(o.out, 0o755); err != nil { // one that is there may be anybody's
		return fmt.Errorf("create result directory: %w", err)
	}
	return nil
}

// claimResults makes and locks the result directory dir. One that holds other
// files than those of a run is refused: a run removes its databases when it
// ends, and writes a report, and must not meet anybody else's under these names.
func claimResults(dir string) (*disk.FileLock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create result directory: %w", err)
	}
	path := filepath.Join(dir, lockName)
	ours, err := isResults(dir)
	if err != nil {
		return nil, fmt.Errorf("read result directory: %w", err)
	}
	if !ours {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("read result directory: %w", err)
		}
		for _, e := range entries {
			if fi, err := e.Info(); err != nil || e.Name() != lockName || fi.Size() != 0 {
				return nil, usagef("create result directory", "name with --out a new directory, an empty one, or one of an earlier run",
					"%s holds other files, such as %s", dir, e.Name())
			}
		}
	}
	lock, err := disk.Lock(path)
	if errors.Is(err, disk.ErrBusy) {
		return nil, &Error{Op: "lock result directory", Err: err, Hint: "another run writes to it; wait for its end, or name another --out"}
	}
	if err == nil && !ours {
		err = os.WriteFile(path, []byte(lockMark), 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("lock result directory: %w", err)
	}
	return lock, nil
}

// leave unlocks the result directory. Of a run that did not come to a record
// nothing stays but the directory, if it was named.
func (o *benchRun) leave(lock *disk.FileLock) error {
	if !hasRecords(o.out) {
		os.Remove(filepath.Join(o.out, dataName)) // if it is empty
		os.Remove(filepath.Join(o.out, lockName))
		if !o.named {
			os.Remove(o.out)
		}
	}
	return lock.Close()
}

// hasRecords reports whether a run in dir came to write records.
func hasRecords(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, result.FileName))
	return err == nil
}

// isResults reports whether a run has written to dir.
func isResults(dir string) (bool, error) {
	if hasRecords(dir) {
		return true, nil
	}
	f, err := disk.OpenRegular(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, disk.ErrNotRegular) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	mark := make([]byte, len(lockMark))
	n, _ := f.Read(mark)
	return string(mark[:n]) == lockMark, nil
}

// outcome reports whether the run in dir is complete, and has its report.
func outcome(dir string) (complete, reported bool) {
	run, err := result.ReadDir(dir)
	if err != nil || len(result.All[result.End](run)) == 0 {
		return false, false // what is wrong with it, Resume tells
	}
	_, err = os.Stat(filepath.Join(dir, reportName))
	return true, err == nil
}

var errComplete = errors.New("it is complete")

// cannotResume is the error for a run in dir that cannot go on, because of err.
func cannotResume(dir string, err error) error {
	return &Error{Code: ExitUsage, Op: "resume run in " + dir, Err: err,
		Hint: "choose another --out, or look at it with: veildb bench summary " + shellWord(dir)}
}

// resumable says why a run described by h cannot go on from old, or nil.
func resumable(old *result.Run, h result.Header) error {
	switch {
	case len(result.All[result.End](old)) > 0:
		return errComplete
	case old.Header.Study != h.Study || old.Header.Seed != h.Seed:
		return fmt.Errorf("it is of study %s with seed %d", old.Header.Study, old.Header.Seed)
	case !reflect.DeepEqual(old.Header.Cells, h.Cells):
		return errors.New("it compares other variants, workloads or threads")
	case !sameConfig(old.Header.Config, h.Config):
		return errors.New("it has other settings, sizes of data or columns")
	}
	return nil
}

// sameConfig compares what must not change within a run: all but its length.
func sameConfig(a, b map[string]any) bool {
	var text [2]string
	for i, c := range []map[string]any{a, b} {
		c = maps.Clone(c)
		delete(c, "budget")
		data, err := json.Marshal(c) // sorts keys, so that what was read equals what was made
		if err != nil {
			return false
		}
		text[i] = string(data)
	}
	return text[0] == text[1]
}
