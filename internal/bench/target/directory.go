package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Names inside a server's directory.
const (
	markerName = "veildb-target.json" // says whose directory this is
	stateName  = "state.json"         // of a detached server
	lockName   = "lock"               // flocked by the program that runs the server
)

const tempPrefix = "veildb-target-"

// maxSocketPath is the longest unix socket path Linux takes.
const maxSocketPath = 107

// A directory is where one server lives:
//
//	veildb-target.json  marker
//	lock                held while a program of ours works here
//	server.log          what the server printed
//	data/               its data (or Config.DataDir)
//	run/                socket and pid file
//	tmp/                its temporary files (or Config.TmpDir)
type directory struct {
	root, data, run, tmp, log string

	temp     bool // remove root on release
	shortRun bool // run is outside root, where the path is short enough
	fresh    bool // there was no data when we came
	cred     *syscall.Credential
	lock     *os.File
}

// marker is the content of the marker file.
type marker struct {
	Format   string `json:"format"`
	Engine   string `json:"engine"`
	Version  string `json:"version"`
	Database string `json:"database"`
	DataDir  string `json:"data_dir"`
	// Complete is false while the data are being initialised: what a killed
	// program leaves then is ours, and of no use.
	Complete bool `json:"complete"`
}

const markerFormat = "veildb.target/1"

// openDirectory creates or checks the directory cfg names and locks it.
func openDirectory(cfg Config, inst Install, eng engine) (_ *directory, err error) {
	d := &directory{root: cfg.Dir, temp: cfg.Dir == "", fresh: true}
	if d.temp {
		sweep(os.TempDir())
		d.root, err = os.MkdirTemp("", tempPrefix)
	} else {
		d.root, err = filepath.Abs(cfg.Dir)
		if err == nil {
			err = os.MkdirAll(d.root, 0o711)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create directory: %w", err)
	}
	d.data, d.run, d.tmp = filepath.Join(d.root, "data"), filepath.Join(d.root, "run"), filepath.Join(d.root, "tmp")
	d.log = filepath.Join(d.root, "server.log")
	if cfg.DataDir != "" {
		if d.data, err = filepath.Abs(cfg.DataDir); err != nil {
			return nil, err
		}
	}
	if cfg.TmpDir != "" {
		if d.tmp, err = filepath.Abs(cfg.TmpDir); err != nil {
			return nil, err
		}
	}
	if err := d.open(inst, eng.needsOtherUser() || cfg.otherUser); err != nil {
		if d.temp {
			os.RemoveAll(d.root)
		}
		d.unlock()
		return nil, err
	}
	return d, nil
}

func (d *directory) open(inst Install, otherUser bool) error {
	if !d.temp {
		if err := d.checkOurs(inst.Engine); err != nil {
			return err
		}
	}
	if err := d.takeLock(); err != nil {
		return err
	}
	if st, err := readState(d.root); err == nil && st.process() != nil {
		return fmt.Errorf("open %s: %w: server runs as process %d", d.root, ErrBusy, st.PID)
	}
	if otherUser && os.Geteuid() == 0 {
		var err error
		if d.cred, err = unprivileged(); err != nil {
			return err
		}
		if err := os.Chmod(d.root, 0o711); err != nil {
			return err
		}
		for _, p := range []string{d.root, filepath.Dir(d.data)} {
			if err := searchable(p, d.cred); err != nil {
				return err
			}
		}
	}
	if len(d.run)+len("/.s.PGSQL.65535") > maxSocketPath {
		run, err := os.MkdirTemp("/tmp", "veildb-run-")
		if err != nil {
			return fmt.Errorf("create socket directory: %w", err)
		}
		d.run, d.shortRun = run, true
		return d.give(run)
	}
	return nil
}

// checkOurs refuses a directory with files but without our marker, or with the
// marker of another engine.
func (d *directory) checkOurs(engineName string) error {
	b, err := os.ReadFile(filepath.Join(d.root, markerName))
	if err == nil {
		var m marker
		if json.Unmarshal(b, &m) != nil || m.Format != markerFormat {
			return fmt.Errorf("open %s: %w: its %s is not readable", d.root, ErrForeignDir, markerName)
		}
		if m.Engine != engineName {
			return fmt.Errorf("open %s: %w: data of a %s server", d.root, ErrForeignDir, m.Engine)
		}
		if m.DataDir != d.dataName() {
			return fmt.Errorf("open %s: %w: its data are in %s", d.root, ErrForeignDir, m.DataDir)
		}
		d.fresh = !m.Complete
		return nil
	}
	for _, dir := range []string{d.root, d.data} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if e.Name() != lockName && e.Name() != "lost+found" && !inside(filepath.Join(dir, e.Name()), d.data) {
				return fmt.Errorf("open %s: %w, such as %q", dir, ErrForeignDir, e.Name())
			}
		}
	}
	return nil
}

