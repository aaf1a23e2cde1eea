package fscrypt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
)

// A Dir is an encrypted directory as Read found it. It holds nothing open.
type Dir struct {
	Path     string // absolute, links resolved
	Config   Config
	Policy   Policy
	FromCopy bool // the attribute is missing or damaged, Config is the copy
}

// Supported tells whether the directory path could be encrypted, empty or not.
// Errors: ErrFileSystem, ErrFeature, ErrKernel, ErrEncrypted.
func Supported(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = policyOf(f)
	if err = supported(f, err); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Init makes path a directory that the kernel encrypts with a key of its own,
// and leaves it unlocked. It must be empty or not exist; its parent must. An
// interrupted call leaves an empty directory that another Init takes, or an
// encrypted one. Errors: those of Supported, ErrNotEmpty, and those of keys.
func Init(path string, keys volume.KeySource) (*Dir, error) {
	d, err := initDir(path, keys)
	if err != nil {
		return nil, fmt.Errorf("encrypt %s: %w", path, err)
	}
	return d, nil
}

func initDir(path string, keys volume.KeySource) (*Dir, error) {
	made := os.Mkdir(path, 0o700)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return nil, made
	}
	d, err := encryptEmpty(path, keys)
	if err != nil && made == nil {
		os.Remove(path) // if it is still empty
	}
	return d, err
}

func encryptEmpty(path string, keys volume.KeySource) (*Dir, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Two at once would mix up attribute and policy.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("%w: another process has its lock", volume.ErrBusy)
	}
	_, err = policyOf(f)
	if err := supported(f, err); err != nil {
		return nil, err
	}
	if names, err := f.Readdirnames(1); len(names) > 0 {
		return nil, ErrNotEmpty
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	c, key, err := newConfig(keys, time.Now())
	if err != nil {
		return nil, err
	}
	defer key.Close()
	if err := writeConfig(f, c); err != nil {
		return nil, err
	}
	id, err := addKey(f, key)
	if err != nil {
		return nil, err
	}
	if id != c.KeyID {
		return nil, fmt.Errorf("%w: the kernel calls the key %s", ErrUnsupported, id)
	}
	if err := setPolicy(f, id); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	return Read(path)
}

// Open makes path an encrypted directory, as Init does, or unlocks it if it is
// one. Errors: those of Init, Read and Unlock.
func Open(path string, keys volume.KeySource) (*Dir, error) {
	d, err := Read(path)
	if errors.Is(err, ErrNotEncrypted) || errors.Is(err, fs.ErrNotExist) {
		return Init(path, keys)
	}
	if err == nil {
		err = d.Unlock(keys)
	}
	return d, err
}

// Adopt makes path, which lies in the encrypted directory d, one that can stand
// for itself: it gets d's configuration. The caller moves it where it is to be.
func (d *Dir) Adopt(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if p, err := policyOf(f); err != nil || p != d.Policy {
		return fmt.Errorf("%s: %w", path, ErrMismatch)
	}
	if err := writeConfig(f, d.Config); err != nil {
		return err
	}
	return f.Sync()
}

// writeConfig gives the directory f its configuration.
func writeConfig(f *os.File, c Config) error {
	if err := unix.Fsetxattr(int(f.Fd()), volume.OwnAttribute, c.encode(), 0); err != nil {
		return &os.PathError{Op: "set attribute of", Path: f.Name(), Err: err}
	}
	return nil
}

// copyPath is where the copy of the configuration of the directory path is.
func copyPath(path string, id KeyID) string {
	return filepath.Join(filepath.Dir(path), ".veildb", id.String())
}

// WriteCopy writes the copy of d's configuration, as of a directory at path.
func (d *Dir) WriteCopy(path string) error {
	name := copyPath(path, d.Config.KeyID)
	if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("copy configuration: %w", err)
	}
	if err := disk.AtomicWrite(name, d.Config.encode(), 0o644); err != nil {
		return fmt.Errorf("copy configuration: %w", err)
	}
	return disk.SyncDir(filepath.Dir(filepath.Dir(name)))
}

// Restore puts the configuration that d was read with in place of the attribute,
// once keys vouch for it.
func (d *Dir) Restore(keys volume.KeySource) error {
	return d.withKey(keys, func(f *os.File, _ *secret.Bytes) error {
		if err := writeConfig(f, d.Config); err != nil {
			return err
		}
		return f.Sync()
	})
}

