package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs"
	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/keys/keyring"
)

const (
	opMount    = "mount volume"
	maxThreads = 1024
)

func isRoot() bool { return os.Geteuid() == 0 }

func (o *mountOptions) run(cmd *cobra.Command, env *Env) error {
	if !o.noCipher {
		if k, err := findKernel(o.lower); err != nil {
			return err
		} else if k != nil {
			return o.mountKernel(cmd, env, k)
		}
	}
	if o.mountpoint == "" {
		return usagef(opMount, "see: veildb volume mount --help", "no mount point given")
	}
	if err := o.check(); err != nil {
		return err
	}
	if !o.noCipher && o.readyFD == 0 {
		noteHidden(env, o.mountpoint)
	}
	if o.background {
		return o.runBackground(cmd, env)
	}
	err := o.serve(cmd.Context(), env)
	if err != nil && o.readyFD > 0 {
		tellFailure(env, o.readyFD, err)
	}
	return err
}

// check makes the paths of o absolute, and looks at them.
func (o *mountOptions) check() (err error) {
	const help = "see: veildb volume mount --help"
	if !slices.Contains([]string{cacheAuto, cacheThrough, cacheBack}, o.cache) {
		return usagef(opMount, help, "--cache %s is none of auto, through and back", o.cache)
	}
	if o.noCipher && o.key != "" {
		return usagef(opMount, help, "--key and --no-cipher exclude each other")
	}
	if o.threads < 0 || o.threads > maxThreads {
		return usagef(opMount, help, "--threads %d is not between 0 and %d", o.threads, maxThreads)
	}
	if o.lower, err = filepath.Abs(o.lower); err == nil {
		o.lower, err = filepath.EvalSymlinks(o.lower)
	}
	if err != nil {
		return usagef(opMount, hintPath, "%w", err)
	}
	if o.mountpoint, err = mountPath(o.mountpoint); err != nil {
		return err
	}
	if o.log != "" {
		if o.log, err = filepath.Abs(o.log); err != nil {
			return err
		}
	}
	return o.checkPlaces()
}

// checkPlaces refuses places that would hide one another. A mount point whose
// server has gone cannot be looked at; it was a directory.
func (o *mountOptions) checkPlaces() error {
	if fi, err := os.Stat(o.mountpoint); err == nil && !fi.IsDir() {
		return usagef(opMount, "name a directory", "%s is no directory", o.mountpoint)
	} else if err == nil && o.mountpoint != o.lower {
		if _, err := os.Lstat(filepath.Join(o.mountpoint, ".veildb")); err == nil {
			return usagef(opMount, "name the volume first, then the directory on which to mount it", "%s is a volume", o.mountpoint)
		}
	}
	if within(o.lower, o.mountpoint) {
		return usagef(opMount, "name a directory outside the volume", "%s lies in %s", o.mountpoint, o.lower)
	}
	const beneath = "name a mount point that does not hold it: what lies below a mount cannot be reached"
	if within(o.mountpoint, o.lower) {
		return usagef(opMount, beneath, "%s lies in %s", o.lower, o.mountpoint)
	}
	if o.noCipher {
		return nil
	}
	key, err := keyPath(o.key)
	if err != nil {
		return err
	}
	if key, err = filepath.Abs(key); err == nil {
		if real, err := filepath.EvalSymlinks(key); err == nil {
			key = real
		}
		if within(o.mountpoint, key) {
			return usagef(opMount, beneath, "key file %s lies in %s", key, o.mountpoint)
		}
	}
	return err
}

// noteHidden says what a mount on dir would hide and leave on the disk as it is:
// plaintext, when a converted directory still lies there. A directory that cannot
// be read, or that is a mount of ours already, is left to the mount itself.
func noteHidden(env *Env, dir string) {
	if _, ours, err := fuse.Find(dir); ours || err != nil {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == "lost+found" })
	if len(entries) > 0 {
		env.note(dir + " is not empty: what lies there is hidden, not encrypted and not removed")
	}
}

// errForOther is a mount that this user may not even look at.
var errForOther = errors.New("it is mounted for another user alone")

// mountPath makes a mount point's path absolute and free of links, also that of
// one whose server has gone, or does not answer.
func mountPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
		if _, ours, _ := fuse.Find(abs); ours && !fuse.Answers(abs) {
			return abs, nil
		}
		var resolved string
		if resolved, err = filepath.EvalSymlinks(abs); err == nil {
			abs = resolved
		} else if errors.Is(err, unix.ENOTCONN) || errors.Is(err, unix.ECONNABORTED) {
			err = nil
		} else if _, ours, _ := fuse.Find(abs); ours && errors.Is(err, unix.EACCES) {
			return "", &Error{Code: ExitMissing, Op: "find mount point", Err: fmt.Errorf("%s: %w", abs, errForOther),
				Hint: "be that user, or have it mounted with --allow-other"}
		}
	}
	if err != nil {
		return "", usagef("find mount point", hintPath, "%w", err)
	}
	return abs, nil
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// A source is what is mounted.
type source struct {
	root *os.File
	keys volume.KeySource
	log  string        // where messages go in the background
	dir  *volume.Dir   // nil without a cipher, and so
	ring *keyring.Ring // is this
	io.Closer
}

