package gate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/schema"
)

// ErrBlind means the service account does not see everything it must.
var ErrBlind = errors.New("the service account lacks a privilege on *.*")

// A Backend is a server behind the gate. The gate reads its catalog with an
// account of its own, which needs SELECT, SHOW VIEW and TRIGGER on *.*: with
// less the server hides objects, and hidden ones cannot be judged.
type Backend struct {
	Network, Address string // "tcp" or "unix"
	User             string // the service account
	Password         []byte
	TLS              *tls.Config // nil: none
	// Poll is how often the server is asked whether definitions have changed
	// (0: 250 ms), Refresh how often they are read all the same (0: 5 s).
	// Changes made around the gate are seen that much later.
	Poll, Refresh time.Duration
	// Report is told when the backend becomes usable, and when it no longer is
	// and why; it must be quick. Nil: nobody is told.
	Report func(up bool, cause error)

	open     atomic.Int64          // sessions
	loaded   func(*schema.Catalog) // told of every catalog; nil: nobody is
	known    func(*schema.Catalog) // shown the one before that, and now and then; nil: nobody is
	vanished vanishing

	reads, errors atomic.Int64
	current       atomic.Pointer[schema.Catalog] // nil: not known now
	// asked counts the reasons to read the catalog again, seen those that
	// current answers.
	asked, seen atomic.Int64

	mu   sync.Mutex // of what follows
	conn *wire.Conn
	read time.Time
	ddl  string        // counters of definition statements
	said state         // what Report was told last
	cost time.Duration // of reading the catalog
}

// Limits in time of the gate's own connections and statements. Tests, on machines
// that may be busy with much else, have longer ones.
var (
	dialTimeout     = 2 * time.Second
	greetingTimeout = 3 * time.Second
	probeTimeout    = 5 * time.Second // of asking a server whether it is there
	serviceTimeout  = 30 * time.Second
	loginTimeout    = 10 * time.Second // unless Config says otherwise
)

// A state is what is known of a backend.
type state byte

const (
	stateUnknown state = iota
	stateUp
	stateDown
)

func (b *Backend) healthy() bool { return b.current.Load() != nil }

func (b *Backend) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var d net.Dialer
	return d.DialContext(ctx, b.Network, b.Address)
}

// Connect logs in with the service account. The caller closes the connection.
func (b *Backend) Connect(ctx context.Context) (*wire.Conn, error) {
	nc, err := b.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to backend: %w", err)
	}
	c := wire.NewBackend(nc, wire.Limits{Read: serviceTimeout, Write: serviceTimeout, Load: 256 << 20})
	if _, err := wire.Login(ctx, c, &wire.Credential{User: b.User, Password: b.Password, TLS: b.TLS}); err != nil {
		c.Close()
		return nil, fmt.Errorf("log in to backend: %w", err)
	}
	return c, nil
}

// Run keeps the catalog up to date until ctx ends.
func (b *Backend) Run(ctx context.Context) {
	poll := b.Poll
	setDefault(&poll, 250*time.Millisecond)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		b.look(ctx)
		select {
		case <-ctx.Done():
			b.mu.Lock()
			b.drop()
			b.mu.Unlock()
			return
		case <-tick.C:
		}
	}
}

// Catalog returns the catalog, read anew if it may have changed. It is an error
// if it cannot be read, or not seen whole (ErrBlind).
func (b *Backend) Catalog(ctx context.Context) (*schema.Catalog, error) {
	c := b.fresh()
	if c == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if c = b.fresh(); c == nil {
			if err := b.reload(ctx); err != nil {
				return nil, err
			}
			c = b.current.Load()
		}
	}
	if c.Blind != "" {
		return nil, fmt.Errorf("%w: %s", ErrBlind, c.Blind)
	}
	return c, nil
}

// fresh returns the catalog unless there is a reason to read it again.
func (b *Backend) fresh() *schema.Catalog {
	if seen := b.seen.Load(); seen != b.asked.Load() {
		return nil
	}
	return b.current.Load()
}

// changed notes that definitions may be others now.
func (b *Backend) changed() { b.asked.Add(1) }

// doubted is changed for whoever misses something; it is heard ten times a
// second at most, and reports whether it was.
func (b *Backend) doubted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.read) < 100*time.Millisecond {
		return false
	}
	b.changed()
	return true
}

// look asks whether definitions have changed, and reads them then.
func (b *Backend) look(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remember()
	refresh := b.Refresh
	setDefault(&refresh, 5*time.Second)
	refresh = max(refresh, 20*b.cost) // many tables take long to read
	if b.conn != nil && b.fresh() != nil && time.Since(b.read) < refresh {
		ddl, err := b.probe()
		if err == nil && ddl == b.ddl {
			return
		}
		if err != nil {
			b.drop()
		}
	}
	// An error leaves the catalog unknown, and restricted accounts refused.
	err := b.reload(ctx)
	now := stateUp
	if err != nil {
		now = stateDown
	}
	if now != b.said && ctx.Err() == nil {
		b.said = now
		if b.Report != nil {
			b.Report(err == nil, err)
		}
	}
}

// remember shows the catalog as it is to whoever watches over it, before another
// takes its place. The caller holds the lock.
func (b *Backend) remember() {
	if cat := b.current.Load(); cat != nil && b.known != nil {
		b.known(cat)
	}
}

// probe is definitionCounters for a server that may hang.
func (b *Backend) probe() (string, error) {
	conn := b.conn
	watchdog := time.AfterFunc(probeTimeout, func() { conn.Close() })
	defer watchdog.Stop()
	return definitionCounters(conn)
}

// drop forgets the connection. The caller holds the lock.
func (b *Backend) drop() {
	if b.conn != nil {
		b.conn.Close()
		b.conn = nil
	}
}

// reload reads the catalog. The caller holds the lock.
func (b *Backend) reload(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			b.errors.Add(1)
			b.current.Store(nil)
			b.drop()
		}
	}()
	if b.conn == nil {
		if b.conn, err = b.Connect(ctx); err != nil {
			return err
		}
	}
	b.remember()
	asked, begun := b.asked.Load(), time.Now()
	if b.ddl, err = b.probe(); err != nil {
		return err
	}
	cat, err := ReadCatalog(b.conn)
	if err != nil {
		return err
	}
	b.reads.Add(1)
	b.read, b.cost = time.Now(), time.Since(begun)
	if old := b.current.Load(); old == nil || !old.Equal(cat) {
		b.current.Store(cat)
		if b.loaded != nil {
			b.loaded(cat)
		}
	}
	b.seen.Store(asked)
	return nil
}

// definitionCounters are the counts of statements that change definitions.
func definitionCounters(c *wire.Conn) (string, error) {
	var b strings.Builder
	err := queryStrings(c, `SHOW GLOBAL STATUS LIKE 'Com\_%'`, func(v []string) {
		for _, w := range [...]string{"Com_create_", "Com_alter_", "Com_drop_", "Com_rename_", "Com_install", "Com_uninstall"} {
			if strings.HasPrefix(v[0], w) && v[1] != "0" {
				b.WriteString(v[0] + "=" + v[1] + ";")
			}
		}
	})
	return b.String(), err
}