func (d *directory) takeLock() error {
	f, err := os.OpenFile(filepath.Join(d.root, lockName), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("lock directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return fmt.Errorf("lock %s: %w", d.root, ErrBusy)
	}
	d.lock = f
	return nil
}

// closeLock releases the advisory lock of f and closes f. To close it is not enough: a
// process that is being started meanwhile has it open, too, until it runs its program.
func closeLock(f *os.File) {
	unix.Flock(int(f.Fd()), unix.LOCK_UN)
	f.Close()
}

func (d *directory) unlock() {
	if d.lock != nil {
		closeLock(d.lock)
		d.lock = nil
	}
}

// clear removes what an initialisation that was cut short has left. The marker
// says that it is ours.
func (d *directory) clear() {
	for _, p := range []string{d.data, d.run, d.tmp} {
		removeContent(p)
	}
}

// makeDirs creates the parts the server writes to and gives them to its user.
func (d *directory) makeDirs() error {
	for _, p := range []string{d.data, d.run, d.tmp} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
		if err := d.give(p); err != nil {
			return err
		}
	}
	return nil
}

// give makes path belong to the server's user.
func (d *directory) give(path string) error {
	if d.cred == nil {
		return nil
	}
	if err := os.Lchown(path, int(d.cred.Uid), int(d.cred.Gid)); err != nil {
		return fmt.Errorf("give to the server's user: %w", err)
	}
	return nil
}

// giveAll makes all of the data belong to the server's user.
func (d *directory) giveAll() error {
	return filepath.WalkDir(d.data, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return d.give(path)
	})
}

// dataName is the data directory as the marker has it: by its path inside the
// directory, which may then be moved, or by its whole path elsewhere.
func (d *directory) dataName() string {
	if inside(d.root, d.data) {
		return strings.TrimPrefix(d.data, d.root+"/")
	}
	return d.data
}

// inside reports whether path is dir or lies in it.
func inside(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func (d *directory) initialised() bool { return !d.fresh }

// mark writes the marker.
func (d *directory) mark(inst Install, database string, complete bool) error {
	b, err := json.Marshal(marker{markerFormat, inst.Engine, inst.Version, database, d.dataName(), complete})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.root, markerName), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("mark directory: %w", err)
	}
	return nil
}

// discard undoes openDirectory after a failed start: what was made for this
// server goes, data that was there before stays.
func (d *directory) discard() {
	if !d.temp && d.fresh {
		os.Remove(filepath.Join(d.root, markerName))
		if d.data == filepath.Join(d.root, "data") {
			os.RemoveAll(d.data)
		} else {
			removeContent(d.data)
		}
		os.RemoveAll(d.tmp)
		os.RemoveAll(d.run)
		os.Remove(d.log)
		os.Remove(filepath.Join(d.root, lockName))
	}
	d.release()
}

// release gives the directory back after the server has ended.
func (d *directory) release() error {
	defer d.unlock()
	if d.shortRun {
		os.RemoveAll(d.run)
	}
	os.Remove(filepath.Join(d.root, stateName))
	if !d.temp {
		return nil
	}
	if d.data != filepath.Join(d.root, "data") {
		removeContent(d.data)
	}
	if err := os.RemoveAll(d.root); err != nil {
		return fmt.Errorf("remove directory: %w", err)
	}
	return nil
}

func removeContent(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "lost+found" {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// sweep removes temporary directories of programs that were killed before they
// could. A directory whose lock is held, or whose detached server runs, stays.
func sweep(tmp string) {
	dirs, _ := filepath.Glob(filepath.Join(tmp, tempPrefix+"*"))
	for _, root := range dirs {
		var st unix.Stat_t
		if unix.Lstat(root, &st) != nil || int(st.Uid) != os.Geteuid() || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			continue
		}
		if time.Since(time.Unix(st.Mtim.Unix())) < time.Minute {
			continue // it may just be coming up, before its lock
		}
		d := &directory{root: root}
		if d.takeLock() != nil {
			continue
		}
		if state, err := readState(root); err != nil || state.process() == nil {
			os.RemoveAll(root)
		}
		d.unlock()
	}
}

// unprivileged finds a user for servers that refuse to run as root.
func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil && uid != 0 {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("find an unprivileged user (postgres or nobody): %w", ErrNotPermitted)
}

// Reachable reports whether a server of the engine that this process starts could
// have its directory in dir, or in one made there. If its user may not pass that,
// or one above, it returns ErrNotPermitted.
func Reachable(engineName, dir string) error {
	eng, ok := engines[engineName]
	if os.Geteuid() != 0 || ok && !eng.needsOtherUser() {
		return nil
	}
	if !ok && engineName != Galera {
		return fmt.Errorf("%w: %q", ErrUnknownEngine, engineName)
	}
	cred, err := unprivileged()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	for !exists(dir) {
		dir = filepath.Dir(dir)
	}
	return searchable(dir, cred)
}

// searchable checks that the user can reach dir: the execute bit on it and on
// every directory above.
func searchable(dir string, cred *syscall.Credential) error {
	for p := dir; ; p = filepath.Dir(p) {
		var st unix.Stat_t
		if err := unix.Stat(p, &st); err != nil {
			return fmt.Errorf("check directory %s: %w", p, err)
		}
		bit := uint32(0o001)
		switch {
		case st.Uid == cred.Uid:
			bit = 0o100
		case st.Gid == cred.Gid:
			bit = 0o010
		}
		if st.Mode&bit == 0 {
			return fmt.Errorf("check directory %s: %w: the server runs as user %d, who cannot pass it", p, ErrNotPermitted, cred.Uid)
		}
		if p == filepath.Dir(p) {
			return nil
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
