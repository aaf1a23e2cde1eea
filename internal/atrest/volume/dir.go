package volume

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/disk"
)

// Errors that tell why a volume directory cannot be made or opened, besides
// those of files.
var (
	// ErrNotVolume is a directory that holds no volume.
	ErrNotVolume = errors.New("not an encrypted volume")
	// ErrNotEmpty is a directory that cannot become a volume, since it holds
	// something.
	ErrNotEmpty = errors.New("directory is not empty")
	// ErrBusy is a volume that another process holds.
	ErrBusy = errors.New("volume is in use by another process")
	// ErrConverting is a volume that a conversion has not completed.
	ErrConverting = errors.New("volume is not complete: its conversion was interrupted")
	// ErrReady is a volume that is complete, where an unfinished one is wanted.
	ErrReady = errors.New("volume is complete")
)

// What a volume directory holds.
const (
	privateName = ".veildb"     // everything that is not the tree
	filesName   = "files"       // the tree
	configName  = "config"      // in privateName
	copyName    = "config.copy" // a copy of it, for repair
	lockName    = "lock"        // in privateName
	tempPrefix  = ".veildb-new."
	maxHolder   = 4096
)

// A Dir is an open volume directory. Its methods are safe for concurrent use,
// except Close, which must come last.
type Dir struct {
	path  string
	keys  KeySource
	root  *os.File
	lock  io.Closer // nil for a view
	still bool      // on a file system that cannot be changed

	mu     sync.Mutex // guards config, and changes of its file
	config Config
}

// InitDir makes path the directory of an empty volume. The zero State means
// StateReady, zero Names NamesPlain; KeyVersion, ID, Created and Generation
// are set here.
//
// path must be an empty directory (lost+found does not count) or not exist; its
// parent must. An interrupted call leaves what another InitDir takes for empty,
// or a whole volume. Errors: ErrNotEmpty, and those of keys.
func InitDir(path string, keys KeySource, c Config) error {
	if c.State == "" {
		c.State = StateReady
	}
	if c.Names == "" {
		c.Names = NamesPlain
	}
	rand.Read(c.ID[:]) // never fails, see crypto/rand
	c.Created, c.Generation, c.KeyVersion = time.Now().UTC().Truncate(time.Second), 1, keys.Current()
	data, err := sealConfig(&c, keys)
	if err == nil {
		err = initDir(path, data)
	}
	if err != nil {
		return fmt.Errorf("make volume: %w", err)
	}
	return nil
}

func initDir(path string, config []byte) error {
	switch err := os.Mkdir(path, 0o700); {
	case err == nil:
		if err := disk.SyncDir(filepath.Dir(filepath.Clean(path))); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if err := checkEmpty(path); err != nil {
		return err
	}
	files := filepath.Join(path, filesName)
	if err := os.Mkdir(files, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	temp := filepath.Join(path, tempPrefix+rand.Text())
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for name, data := range map[string][]byte{configName: config, copyName: config, lockName: nil} {
		if err := disk.AtomicWrite(filepath.Join(temp, name), data, 0o600); err != nil {
			return err
		}
	}
	// The last step: before it there is no volume, after it there is one.
	if err := disk.OS.RenameNew(temp, filepath.Join(path, privateName)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return ErrNotEmpty
		}
		return err
	}
	return disk.SyncDir(path)
}

// checkEmpty returns ErrNotEmpty unless path is a directory without content, or
// with what an interrupted InitDir leaves.
func checkEmpty(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "lost+found", strings.HasPrefix(name, tempPrefix) && e.IsDir():
		case name == filesName && e.IsDir():
			inside, err := os.ReadDir(filepath.Join(path, name))
			if err != nil {
				return err
			}
			if len(inside) > 0 {
				return fmt.Errorf("%w: %s", ErrNotEmpty, filepath.Join(path, name))
			}
		default:
			return fmt.Errorf("%w: %s", ErrNotEmpty, path)
		}
	}
	return nil
}

