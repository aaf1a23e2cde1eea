// Package gate stands between clients and a server of the MySQL protocol and
// keeps the values of protected columns from accounts that may not have them.
//
// The server's own accounts log in through it, and the rules say what an
// account is:
//
//	full         everything passes as it came
//	ciphertext   cells of protected columns are encrypted for the key the
//	             client, or one of its account before, handed over (package encdb)
//	blocked      they are encrypted for nobody
//
// The last two are restricted. Each of their statements is brought into one
// form, which the server gets, and analysed: package lineage says on which base
// columns every column of the result can depend, and those that can depend on
// protected ones are encrypted. What it does not understand is refused. The
// server's metadata has to agree, or the connection ends. Error texts and
// warnings of statements that touch protected columns are withheld.
//
// What conditions may tell of protected values is for the rules to say: see
// docs/confidential-sql.md.
package gate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/schema"
)

var (
	// ErrNoBackend means that none of the backends can be reached.
	ErrNoBackend = errors.New("no backend can be reached")
	// ErrPrivileges means that a restricted account holds privileges with which
	// it could read around the rules.
	ErrPrivileges = errors.New("the account holds privileges that accounts with restrictions must not have")
	// ErrTooMany means that an account has as many connections as it may.
	ErrTooMany = errors.New("the account has too many connections")
)

// A Config says how a Server works. Backends and Rules are required.
type Config struct {
	Backends []*Backend // in order of preference
	Rules    *policy.Store
	EncDB    *encdb.Config // nil: the zero value
	// KeepKeys is how long after its last use a master key is kept for connections
	// of the same account, from the same address, that hand over none. 0: not.
	KeepKeys time.Duration
	// SharedKeys has them in common with other gates that have the same registry.
	// Nil: each keeps its own.
	SharedKeys *encdb.Sharing
	// ClientTLS offers clients TLS; RequireTLS refuses those that do not take it.
	ClientTLS  *tls.Config
	RequireTLS bool
	Passwords  wire.PasswordPolicy

	MaxConns      int           // 0: 1024
	MaxPerAccount int           // of one user; 0: no limit of their own
	MaxPerHost    int           // from one address; 0: no limit of their own
	Idle          time.Duration // between commands; 0: 8 h
	LoginTimeout  time.Duration // 0: 10 s
	// Stall bounds each wait for the rest of what a client has begun to send, and
	// for a client to take what it asked for. 0: 1 min
	Stall        time.Duration
	MaxStatement int // bytes of a command; 0: 64 MiB
	MaxRow       int // bytes of a row with encrypted cells; 0: 64 MiB
	// TrustGrants lets restricted accounts in whatever privileges they hold. It is
	// for tests of what the gate itself keeps from them.
	TrustGrants bool
	// MaxGuesses bounds how many constants an account may compare with protected
	// columns in a minute. 0: 6000
	MaxGuesses int
	// Audit is told of logins, ciphertext and refusals; it may be called by
	// several goroutines at once. Nil: nobody is told.
	Audit func(Event)
}

// An Event is what an audit log keeps. It holds no value, no text of a
// statement and no key.
type Event struct {
	Time    time.Time `json:"time"`
	Session uint64    `json:"session"`
	Kind    string    `json:"kind"` // "login", "denied", "refused", "ciphertext", "condition", "redacted", "alarm", "protocol", "logout"
	User    string    `json:"user"`
	Host    string    `json:"host"`
	Level   string    `json:"level,omitempty"`
	Rules   uint64    `json:"rules_version,omitempty"`
	Rule    string    `json:"rule,omitempty"`   // of the policy, or the gate's reason
	Reason  string    `json:"reason,omitempty"` // in words
	Class   string    `json:"class,omitempty"`  // of the statement
	Columns int       `json:"columns,omitempty"`
	Rows    int64     `json:"rows,omitempty"`
	Results int64     `json:"results,omitempty"` // how many were alike within a tenth of a second
}

// Stats are counters since the start, and gauges.
type Stats struct {
	Connections, Open, Denied         int64
	Statements, Restricted            int64 // commands answered
	Refused, Redacted, CipherCells    int64
	Guesses, Alarms                   int64
	RefusedBy                         map[string]int64 // by the reason's short name
	CatalogReads, CatalogErrors       int64
	BackendFailures, ProtocolFailures int64
	KeptKeys                          int64 // now

	Draining     bool
	Backends     []BackendStats
	RulesVersion uint64
	RulesDigest  string
	RulesTrouble error // why the rules are not as their source has them, or nil
}

// BackendStats are those of one backend.
type BackendStats struct {
	Address string `json:"address"`
	Up      bool   `json:"up"`
	Open    int64  `json:"sessions"`
}

// counters are the Stats being counted.
type counters struct {
	connections, open, denied, statements, restricted, refused, redacted, cells, protocol, failures, guesses, alarms atomic.Int64
}

