package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// mountStop is how long a mount may take to write out what it holds, and to be
// left by who uses it.
const mountStop = 2 * mountDetach

// mount mounts the volume in dir's lowerDir on its volumeDir; without a cipher
// it is what lies in volumeDir so far that shows through the mount.
func (e *serverEngine) mount(ctx context.Context, dir string, cipher bool) (*child, error) {
	if !cipher {
		if err := os.Rename(filepath.Join(dir, volumeDir), filepath.Join(dir, lowerDir)); err != nil {
			return nil, fmt.Errorf("mount volume: %w", err)
		}
	}
	return e.remount(ctx, dir, cipher)
}

// remount is mount for a directory where a volume was mounted before.
func (e *serverEngine) remount(ctx context.Context, dir string, cipher bool) (*child, error) {
	lower, upper := filepath.Join(dir, lowerDir), filepath.Join(dir, volumeDir)
	args := []string{"bench", "mount", lower, upper}
	if e.dialect == dsn.Postgres { // what auto chooses, but its data lies deeper here
		args = append(args, "--cache", "back")
	}
	if cipher {
		args = append(args, "--key", filepath.Join(e.dir, "keys.json"))
	} else {
		args = append(args, "--no-cipher")
	}
	if err := os.MkdirAll(upper, 0o711); err != nil {
		return nil, fmt.Errorf("mount volume: %w", err)
	}
	return startChild(ctx, childSpec{
		args: args, log: filepath.Join(dir, "mount.log"), ready: "mounted on ", death: syscall.SIGTERM, grace: mountStop,
	})
}

// encryptTwin makes of the original a copy whose volume is encrypted.
func (e *serverEngine) encryptTwin(ctx context.Context, original, twin string) (err error) {
	ring, err := throwawayRing(ctx, e.dir)
	if err != nil {
		return err
	}
	if err := ring.Close(); err != nil {
		return err
	}
	if err := copyTree(original, twin); err != nil { // the volume too, which then goes
		return err
	}
	if err := os.RemoveAll(filepath.Join(twin, volumeDir)); err != nil {
		return err
	}
	log := filepath.Join(twin, "mount.log")
	if _, err := runChild(ctx, log, "volume", "init", filepath.Join(twin, lowerDir), "--key", filepath.Join(e.dir, "keys.json")); err != nil {
		return err
	}
	m, err := e.mount(ctx, twin, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	return copyTree(filepath.Join(original, volumeDir), filepath.Join(twin, volumeDir))
}

// detachBelow detaches every file system mounted in dir or below: of a mount
// whose daemon was killed nothing else can be had.
func detachBelow(dir string) error {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("read mounts: %w", err)
	}
	defer f.Close()
	var points []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 4 {
			if p := unescapeMount.Replace(fields[4]); p == dir || strings.HasPrefix(p, dir+"/") {
				points = append(points, p)
			}
		}
	}
	var errs []error
	for _, p := range slices.Backward(points) { // the last was mounted on the others
		if err := unix.Unmount(p, unix.MNT_DETACH); err != nil {
			errs = append(errs, fmt.Errorf("detach %s: %w", p, err))
		}
	}
	return errors.Join(errs...)
}

// unescapeMount undoes what proc(5) says of names in mountinfo.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
