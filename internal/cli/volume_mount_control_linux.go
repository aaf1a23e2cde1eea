package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs"
	"github.com/veildb/veildb/internal/atrest/rekey"
)

// watchKeys is how often a mount looks for a change of its key file.
const watchKeys = 10 * time.Second

// A mountControl answers what other commands ask of a mount, and follows its
// key file.
type mountControl struct {
	o      *mountOptions
	src    *source
	server *fusefs.Server
	since  time.Time
	busy   chan struct{} // holds an element while a rekey runs

	cancel  context.CancelFunc
	watched chan struct{} // closed when the watching ends
	listen  *controlServer
}

// startControl makes the mount of src answer. A mount without a cipher has
// nothing to ask for.
func (o *mountOptions) startControl(ctx context.Context, src *source, server *fusefs.Server, log *slog.Logger) (*mountControl, error) {
	c := &mountControl{o: o, src: src, server: server, since: time.Now().UTC(), busy: make(chan struct{}, 1), watched: make(chan struct{})}
	ctx, c.cancel = context.WithCancel(ctx)
	if src.dir == nil {
		close(c.watched)
		return c, nil
	}
	go func() {
		defer close(c.watched)
		src.ring.Watch(ctx, watchKeys, func(err error) {
			if err != nil {
				log.Error("key file not read again", "cause", err)
			} else {
				log.Info("key file read again", "data_key", src.ring.Current())
			}
		})
	}()
	var err error
	c.listen, err = serveControl(ctx, src.dir.Private("."), c.handle)
	if o.readOnly && errors.Is(err, unix.EROFS) {
		err = nil // nobody can ask
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close ends what is being answered.
func (c *mountControl) Close() error {
	c.cancel()
	<-c.watched
	if c.listen == nil {
		return nil
	}
	return c.listen.Close()
}

func (c *mountControl) handle(ctx context.Context, r controlRequest, progress func(any, string)) (any, error) {
	switch r.Do {
	case askStatus:
		return c.status(), nil
	case askRekey:
		return c.rekey(ctx, r.Rate, progress)
	}
	return nil, usagef("ask mount", "unmount and mount with this version of veildb", "the mount does not know %q", r.Do)
}

func (c *mountControl) status() *mountStatus {
	s := c.server.Stats()
	return &mountStatus{
		PID: os.Getpid(), MountPoint: c.o.mountpoint, Cache: c.o.cache, ReadOnly: c.o.readOnly, Since: c.since,
		Requests: s.Requests, ReadBytes: s.ReadBytes, WrittenBytes: s.WrittenBytes, Syncs: s.Syncs,
	}
}

// rekey re-encrypts the mounted volume, one run at a time.
func (c *mountControl) rekey(ctx context.Context, rate int64, progress func(any, string)) (any, error) {
	if c.o.readOnly {
		return nil, &Error{Code: ExitMissing, Op: "rekey volume", Err: errors.New("it is mounted read-only"), Hint: "unmount it, then run the same command again"}
	}
	select {
	case c.busy <- struct{}{}:
		defer func() { <-c.busy }()
	default:
		return nil, &Error{Code: ExitBusy, Op: "rekey volume", Err: errors.New("it is being rekeyed already"), Hint: "wait for the other command to end"}
	}
	if _, err := c.src.ring.Reload(ctx); err != nil {
		return nil, err
	}
	var last rekey.Progress
	sum, err := rekey.Run(ctx, c.src.dir, rekey.Options{
		Rate:     rate,
		Progress: func(p rekey.Progress) { last = p; progress(p, "") },
		Note:     func(path, why string) { progress(last, path+": "+why) },
		Still:    c.server.Still,
		Replace: func(ctx context.Context, names []string, wait func(context.Context, int) error) error {
			return c.server.Rekey(ctx, c.src.dir, names, wait)
		},
	})
	if errors.Is(err, unix.ENOTCONN) || errors.Is(err, context.Canceled) {
		err = wentAway("rekey volume", err)
	}
	return sum, err
}