// A Server serves clients.
type Server struct {
	cfg      Config
	count    counters
	ids      atomic.Uint64
	draining atomic.Bool

	mu       sync.Mutex
	sessions map[*session]struct{}
	users    map[string]int // sessions by account
	hosts    map[string]int // connections by address
	wg       sync.WaitGroup

	guesses  guessing
	tallies  tallies
	refusals sync.Map // *atomic.Int64 by reason

	accessMu sync.Mutex
	accesses map[accessKey]*access
}

// An accessKey is what an access depends on.
type accessKey struct {
	cat        *schema.Catalog
	rules      uint64
	user, host string
}

// maxAccesses is how many are kept for the sessions to come.
const maxAccesses = 256

// access is newAccess, once for sessions that are alike.
func (s *Server) access(b *Backend, key accessKey, view *policy.View) *access {
	s.accessMu.Lock()
	defer s.accessMu.Unlock()
	a := s.accesses[key]
	if a == nil {
		if len(s.accesses) >= maxAccesses {
			clear(s.accesses)
		}
		a = newAccess(key.cat, view, s.vanished(b, key.cat))
		s.accesses[key] = a
	}
	return a
}

// New makes a Server.
func New(cfg Config) *Server {
	enc := encdb.Config{}
	if cfg.EncDB != nil {
		enc = *cfg.EncDB
	}
	if cfg.KeepKeys > 0 && enc.Registry != nil {
		enc.Keeper = encdb.NewKeeper(enc.Registry, cfg.KeepKeys, func(a encdb.Account) bool {
			return cfg.Rules.Current().For(a.User, a.Host).Some(policy.Ciphertext)
		})
		enc.Keeper.Share(cfg.SharedKeys)
	}
	cfg.EncDB = &enc
	setDefault(&cfg.MaxConns, 1024)
	setDefault(&cfg.Idle, 8*time.Hour)
	setDefault(&cfg.LoginTimeout, loginTimeout)
	setDefault(&cfg.Stall, time.Minute)
	setDefault(&cfg.MaxStatement, 64<<20)
	setDefault(&cfg.MaxGuesses, 6000)
	setDefault(&cfg.MaxRow, 64<<20)
	if cfg.Audit == nil {
		cfg.Audit = func(Event) {}
	}
	s := &Server{cfg: cfg, sessions: map[*session]struct{}{}, users: map[string]int{}, hosts: map[string]int{}, accesses: map[accessKey]*access{}}
	s.tallies.log, s.cfg.Audit = cfg.Audit, s.audit
	for _, b := range cfg.Backends {
		b.loaded = func(cat *schema.Catalog) { s.vanished(b, cat) }
		b.known = func(cat *schema.Catalog) {
			if b.vanished.behind(s.cfg.Rules.Current().Number) {
				s.vanished(b, cat)
			}
		}
	}
	return s
}

// vanished returns the tables of a catalog that have to be protected because
// those of rules are gone, and alarms if that is new.
func (s *Server) vanished(b *Backend, cat *schema.Catalog) []schema.TableName {
	rules := s.cfg.Rules.Current()
	lost, gone := b.vanished.look(cat, rules.Set, rules.Number)
	for _, rule := range gone {
		s.alarm(Event{Rule: rule, Rules: rules.Number, Reason: "a table that the rule names is gone, or another looks like it; tables that are new are protected whole until the rules are changed"})
	}
	return lost
}

// alarm reports what somebody has to look at.
func (s *Server) alarm(e Event) {
	s.count.alarms.Add(1)
	e.Time, e.Kind = time.Now(), "alarm"
	s.cfg.Audit(e)
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Serve accepts clients on ln until ctx ends or ln fails, and then closes ln.
// Sessions go on; see Shutdown.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	serving, end := context.WithCancel(ctx)
	defer end()
	go s.cfg.EncDB.Keeper.Watch(serving, time.Second)
	for {
		nc, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				continue
			}
			return err
		}
		s.count.connections.Add(1)
		host := remoteHost(nc)
		if !s.admit(host) {
			s.count.denied.Add(1)
			s.turnAway(nc)
			continue
		}
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			defer s.leave(host)
			s.session(nc)
		}()
	}
}

// admit counts a connection from host unless there are too many.
func (s *Server) admit(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() || s.count.open.Load() >= int64(s.cfg.MaxConns) || s.cfg.MaxPerHost > 0 && s.hosts[host] >= s.cfg.MaxPerHost {
		return false
	}
	s.count.open.Add(1)
	s.hosts[host]++
	return true
}

func (s *Server) leave(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.open.Add(-1)
	take(s.hosts, host)
}

// take takes one from m[key].
func take(m map[string]int, key string) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}

