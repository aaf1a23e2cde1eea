package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fscrypt"
	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
)

// mountKernel gives the kernel the key of k and, if o names a mount point,
// mounts the directory there, too.
func (o *mountOptions) mountKernel(cmd *cobra.Command, env *Env, k *kernelVolume) error {
	for _, name := range []string{"cache", "threads", "allow-other", "no-cipher", "log"} {
		if cmd.Flags().Changed(name) {
			return usagef(opMount, "leave it out", "--%s has no meaning for a volume that the kernel encrypts", name)
		}
	}
	if o.readOnly && o.mountpoint == "" {
		return usagef(opMount, "add a mount point", "--read-only needs a mount point for a volume that the kernel encrypts")
	}
	if err := o.checkKernelPlaces(k); err != nil {
		return err
	}
	before, err := k.State()
	if err != nil {
		return err
	}
	ring, err := openKeyring(cmd.Context(), env, o.key)
	if err != nil {
		return err
	}
	defer ring.Close()
	if err := k.Unlock(ring); err != nil {
		return err
	}
	if k.FromCopy {
		env.note("the configuration of the volume was read from its copy; to put that in place: veildb volume check DIR --repair")
	}
	if o.mountpoint == "" {
		_, err = fmt.Fprintf(env.Stdout, "unlocked %s\n", k.home)
		return err
	}
	noteHidden(env, o.mountpoint)
	if err := bindMount(k.home, o.mountpoint, o.readOnly); err != nil {
		if before == fscrypt.KeyAbsent {
			err = errors.Join(err, k.Lock(k.home))
		}
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "mounted on %s\n", o.mountpoint)
	return err
}

// checkKernelPlaces makes the mount point absolute and refuses places that would
// hide one another.
func (o *mountOptions) checkKernelPlaces(k *kernelVolume) (err error) {
	key, err := keyPath(o.key)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(key); err == nil {
		if key, err = filepath.Abs(real); err != nil {
			return err
		}
		if within(k.home, key) {
			return usagef(opMount, "keep it elsewhere", "key file %s lies in the volume that it opens", key)
		}
	}
	if o.mountpoint == "" {
		return nil
	}
	if o.mountpoint, err = mountPath(o.mountpoint); err != nil {
		return err
	}
	switch {
	case slices.Contains(k.mounts, o.mountpoint):
		return fmt.Errorf("%s: %w", o.mountpoint, fuse.ErrMounted)
	case within(k.home, o.mountpoint):
		return usagef(opMount, "name a directory outside the volume", "%s lies in %s", o.mountpoint, k.home)
	case within(o.mountpoint, k.home), within(o.mountpoint, key):
		return usagef(opMount, "name a mount point that does not hold them: what lies below a mount cannot be reached",
			"volume or key file lies in %s", o.mountpoint)
	}
	if fi, err := os.Stat(o.mountpoint); err == nil && !fi.IsDir() {
		return usagef(opMount, "name a directory", "%s is no directory", o.mountpoint)
	}
	return nil
}

// bindMount mounts the directory from on at, where neither set-user-ID programs
// nor devices count, as on other volumes.
func bindMount(from, at string, readOnly bool) error {
	if err := unix.Mount(from, at, "", unix.MS_BIND, ""); err != nil {
		if errors.Is(err, unix.EPERM) {
			return &Error{Code: ExitMissing, Op: opMount, Err: fmt.Errorf("only root mounts: %w", err), Hint: "run it as root, or leave out MOUNTPOINT: the directory then reads in its place"}
		}
		return &os.PathError{Op: "mount on", Path: at, Err: err}
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_NOSUID | unix.MS_NODEV)
	if readOnly {
		flags |= unix.MS_RDONLY
	}
	var st unix.Statfs_t
	err := unix.Statfs(from, &st)
	if err == nil {
		flags |= uintptr(st.Flags) & (unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME | unix.MS_RDONLY)
		err = unix.Mount("", at, "", flags, "")
	}
	if err != nil {
		return errors.Join(&os.PathError{Op: "mount on", Path: at, Err: err}, unix.Unmount(at, unix.MNT_DETACH))
	}
	return nil
}

// umount locks k: it is unmounted from where it was asked for, if that is a
// mount, and the kernel gives up its key. Nothing is done while a program has
// something of it open.
func (k *kernelVolume) umount(ctx context.Context) error {
	const op, again = "unmount volume", "end these programs, then run the same command again"
	state, err := k.State()
	if err != nil {
		return err
	}
	if state == fscrypt.KeyAbsent && !k.isMount() {
		return usagef(op, "see: veildb volume status "+k.Path, "%s: %w already", k.Path, fscrypt.ErrLocked)
	}
	if others := slices.DeleteFunc(slices.Clone(k.mounts), func(p string) bool { return p == k.Path }); len(others) > 0 {
		return &Error{Code: ExitBusy, Op: op, Err: fmt.Errorf("%s is mounted on %s", k.home, strings.Join(others, " and ")),
			Hint: "name that: veildb volume umount " + others[0]}
	}
	if users := k.userNames(); len(users) > 0 {
		return &Error{Code: ExitBusy, Op: op, Err: fmt.Errorf("%s: %w: %s", k.Path, fscrypt.ErrBusy, strings.Join(users, ", ")), Hint: again}
	}
	if k.isMount() {
		if err := unix.Unmount(k.Path, unix.UMOUNT_NOFOLLOW); errors.Is(err, unix.EBUSY) {
			return &Error{Code: ExitBusy, Op: op, Err: fmt.Errorf("%s: %w: %s", k.Path, fuse.ErrBusy, strings.Join(usersOf(k.Path), ", ")), Hint: again}
		} else if err != nil {
			return &os.PathError{Op: "unmount", Path: k.Path, Err: err}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch err := k.Lock(k.home); {
	case errors.Is(err, fscrypt.ErrLocked) && state != fscrypt.KeyPresent:
		return nil
	case errors.Is(err, fscrypt.ErrBusy):
		users := k.userNames()
		if len(users) == 0 {
			users = []string{"a process or a mount that cannot be seen from here"}
		}
		return &Error{Code: ExitBusy, Err: fmt.Errorf("%w by %s: what they have open is still readable, all else is locked", err, strings.Join(users, ", ")), Hint: again}
	default:
		return err
	}
}

// userNames lists who uses k, for people.
func (k *kernelVolume) userNames() (list []string) {
	for _, u := range k.Users() {
		list = append(list, fmt.Sprintf("%s (%d) has %s", u.Name, u.PID, u.Path))
	}
	return list
}