// sealConfig returns the bytes of c under c.KeyVersion.
func sealConfig(c *Config, keys KeySource) ([]byte, error) {
	key, err := dirKey(keys, c.KeyVersion, c.ID)
	if err != nil {
		return nil, err
	}
	defer clear(key[:])
	return c.encode(&key)
}

// DirOptions for OpenDir. The zero value opens a volume that is ready.
type DirOptions struct {
	// Converting opens a volume in StateConverting instead, to go on with it.
	Converting bool
	// ReadOnly says that the volume will not be changed, so that it may lie on
	// a file system that cannot be, such as a snapshot.
	ReadOnly bool
	// Purpose is what others are told who find the volume in use, such as
	// "mounted on /srv/db". One line.
	Purpose string `json:"purpose"`
}

// OpenDir opens the volume directory path for one process alone. It takes the
// exclusive lock first; only then openKeys is called. The keys stay the
// caller's, who closes them after the Dir.
//
// Errors: ErrNotVolume, ErrBusy, ErrConverting (with Converting set,
// ErrReady), ErrWrongKey, ErrCorrupt,
// ErrUnsupported, and those of openKeys.
func OpenDir(path string, openKeys func() (KeySource, error), opts DirOptions) (_ *Dir, err error) {
	d, err := newDir(path)
	if err != nil {
		return nil, fmt.Errorf("open volume: %w", err)
	}
	defer func() {
		if err != nil {
			d.Close()
			err = fmt.Errorf("open volume %s: %w", path, err)
		}
	}()
	d.lock, err = lock(d.Private(lockName))
	if opts.ReadOnly && errors.Is(err, unix.EROFS) {
		d.lock, err = lockStill(d.Private(lockName))
		d.still = true
	}
	if errors.Is(err, disk.ErrBusy) {
		return nil, fmt.Errorf("%w%s", ErrBusy, describeHolder(path))
	}
	if err != nil {
		return nil, err
	}
	// Who finds the lock taken reads this; nothing depends on it.
	if !d.still {
		if err := noteHolder(d.Private(lockName), fmt.Sprintf("%d\n%s\n", os.Getpid(), opts.Purpose)); err != nil {
			return nil, err
		}
	}
	if d.keys, err = openKeys(); err != nil {
		return nil, err
	}
	if err := d.load(); err != nil {
		return nil, err
	}
	switch converting := d.config.State == StateConverting; {
	case converting && !opts.Converting:
		return nil, ErrConverting
	case !converting && opts.Converting:
		return nil, ErrReady
	}
	if d.still {
		// What an interrupted change left stays, and does no harm to who reads:
		// each name is the old file or the new one, and both are whole.
		return d, nil
	}
	if err := errors.Join(d.recoverReplace(), d.tidy()); err != nil {
		return nil, err
	}
	return d, nil
}

// tidy removes what interrupted changes of the configuration leave, which
// nobody ever reads, and brings its copy up to date.
func (d *Dir) tidy() error {
	for _, name := range []string{configName, copyName, replaceJournal} {
		strays, err := disk.Strays(d.Private(name))
		if err != nil {
			return err
		}
		for _, s := range strays {
			if err := os.Remove(s); err != nil {
				return err
			}
		}
	}
	config, err := readOwn(d.Private(configName), maxDirConfig)
	if err != nil {
		return err
	}
	if spare, err := readOwn(d.Private(copyName), maxDirConfig); err == nil && bytes.Equal(config, spare) {
		return nil
	}
	return disk.AtomicWrite(d.Private(copyName), config, 0o600)
}

// ViewDir opens the volume directory path beside others, one that is mounted
// included, for looking only: whoever holds it may change it meanwhile. With
// keys nil nothing is authenticated. Errors are those of OpenDir without
// ErrBusy and ErrConverting.
func ViewDir(path string, keys KeySource) (*Dir, error) {
	d, err := newDir(path)
	if err != nil {
		return nil, fmt.Errorf("open volume: %w", err)
	}
	d.keys = keys
	if err := d.load(); err != nil {
		d.Close()
		return nil, fmt.Errorf("open volume %s: %w", path, err)
	}
	return d, nil
}