// open opens what o mounts, for this process alone.
func (o *mountOptions) open(ctx context.Context, env *Env) (*source, error) {
	if o.noCipher {
		return openPlain(o.lower)
	}
	v, err := openVolumeWith(ctx, env, o.lower, o.key, volume.DirOptions{Purpose: "mounted on " + o.mountpoint, ReadOnly: o.readOnly})
	if err != nil {
		return nil, err
	}
	return &source{v.Root(), v.ring, v.Private("mount.log"), v.Dir, v.ring, v}, nil
}

// openPlain opens a directory that is no volume.
func openPlain(path string) (*source, error) {
	if _, err := os.Lstat(filepath.Join(path, ".veildb")); err == nil {
		return nil, usagef(opMount, "leave out --no-cipher", "%s is a volume", path)
	}
	root, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(root.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		root.Close()
		return nil, fmt.Errorf("%s: %w", path, volume.ErrBusy)
	}
	return &source{root: root, Closer: root}, nil
}

// serve mounts and serves until the mount is gone.
func (o *mountOptions) serve(ctx context.Context, env *Env) (err error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	defer signal.Stop(signals)
	src, err := o.open(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if err := o.chooseCache(src); err != nil {
		return err
	}
	out, err := o.openLog(env, src)
	if err != nil {
		return err
	}
	defer out.Close()
	log := slog.New(slog.NewTextHandler(out, nil))
	opts := fusefs.Options{
		Keys: src.keys, Source: o.lower, Cache: o.cacheMode(), AllowOther: o.allowOther, ReadOnly: o.readOnly, Loops: o.threads,
		Log: func(err error) {
			if errors.Is(err, volume.ErrHeaderLost) {
				log.Warn("header lost", "cause", err)
			} else {
				log.Error("file refused", "cause", err)
			}
		},
	}
	if src.dir != nil {
		opts.Lost, opts.Names = src.dir.Private("lost"), src.dir.Config().Names
	}
	if ctx.Err() != nil { // told to stop before there is anything to unmount
		return ctx.Err()
	}
	server, err := fusefs.Mount(src.root, o.mountpoint, opts)
	if err != nil {
		return err
	}
	// A signal that finds the mount in use ends ctx, but not the mount.
	control, err := o.startControl(context.WithoutCancel(ctx), src, server, log)
	if err != nil {
		return errors.Join(err, server.Unmount())
	}
	defer control.Close()
	if err := o.ready(env, out); err != nil {
		return errors.Join(err, server.Unmount())
	}
	log.Info("mounted", "volume", o.lower, "on", o.mountpoint, "cache", o.cache)
	err = serveUntil(server, ctx.Done(), signals, func(err error) {
		if errors.Is(err, fuse.ErrBusy) {
			log.Error("still mounted: it is in use; end these programs, then stop the mount again", "used_by", strings.Join(usersOf(o.mountpoint), ", "))
		} else {
			log.Error("still mounted", "cause", err)
		}
	})
	log.Info("unmounted", "from", o.mountpoint)
	return err
}

// An unmounter is what serveUntil needs of a *fusefs.Server.
type unmounter interface {
	Unmount() error
	Done() <-chan struct{}
	Wait() error
}

// serveUntil waits until the mount is gone. It unmounts once when stopped is
// closed, which a signal that came before signals was there does, too, and with
// each of signals; failed is told why that does not work.
func serveUntil(server unmounter, stopped <-chan struct{}, signals <-chan os.Signal, failed func(error)) error {
	for {
		select {
		case <-server.Done():
			return server.Wait()
		case <-stopped:
			select {
			case <-signals: // the same one, most likely
			default:
			}
		case <-signals:
		}
		stopped = nil // by the first signal, whichever case saw it
		if err := server.Unmount(); err != nil {
			select {
			case <-server.Done(): // somebody else unmounted it meanwhile
			default:
				failed(err)
			}
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// openLog opens where messages go.
func (o *mountOptions) openLog(env *Env, src *source) (io.WriteCloser, error) {
	path := o.log
	if path == "" && o.readyFD > 0 {
		path = src.log
	}
	const flags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	var f *os.File
	var err error
	switch path {
	case "":
		return nopCloser{env.Stderr}, nil
	case src.log:
		if f, err = volume.OpenOwn(path, flags); errors.Is(err, unix.EROFS) {
			return nopCloser{env.Stderr}, nil
		}
	default:
		f, err = os.OpenFile(path, flags, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}

// ready tells whoever waits that the mount serves: the parent of a mount in the
// background, from whose terminal this process then parts, or the service
// manager, or who reads the output.
func (o *mountOptions) ready(env *Env, log io.Writer) error {
	if o.readyFD > 0 {
		signal.Ignore(unix.SIGHUP) // no terminal of ours is left to hang up
		return detach(o.readyFD)
	}
	if err := notifyManager("READY=1\nSTATUS=mounted on " + o.mountpoint); err != nil {
		fmt.Fprintf(log, "cannot tell the service manager: %v\n", err)
	}
	_, err := fmt.Fprintf(env.Stdout, "mounted on %s\n", o.mountpoint)
	return err
}

// notifyManager sends a message to systemd, if it waits for one; see
// sd_notify(3).
func notifyManager(message string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte(message))
	return err
}