// turnAway tells a client that it cannot be served. What it says fits a new
// connection's buffer, so it does not wait.
func (s *Server) turnAway(nc net.Conn) {
	c := wire.NewConn(nc, wire.Limits{Buffer: 1024, Write: time.Second})
	code, text := uint16(1040), "Too many connections"
	if s.draining.Load() {
		code, text = 1053, "Server shutdown in progress"
	}
	if c.WriteErr(code, "", text) == nil {
		c.Flush()
	}
	c.Close()
}

// join notes that a session is that of user, in place of before, unless the
// user has too many.
func (s *Server) join(user, before string) bool {
	if s.cfg.MaxPerAccount <= 0 || user == before {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if user != "" && s.users[user] >= s.cfg.MaxPerAccount {
		return false
	}
	if user != "" {
		s.users[user]++
	}
	if before != "" {
		take(s.users, before)
	}
	return true
}

// ExportKeys returns the master keys that are kept, for the ImportKeys of a
// successor; the caller wipes them. After Shutdown there are none.
func (s *Server) ExportKeys() []byte { return s.cfg.EncDB.Keeper.Export() }

// ImportKeys keeps the keys that another Server kept, as far as the registry and
// the rules allow it, and wipes state.
func (s *Server) ImportKeys(state []byte) error { return s.cfg.EncDB.Keeper.Import(state) }

// Shutdown ends the sessions: idle ones at once, those in a transaction or at
// work when that is done, and all that are left when ctx ends.
func (s *Server) Shutdown(ctx context.Context) {
	s.draining.Store(true)
	s.cfg.EncDB.Keeper.Close()
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	// A session may be about to wait when it is woken, so it is woken again.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, ss := range s.all() {
			ss.drain()
		}
		select {
		case <-done:
			return
		case <-tick.C:
		case <-ctx.Done():
			for _, ss := range s.all() {
				ss.close()
			}
			<-done
			return
		}
	}
}

func (s *Server) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*session, 0, len(s.sessions))
	for ss := range s.sessions {
		out = append(out, ss)
	}
	return out
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	st := Stats{
		Connections: s.count.connections.Load(), Open: s.count.open.Load(), Denied: s.count.denied.Load(),
		Statements: s.count.statements.Load(), Restricted: s.count.restricted.Load(),
		Refused: s.count.refused.Load(), Redacted: s.count.redacted.Load(), CipherCells: s.count.cells.Load(),
		ProtocolFailures: s.count.protocol.Load(), BackendFailures: s.count.failures.Load(),
		Guesses: s.count.guesses.Load(), Alarms: s.count.alarms.Load(), RefusedBy: map[string]int64{},
	}
	s.refusals.Range(func(reason, n any) bool {
		st.RefusedBy[reason.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	for _, b := range s.cfg.Backends {
		st.CatalogReads += b.reads.Load()
		st.CatalogErrors += b.errors.Load()
		st.Backends = append(st.Backends, BackendStats{b.Address, b.healthy(), b.open.Load()})
	}
	v := s.cfg.Rules.Current()
	st.RulesVersion, st.RulesDigest, st.RulesTrouble = v.Number, v.Digest(), s.cfg.Rules.Trouble()
	st.Draining, st.KeptKeys = s.draining.Load(), int64(s.cfg.EncDB.Keeper.Len())
	return st
}

// dial connects to the first backend that answers, those known to work first. A
// backend that greets with an error is passed over, unless it is the last one.
func (s *Server) dial(ctx context.Context) (*Backend, *wire.Conn, error) {
	var sorry *wire.Conn
	var whose *Backend
	for _, healthy := range []bool{true, false} {
		for _, b := range s.cfg.Backends {
			if b.healthy() != healthy {
				continue
			}
			c, fault, err := s.greeted(ctx, b)
			switch {
			case err != nil:
				s.count.failures.Add(1)
				continue
			case !fault:
				if sorry != nil {
					sorry.Close()
				}
				return b, c, nil
			case sorry != nil:
				sorry.Close()
			}
			whose, sorry = b, c
		}
	}
	if sorry != nil {
		return whose, sorry, nil
	}
	return nil, nil, ErrNoBackend
}

// greeted connects to a backend that greets, and reports whether with an error.
func (s *Server) greeted(ctx context.Context, b *Backend) (c *wire.Conn, fault bool, err error) {
	nc, err := b.dial(ctx)
	if err != nil {
		return nil, false, err
	}
	c = wire.NewBackend(nc, wire.Limits{Load: s.cfg.MaxRow, Write: time.Minute})
	c.SetReadDeadline(time.Now().Add(greetingTimeout))
	first, err := c.Peek()
	if err != nil {
		c.Close()
		return nil, false, fmt.Errorf("read greeting: %w", err)
	}
	c.SetReadDeadline(time.Time{})
	return c, first == wire.HeaderErr, nil
}
