package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
)

// umountTries is how often a mount that runs, but is busy, is asked whether it
// answers, some seconds each.
const umountTries = 10

// runUmount unmounts path and waits until its volume is free again.
func runUmount(ctx context.Context, env *Env, path string) error {
	const op = "unmount volume"
	path, err := mountPath(path)
	if err != nil {
		return err
	}
	entry, ok, err := findMount(path)
	if err != nil {
		return err
	}
	if !ok {
		if k, err := findKernel(path); err != nil {
			return err
		} else if k != nil {
			if err := k.umount(ctx); err != nil {
				return err
			}
			return tellUmount(env, k.Path, k.home)
		}
		return usagef(op, "see what is mounted: findmnt -t "+fuse.FSType, "%s: %w", path, fuse.ErrNotMounted)
	}
	path = entry.Path
	// The kernel would wait for what it still has to write.
	for tries := 1; !fuse.Answers(path); tries++ {
		if tries == umountTries || processState(volume.ReadHolder(entry.Source).PID) == stopped {
			return silentError(op, entry.Source)
		}
	}
	if err := fuse.Unmount(path); errors.Is(err, fuse.ErrBusy) {
		return &Error{Code: ExitBusy, Err: fmt.Errorf("%w: %s", err, strings.Join(usersOf(path), ", ")),
			Hint: "end these programs, then run the same command again"}
	} else if err != nil {
		return err
	}
	if err := waitFree(ctx, entry.Source); err != nil {
		return err
	}
	return tellUmount(env, path, entry.Source)
}

// findMount finds the mount on path, or of path.
func findMount(path string) (found fuse.Entry, ok bool, err error) {
	if found, ok, err = fuse.Find(path); ok || err != nil {
		return found, ok, err
	}
	err = fuse.Mounts(func(e fuse.Entry) {
		if e.Type == fuse.FSType && e.Source == path {
			found, ok = e, true
		}
	})
	return found, ok, err
}

// tellUmount is what a command that unmounted lower from path prints for
// programs.
func tellUmount(env *Env, path, lower string) error {
	if !env.JSON {
		return nil
	}
	return printJSON(env, map[string]string{"unmounted": path, "volume": lower})
}

// waitFree waits until nobody holds the volume at lower.
func waitFree(ctx context.Context, lower string) error {
	if _, err := os.Lstat(filepath.Join(lower, ".veildb", "lock")); err != nil {
		return nil // no volume: a mount without a cipher
	}
	const most = 30 * time.Second
	for end := time.Now().Add(most); time.Now().Before(end); {
		if held, err := volume.IsHeld(lower); !held {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	pid := volume.ReadHolder(lower).PID
	return &Error{Code: ExitBusy, Op: "unmount volume", Err: fmt.Errorf("unmounted, but process %d does not end", pid),
		Hint: fmt.Sprintf("it may wait for the disk below, or be stopped: kill -CONT %d", pid)}
}

// usersOf lists the processes that use the file system mounted on path, as far
// as we may see them.
func usersOf(path string) []string {
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var users []string
	for _, p := range procs {
		if !usesPath(p, path) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(p, "comm"))
		users = append(users, fmt.Sprintf("%s (%s)", strings.TrimSpace(string(name)), filepath.Base(p)))
	}
	if len(users) == 0 {
		users = []string{"a process or another mount that cannot be seen from here"}
	}
	return users
}

// usesPath reports whether the process with that directory in /proc has
// something open below path. It looks at names only: the file system itself may
// not answer.
func usesPath(proc, path string) bool {
	links, _ := filepath.Glob(filepath.Join(proc, "fd", "*"))
	for _, l := range append(links, filepath.Join(proc, "cwd"), filepath.Join(proc, "root"), filepath.Join(proc, "exe")) {
		if target, err := os.Readlink(l); err == nil && within(path, target) {
			return true
		}
	}
	maps, _ := os.ReadFile(filepath.Join(proc, "maps"))
	return strings.Contains(string(maps), " "+path+"/")
}
