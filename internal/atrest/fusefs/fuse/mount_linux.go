package fuse

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// FSType is what mount tables show for mounts of this program.
const FSType = "fuse.veildb"

const (
	device = "/dev/fuse"
	helper = "fusermount3"
)

// MountOptions say how to mount.
type MountOptions struct {
	Source     string // what mount tables show as the device
	AllowOther bool   // let other users in, as modes and owners allow
	ReadOnly   bool
}

// Mount mounts a file system on the directory path, which must be absolute and
// without symbolic links. Nothing is served before Serve. Root calls the
// kernel, others need fusermount3. The error matches ErrNoDevice, ErrNoHelper
// or ErrNotPermitted where that is the cause.
func Mount(path string, o MountOptions) (*Conn, error) {
	if os.Geteuid() != 0 {
		return mountHelper(path, o)
	}
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO):
		return nil, fmt.Errorf("open %s: %w: %w", device, ErrNoDevice, err)
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		return nil, fmt.Errorf("open %s: %w: %w", device, ErrNotPermitted, err)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", device, err)
	}
	var st unix.Stat_t
	if err = unix.Stat(path, &st); err == nil {
		data := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d,default_permissions", fd, st.Mode&unix.S_IFMT, os.Getuid(), os.Getgid())
		if o.AllowOther {
			data += ",allow_other"
		}
		flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
		if o.ReadOnly {
			flags |= unix.MS_RDONLY
		}
		err = unix.Mount(o.Source, path, FSType, flags, data)
	}
	if err != nil {
		unix.Close(fd)
		if errors.Is(err, unix.EPERM) {
			err = fmt.Errorf("%w: %w", ErrNotPermitted, err)
		}
		return nil, fmt.Errorf("mount on %s: %w", path, err)
	}
	return &Conn{fd: fd, path: path}, nil
}

// mountHelper has fusermount3 mount, which hands the descriptor over through a
// socket.
func mountHelper(path string, o MountOptions) (*Conn, error) {
	prog, err := exec.LookPath(helper)
	if err != nil {
		return nil, fmt.Errorf("mount on %s: %w", path, ErrNoHelper)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("mount on %s: %w", path, err)
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "fusermount3")
	defer theirs.Close()
	// The type is "fuse." and the subtype.
	opts := []string{"default_permissions", "nosuid", "nodev", "subtype=" + strings.TrimPrefix(FSType, "fuse."), "fsname=" + escapeOption(o.Source)}
	if o.AllowOther {
		opts = append(opts, "allow_other")
	}
	if o.ReadOnly {
		opts = append(opts, "ro")
	}
	var said strings.Builder
	cmd := exec.Command(prog, "-o", strings.Join(opts, ","), "--", path)
	cmd.Env = append(os.Environ(), "_FUSE_COMMFD=3")
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("mount on %s: %w: %s", path, ErrNotPermitted, strings.Join(strings.Fields(said.String()), " "))
	}
	fd, err := receiveFD(pair[0])
	if err != nil {
		return nil, fmt.Errorf("mount on %s: %w", path, err)
	}
	return &Conn{fd: fd, path: path, helper: true}, nil
}

// escapeOption escapes what separates options.
func escapeOption(s string) string {
	return strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(s)
}

// receiveFD receives one descriptor from a socket.
func receiveFD(sock int) (int, error) {
	data, oob := make([]byte, 4), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(sock, data, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) != 1 {
		return -1, fmt.Errorf("%s sent no descriptor", helper)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return -1, fmt.Errorf("%s sent no descriptor", helper)
	}
	return fds[0], nil
}

// Unmount unmounts c, if nobody uses it: else the error matches ErrBusy and
// service goes on.
func (c *Conn) Unmount() error { return unmount(c.path, 0, c.helper) }

// Close closes the connection. If the file system is still mounted it answers
// ENOTCONN from then on.
func (c *Conn) Close() error { return unix.Close(c.fd) }

// Unmount unmounts the file system of this program at path. A dead one, whose
// server has gone, is taken away even if it is in use. The error matches
// ErrNotMounted, ErrBusy, ErrNoHelper or ErrNotPermitted.
func Unmount(path string) error {
	switch _, ok, err := Find(path); {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("unmount %s: %w", path, ErrNotMounted)
	}
	flags := 0
	if IsDead(path) {
		flags = unix.MNT_DETACH
	}
	return unmount(path, flags, os.Geteuid() != 0)
}

// Recover takes away a dead mount of this program at path. The error matches
// ErrMounted if something is mounted there and serves.
func Recover(path string) error {
	for range 8 { // mounts may lie on one another
		switch m, ok, err := Find(path); {
		case err != nil:
			return err
		case !ok:
			return nil
		case !IsDead(path):
			return fmt.Errorf("mount on %s: %w: %s", path, ErrMounted, m.Source)
		}
		if err := unmount(path, unix.MNT_DETACH, os.Geteuid() != 0); err != nil {
			return err
		}
	}
	return fmt.Errorf("mount on %s: %w", path, ErrMounted)
}

// silence is how long a server may take to answer before it counts as silent.
const silence = 2 * time.Second

// Answers reports whether the server of the mount at path answers within some
// seconds, or the kernel in the place of one that has gone. Whoever asks one
// that is stopped otherwise waits for ever.
func Answers(path string) bool {
	answered, _ := ask(path)
	return answered
}

// ask asks the server of the mount at path for something that the kernel does
// not keep.
func ask(path string) (answered bool, err error) {
	result := make(chan error, 1)
	go func() {
		var st unix.Statfs_t
		result <- unix.Statfs(path, &st)
	}()
	select {
	case err := <-result:
		return true, err
	case <-time.After(silence):
		return false, nil
	}
}

// IsDead reports whether the server of the mount at path has gone. One that is
// silent may come back.
func IsDead(path string) bool {
	_, err := ask(path)
	return errors.Is(err, unix.ENOTCONN) || errors.Is(err, unix.ECONNABORTED) // the latter while it is dying
}

func unmount(path string, flags int, viaHelper bool) error {
	var err error
	if viaHelper {
		err = unmountHelper(path, flags)
	} else if err = unix.Unmount(path, flags|unix.UMOUNT_NOFOLLOW); errors.Is(err, unix.EPERM) {
		err = fmt.Errorf("%w: %w", ErrNotPermitted, err)
	}
	switch {
	case errors.Is(err, unix.EBUSY):
		err = ErrBusy
	case errors.Is(err, unix.EINVAL):
		err = ErrNotMounted
	}
	if err != nil {
		return fmt.Errorf("unmount %s: %w", path, err)
	}
	return nil
}

func unmountHelper(path string, flags int) error {
	prog, err := exec.LookPath(helper)
	if err != nil {
		return ErrNoHelper
	}
	args := []string{"-u", "--", path}
	if flags&unix.MNT_DETACH != 0 {
		args[0] = "-uz"
	}
	out, err := exec.Command(prog, args...).CombinedOutput()
	switch {
	case err == nil:
		return nil
	case strings.Contains(strings.ToLower(string(out)), "busy"):
		return ErrBusy
	}
	return fmt.Errorf("%w: %s", ErrNotPermitted, strings.Join(strings.Fields(string(out)), " "))
}