// RestoreConfig puts the copy of the configuration of the volume directory path
// in place of one that is damaged or missing, once the copy is authentic. It
// takes the lock meanwhile. Errors are those of OpenDir.
func RestoreConfig(path string, openKeys func() (KeySource, error)) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore configuration of %s: %w", path, err)
		}
	}()
	private := filepath.Join(path, privateName)
	data, err := readOwn(filepath.Join(private, copyName), maxDirConfig)
	if err != nil {
		return err
	}
	lock, err := lock(filepath.Join(private, lockName))
	if errors.Is(err, disk.ErrBusy) {
		return fmt.Errorf("%w%s", ErrBusy, describeHolder(path))
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	keys, err := openKeys()
	if err != nil {
		return err
	}
	c, err := decodeConfig(data)
	if err == nil {
		err = c.verify(data, keys)
	}
	if err != nil {
		return err
	}
	return disk.AtomicWrite(filepath.Join(private, configName), data, 0o600)
}

// newDir opens the tree of the volume directory path.
func newDir(path string) (*Dir, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, fmt.Errorf("%s: %w", path, ErrNotVolume)
	}
	d := &Dir{path: path}
	if fi, err := os.Lstat(d.Private(".")); err == nil && !fi.IsDir() {
		return nil, fmt.Errorf("%w: %s is no directory", ErrCorrupt, d.Private("."))
	}
	fi, err = os.Lstat(d.Private(configName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(d.Private(copyName)); err == nil {
			return nil, fmt.Errorf("%w: %s is missing", ErrCorrupt, d.Private(configName))
		}
		return nil, fmt.Errorf("%s: %w", path, ErrNotVolume)
	}
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", d.Private(configName), ErrCorrupt)
	}
	d.root, err = os.OpenFile(filepath.Join(path, filesName), unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%w: %s is missing, or no directory", ErrCorrupt, filepath.Join(path, filesName))
	}
	return d, err
}

// load reads the configuration, and authenticates it if there are keys.
func (d *Dir) load() error {
	data, err := readOwn(d.Private(configName), maxDirConfig)
	if err != nil {
		return err
	}
	c, err := decodeConfig(data)
	if err == nil && d.keys != nil {
		err = c.verify(data, d.keys)
	}
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	d.mu.Lock()
	d.config = *c
	d.mu.Unlock()
	return nil
}

// Path returns the path the volume was opened by.
func (d *Dir) Path() string { return d.path }

// Root returns the open directory of the tree. It belongs to d.
func (d *Dir) Root() *os.File { return d.root }

// Keys returns the keys of the volume; nil for a view without.
func (d *Dir) Keys() KeySource { return d.keys }

// Private returns the path of what the volume keeps beside its tree under
// name.
func (d *Dir) Private(name string) string { return filepath.Join(d.path, privateName, name) }

// Config returns the configuration as last loaded or changed.
func (d *Dir) Config() Config {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.config
}

// Update lets change alter State or Rekeyed and makes the result the
// configuration, under the current data key. It is durable on return, and a
// crash leaves the old configuration or the new one. d must not be a view.
func (d *Dir) Update(change func(*Config)) error {
	if d.lock == nil {
		panic("volume: internal error: change of a view")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.config
	change(&c)
	c.ID, c.Created, c.Names = d.config.ID, d.config.Created, d.config.Names
	c.Generation, c.KeyVersion = d.config.Generation+1, d.keys.Current()
	data, err := sealConfig(&c, d.keys)
	if err != nil {
		return fmt.Errorf("change configuration: %w", err)
	}
	for _, name := range []string{configName, copyName} {
		if err := disk.AtomicWrite(d.Private(name), data, 0o600); err != nil {
			return fmt.Errorf("change configuration: %w", err)
		}
	}
	d.config = c
	return nil
}

// Close releases the volume.
func (d *Dir) Close() error {
	var err error
	if d.root != nil {
		err = d.root.Close()
	}
	if d.lock != nil {
		// The note goes before the lock: the next holder's must stay.
		if !d.still {
			noteHolder(d.Private(lockName), "")
		}
		err = errors.Join(err, d.lock.Close())
	}
	return err
}