// withKey calls do with the directory and its key, which end with the call. It
// fails before if keys do not vouch for the configuration.
func (d *Dir) withKey(keys volume.KeySource, do func(f *os.File, key *secret.Bytes) error) error {
	key, err := d.Config.Key(keys)
	if err != nil {
		return err
	}
	defer key.Close()
	f, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(f, key)
}

// Read reads what there is to know of the encrypted directory path, locked or
// not. Nothing is authenticated; Config.Key does that. Errors: ErrNotEncrypted,
// ErrCorrupt, ErrMismatch, ErrUnsupported.
func Read(path string) (*Dir, error) {
	d, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func read(path string) (*Dir, error) {
	path, err := filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENOTDIR) {
		return nil, ErrNotEncrypted
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := &Dir{Path: path}
	if d.Policy, err = policyOf(f); err != nil {
		return nil, ErrNotEncrypted
	}
	err = d.readConfig(f)
	switch {
	case errors.Is(err, ErrNotEncrypted):
		return nil, err
	case err != nil && d.readCopy() == nil:
	case err != nil:
		return nil, err
	}
	if !d.Policy.ours() {
		return nil, fmt.Errorf("%w: its policy is not one that this program sets", ErrUnsupported)
	}
	return d, nil
}

// readConfig reads the attribute of the directory f.
func (d *Dir) readConfig(f *os.File) error {
	b := make([]byte, maxConfig+1)
	n, err := unix.Fgetxattr(int(f.Fd()), volume.OwnAttribute, b)
	switch {
	case errors.Is(err, unix.ERANGE):
		return ErrCorrupt
	case err != nil: // none; the copy, if there is one, says that there was
		if d.readCopy() == nil {
			return nil
		}
		return ErrNotEncrypted
	}
	if d.Config, err = decodeConfig(b[:n]); err != nil {
		return err
	}
	if d.Config.KeyID != d.Policy.KeyID {
		return ErrMismatch
	}
	return nil
}

// readCopy takes the copy of the configuration for d.
func (d *Dir) readCopy() error {
	f, err := disk.OpenRegular(copyPath(d.Path, d.Policy.KeyID))
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, maxConfig+1)
	n, _ := f.Read(b)
	c, err := decodeConfig(b[:n])
	if err != nil {
		return err
	}
	if c.KeyID != d.Policy.KeyID {
		return ErrMismatch
	}
	d.Config, d.FromCopy = c, true
	return nil
}

// State tells whether the kernel has the key.
func (d *Dir) State() (KeyState, error) {
	f, err := os.Open(d.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return keyState(f, d.Policy.KeyID)
}

// Unlock gives the kernel the key, which makes the directory readable for
// whoever its modes let in. It may be unlocked already. Errors: ErrWrongKey,
// ErrCorrupt, and those of keys.
func (d *Dir) Unlock(keys volume.KeySource) error {
	err := d.withKey(keys, func(f *os.File, key *secret.Bytes) error {
		id, err := addKey(f, key)
		if err == nil && id != d.Policy.KeyID {
			err = fmt.Errorf("%w: the kernel calls the key %s", ErrUnsupported, id)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("unlock %s: %w", d.Path, err)
	}
	return nil
}

// lockPatience is how long Lock lets the kernel forget files that have just
// been closed.
const lockPatience = 2 * time.Second

// Lock takes the key from the kernel, and with it what the kernel remembers of
// names and contents. home is the path of the directory on its own file system:
// not one where it is mounted. After ErrBusy the key is gone, but the files that
// are open keep theirs. Errors: ErrLocked, ErrBusy, ErrOtherUsers.
func (d *Dir) Lock(home string) error {
	f, err := os.Open(filepath.Dir(home)) // its parent: the directory must not be open
	if err != nil {
		return err
	}
	defer f.Close()
	for end := time.Now().Add(lockPatience); ; time.Sleep(20 * time.Millisecond) {
		err = removeKey(f, d.Policy.KeyID)
		if !errors.Is(err, ErrBusy) || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", d.Path, err)
	}
	return nil
}
