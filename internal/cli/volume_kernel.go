package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fscrypt"
	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
)

// Who encrypts a volume: this program, which then serves it by FUSE, or the
// kernel.
const (
	backendFUSE   = "fuse"
	backendKernel = "kernel"
)

// backendFlag adds --backend to a command that makes volumes.
func backendFlag(cmd *cobra.Command, backend *string) {
	cmd.Flags().StringVar(backend, "backend", backendFUSE, "who encrypts, `fuse|kernel`: a mount of this program, or the file system (docs/volume-kernel.md)")
}

// isKernel reports whether --backend of cmd is the kernel, with which some
// options make no sense.
func isKernel(cmd *cobra.Command, op, backend string) (bool, error) {
	const help = "see docs/volume-kernel.md"
	switch {
	case backend == backendFUSE:
		return false, nil
	case backend != backendKernel:
		return false, usagef(op, help, "--backend %s is neither fuse nor kernel", backend)
	case cmd.Flags().Changed("names"):
		return false, usagef(op, help, "--names has no meaning with --backend kernel, which always encrypts them")
	}
	return true, nil
}

// A kernelVolume is a directory that the kernel encrypts, and where it can be
// reached.
type kernelVolume struct {
	*fscrypt.Dir          // Path is as it was asked for, links resolved
	home         string   // its path on its own file system
	mounts       []string // other paths on which it is mounted
	file         fuse.Entry
}

// findKernel looks at path, the directory itself or where it is mounted. It
// returns nil if that is not a directory that the kernel encrypts for us.
func findKernel(path string) (*kernelVolume, error) {
	if abs, err := mountPath(path); err == nil {
		if _, ours, _ := fuse.Find(abs); ours {
			return nil, nil // and may not answer
		}
	}
	d, err := fscrypt.Read(path)
	switch {
	case errors.Is(err, fscrypt.ErrCorrupt), errors.Is(err, fscrypt.ErrMismatch), errors.Is(err, fscrypt.ErrUnsupported):
		return nil, fmt.Errorf("open volume: %w", err)
	case err != nil:
		return nil, nil // who asked looks at the path, and says what it is
	}
	k := &kernelVolume{Dir: d}
	if err := k.place(); err != nil {
		return nil, fmt.Errorf("open volume: %w", err)
	}
	return k, nil
}

// place finds home and mounts in the mount table.
func (k *kernelVolume) place() error {
	entries, inner, err := mountsOf(k.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Root == inner:
			k.mounts = append(k.mounts, e.Path)
		case within(e.Root, inner) && (k.home == "" || within(e.Path, k.Path)):
			path := filepath.Join(e.Path, strings.TrimPrefix(inner, e.Root))
			if sameDir(path, k.Path) {
				k.home, k.file = path, e
			}
		}
	}
	if k.home == "" {
		return &Error{Code: ExitMissing, Err: fmt.Errorf("%s is mounted alone: its file system cannot be reached from here", k.Path),
			Hint: "mount the file system that it lies on, too"}
	}
	return nil
}

// mountsOf returns the mounts of the file system that path, free of links, is
// on, and what path is called in that.
func mountsOf(path string) (entries []fuse.Entry, inner string, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, "", err
	}
	device := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	var own fuse.Entry
	err = fuse.Mounts(func(e fuse.Entry) {
		if e.Device != device {
			return
		}
		entries = append(entries, e)
		if within(e.Path, path) && len(e.Path) >= len(own.Path) {
			own = e
		}
	})
	return entries, filepath.Join(own.Root, strings.TrimPrefix(path, own.Path)), err
}

// sameDir reports whether a and b are one directory.
func sameDir(a, b string) bool {
	var sa, sb unix.Stat_t
	return unix.Stat(a, &sa) == nil && unix.Stat(b, &sb) == nil && sa.Dev == sb.Dev && sa.Ino == sb.Ino
}

// isMount reports whether k was asked for by a path on which it is mounted.
func (k *kernelVolume) isMount() bool { return slices.Contains(k.mounts, k.Path) }

// explainKernel adds to an error of package fscrypt what to do on this very file
// system; path is what was to be encrypted.
func explainKernel(err error, path string) error {
	if !errors.Is(err, fscrypt.ErrFeature) && !errors.Is(err, fscrypt.ErrFileSystem) {
		return err
	}
	if _, serr := filepath.EvalSymlinks(path); serr != nil {
		path = filepath.Dir(path)
	}
	abs, aerr := filepath.Abs(path)
	if aerr == nil {
		abs, aerr = filepath.EvalSymlinks(abs)
	}
	entries, _, merr := mountsOf(abs)
	if aerr != nil || merr != nil || len(entries) == 0 {
		return err
	}
	e := entries[0]
	if errors.Is(err, fscrypt.ErrFileSystem) {
		return &Error{Code: ExitMissing, Err: fmt.Errorf("%w: %s is %s", err, e.Path, e.Type),
			Hint: "name a directory on ext4 or f2fs with the feature encrypt, or leave out --backend kernel"}
	}
	hint := "give it the feature: tune2fs -O encrypt " + e.Source
	if e.Type == "f2fs" {
		hint = "give it the feature: fsck.f2fs -O encrypt " + e.Source
	}
	return &Error{Code: ExitMissing, Err: err, Hint: hint}
}

// refuseKernel refuses a command for what the kernel encrypts.
func refuseKernel(path, op, why, hint string) error {
	k, err := findKernel(path)
	if k != nil {
		err = usagef(op, hint, "%s is encrypted by the kernel: %s", path, why)
	}
	return err
}

// initKernel makes path a directory that the kernel encrypts, and leaves it
// locked.
func initKernel(ctx context.Context, env *Env, path, key string) error {
	if err := fscrypt.Supported(path); errors.Is(err, unix.ENOENT) {
		err = fscrypt.Supported(filepath.Dir(path))
		if err != nil && !errors.Is(err, fscrypt.ErrEncrypted) {
			return explainKernel(err, path)
		}
	} else if err != nil {
		return explainKernel(err, path)
	}
	ring, err := openKeyring(ctx, env, key)
	if err != nil {
		return err
	}
	defer ring.Close()
	d, err := fscrypt.Init(path, ring)
	if err != nil {
		return explainKernel(err, path)
	}
	if err := d.Lock(d.Path); err != nil {
		return err
	}
	noteCopy(env, d.WriteCopy(d.Path))
	if env.JSON {
		return printJSON(env, map[string]any{
			"path": d.Path, "backend": backendKernel, "id": fmt.Sprintf("%x", d.Config.ID),
			"key_version": d.Config.KeyVersion, "key_identifier": d.Policy.KeyID.String(),
		})
	}
	fmt.Fprintf(env.Stdout, "%s: volume %x, encrypted by the kernel, data key %d; locked\n", path, d.Config.ID, d.Config.KeyVersion)
	return nil
}

// noteCopy tells that the second copy of a configuration could not be written:
// the volume works without.
func noteCopy(env *Env, err error) {
	if err != nil {
		env.note(err.Error() + "; the volume depends on the attribute of its directory alone")
	}
}
