package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/token"
)

// A session is one client's connection and the backend's that belongs to it. It
// is for one goroutine but for drain and close.
type session struct {
	srv            *Server
	id             uint64
	backend        *Backend
	client, server *wire.Conn
	login          *wire.Session
	number         uint32    // of the server's connection
	names          [2]string // of the account the server took, and the one the client gave
	named          string    // the account the server took, as it names it
	user, host     string    // the name that counts, and where the client comes from
	counted        string    // the account the session counts for
	granted        bool      // its privileges have been checked

	enc    *encdb.Session
	resp   wire.Response
	answer *answer // memory for the next
	stmts  wire.Stmts[stmt]
	last   uint32 // statement prepared last
	local  uint32 // statements of the gate's own so far

	rules *policy.Version
	view  *policy.View
	// What follows is for restricted accounts only.
	reader   *reader
	database string
	mode     token.Mode
	utf8     bool   // names in results are UTF-8
	bad      string // why the session's settings make statements unreadable
	synced   bool   // the four above are known

	temporary temporaries
	free      bool  // statements have run that nobody judged
	defining  bool  // one was prepared that may change definitions
	compared  bool  // ROW_COUNT() may tell of protected values
	asked     int64 // Backend.asked when the statement at hand was judged

	turn   atomic.Int64 // odd while a command is being answered
	inTx   atomic.Bool
	lost   atomic.Bool // the server has ended its side
	left   leaving
	killed atomic.Bool
}

// A stmt is a prepared statement.
type stmt struct {
	sql     []byte // as the client sent it
	mode    token.Mode
	db      string
	v       verdict
	access  *access // v was judged by
	tables  uint64  // temporaries.id then
	plan    *plan   // of rows that wait for COM_STMT_FETCH
	rules   uint64  // version, when plan was made
	control *control
	params  int         // how many
	types   []wire.Type // of them, when last given
	// shape is of the definitions that were sent last, by the server and to the
	// client, as judged by shaped. It is kept where the server leaves them out.
	shape  *shape
	shaped *judgement
}

// session serves one client until it leaves.
func (s *Server) session(nc net.Conn) {
	ss := &session{srv: s, id: s.ids.Add(1), host: remoteHost(nc)}
	ss.client = wire.NewConn(nc, wire.Limits{Load: s.cfg.MaxStatement, Packet: s.cfg.MaxStatement, Read: s.cfg.Stall, Write: s.cfg.Stall})
	defer ss.client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.LoginTimeout)
	defer cancel()
	backend, server, err := s.dial(ctx)
	if err != nil {
		ss.event(Event{Kind: "denied", Reason: err.Error()})
		s.count.denied.Add(1)
		ss.client.WriteErr(wire.CodeUnknown, "", "the gate reaches no server")
		ss.client.Flush()
		return
	}
	ss.backend, ss.server = backend, server
	defer ss.server.Close()
	backend.open.Add(1)
	defer backend.open.Add(-1)
	defer func() { s.join("", ss.counted) }()
	if err := ss.logIn(ctx); err != nil {
		ss.denied(err)
		ss.client.Flush()
		return
	}
	defer ss.enc.Close()
	s.mu.Lock()
	s.sessions[ss] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.sessions, ss)
		s.mu.Unlock()
	}()
	ss.event(Event{Kind: "login", Level: ss.view.Least().String()})
	ss.number = ss.login.Greeting.ConnectionID
	defer wire.OnHangup(ss.client, ss.clientLeft)()
	defer wire.OnHangup(ss.server, ss.serverLeft)()
	err = ss.serve()
	if ss.left.now.Load() {
		ss.event(Event{Kind: "logout", Reason: "the client left while a statement was at work"})
		return
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		s.count.protocol.Add(1)
		if errors.Is(err, errForeseen) {
			s.alarm(Event{Session: ss.id, User: ss.user, Host: ss.host, Rules: ss.rules.Number, Reason: reasonOf(err)})
		}
		ss.event(Event{Kind: "logout", Reason: reasonOf(err)})
		return
	}
	ss.event(Event{Kind: "logout"})
}

// denied notes that a login failed.
func (ss *session) denied(err error) {
	ss.srv.count.denied.Add(1)
	e := Event{Kind: "denied", Reason: reasonOf(err)}
	var held *grantError
	if errors.As(err, &held) {
		e.Rule, e.Reason = "privileges", held.Error()
	}
	ss.event(e)
}

// reasonOf is err for a log: of the kinds of errors only, no text of a peer.
func reasonOf(err error) string {
	for _, known := range []error{
		wire.ErrDenied, wire.ErrInsecure, wire.ErrUnsupported, wire.ErrMalformed, wire.ErrTooLarge, wire.ErrOutOfOrder,
		io.ErrUnexpectedEOF, io.EOF, net.ErrClosed, context.DeadlineExceeded, errInfile, errIdentity, errNumber, errName, errSource, errChanged, errFree, ErrTooMany, errLost, ErrSocketAccount,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return "timeout"
	}
	return "connection failed"
}

var (
	errInfile   = errors.New("the server asked a restricted client for a file")
	errFree     = errors.New("the account was restricted in the midst of a transaction")
	errIdentity = errors.New("the server did not say whose session it is")
)

// remoteHost is the address a client comes from, "" for a socket.
func remoteHost(nc net.Conn) string {
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		return a.IP.String()
	}
	return ""
}

func (ss *session) event(e Event) {
	e.Time, e.Session = time.Now(), ss.id
	if e.User == "" {
		e.User = ss.user
	}
	e.Host = ss.host
	if ss.rules != nil {
		e.Rules = ss.rules.Number
	}
	ss.srv.cfg.Audit(e)
}

func (ss *session) loginConfig() *wire.LoginConfig {
	c := &ss.srv.cfg
	return &wire.LoginConfig{
		ClientTLS: c.ClientTLS, RequireTLS: c.RequireTLS, ServerTLS: ss.backend.TLS, Passwords: c.Passwords,
		AllowSocket: true, // see checkSocket
		Admit: func(r *wire.LoginRequest) error {
			ss.user = r.User
			return nil
		},
		Accepted: ss.accepted,
	}
}

func (ss *session) logIn(ctx context.Context) error {
	login, err := wire.RelayLogin(ctx, ss.client, ss.server, ss.loginConfig())
	if err != nil {
		return err
	}
	ss.login = login
	ss.enc = ss.srv.cfg.EncDB.NewSession(ss.account())
	return nil
}

// accepted judges a login that the server has accepted, and of which the client
// has not heard yet.
func (ss *session) accepted(login *wire.Session) error {
	ss.login = login
	if err := ss.identify(); err != nil {
		return err
	}
	if err := ss.checkSocket(); err != nil {
		return err
	}
	if !ss.srv.join(ss.user, ss.counted) {
		return ErrTooMany
	}
	ss.counted = ss.user
	if ss.view.Least() == policy.Full {
		return nil
	}
	return ss.checkGrants()
}

func (ss *session) account() encdb.Account {
	return encdb.Account{User: ss.user, Host: ss.host, TLS: ss.client.TLS() != nil, Login: ss.login.User, Server: ss.named}
}

// identity asks for the account the server took the client for and for what the
// client called itself, in UTF-8 whatever results come in.
const identity = "SELECT CAST(CURRENT_USER() AS BINARY), CAST(USER() AS BINARY) LIMIT 1"

// identify asks the server whom it took the client for: an account without a
// name takes any, and one can be a proxy for another.
func (ss *session) identify() error {
	var accounts []string
	err := queryStrings(ss.server, identity, func(v []string) { accounts = slices.Clone(v) })
	if err != nil {
		return err
	}
	if len(accounts) != len(ss.names) {
		return errIdentity
	}
	for i, a := range accounts {
		at := strings.LastIndexByte(a, '@')
		if at < 0 {
			return errIdentity
		}
		ss.names[i] = a[:at]
	}
	ss.named = accounts[0]
	ss.rules = ss.srv.cfg.Rules.Current()
	ss.look()
	ss.inTx.Store(ss.login.OK.Status.Has(wire.StatusInTransaction))
	ss.resp.Status = ss.login.OK.Status
	ss.database, ss.synced, ss.reader, ss.granted = ss.login.Database, false, nil, false
	ss.temporary.clear()
	ss.free = false
	return nil
}

// look finds what the account may see, by the rules at hand: of its two names the one
// that may see less counts.
func (ss *session) look() {
	ss.view = nil
	for _, name := range ss.names {
		if v := ss.rules.For(name, ss.host); ss.view == nil || v.Least() < ss.view.Least() {
			ss.view, ss.user = v, name
		}
	}
}

// restricted reports whether anything has to be kept from the account, by the
// rules as they are now.
func (ss *session) restricted() bool {
	if now := ss.srv.cfg.Rules.Current(); now.Number != ss.rules.Number {
		ss.rules, ss.reader = now, nil
		ss.look()
	}
	return ss.view.Least() != policy.Full
}

// serve answers commands until the client leaves.
func (ss *session) serve() error {
	for {
		if ss.srv.draining.Load() && !ss.inTx.Load() {
			return ss.client.Flush()
		}
		if ss.lost.Load() {
			return ss.farewell()
		}
		p, err := ss.client.ReadCommand(ss.srv.cfg.Idle)
		if err != nil {
			if ss.srv.draining.Load() {
				return nil
			}
			if ss.lost.Load() {
				return ss.farewell()
			}
			if errors.Is(err, wire.ErrTooLarge) {
				ss.tooLarge()
			}
			return err
		}
		ss.turn.Add(1)
		if wire.Command(p[0]) == wire.ComQuit {
			ss.server.WriteCommand(p)
			return ss.server.Flush()
		}
		ss.srv.count.statements.Add(1)
		if err := ss.command(p); err != nil {
			return err
		}
		ss.inTx.Store(ss.resp.Status.Has(wire.StatusInTransaction))
		ss.turn.Add(1)
	}
}

// busy reports whether a command is being answered.
func (ss *session) busy() bool { return ss.turn.Load()%2 == 1 }

// command answers one command.
func (ss *session) command(p []byte) error {
	cmd := wire.Command(p[0])
	if cmd == wire.ComChangeUser {
		return ss.changeUser(p)
	}
	if done, err := ss.controls(cmd, p); done || err != nil {
		return err
	}
	if ss.restricted() {
		ss.srv.count.restricted.Add(1)
		ss.adopt()
		return ss.guard(cmd, p)
	}
	ss.synced, ss.free = false, true
	return ss.relay(cmd, p)
}

// relay passes a command of an account that may see all, and its answer.
func (ss *session) relay(cmd wire.Command, p []byte) error {
	if cmd.Shape() == wire.ShapeRefused || cmd.Shape() == wire.ShapeLogin {
		return ss.client.WriteErr(wire.CodeUnknownCommand, "08S01", "this command cannot pass the gate")
	}
	if cmd == wire.ComStmtPrepare {
		ss.defining = ss.defining || defines(p[1:])
	}
	if cmd == wire.ComQuery && defines(p[1:]) || cmd == wire.ComStmtExecute && ss.defining {
		ss.backend.changed()
		defer ss.backend.changed()
	}
	if cmd == wire.ComStmtPrepare {
		ss.last = 0
	}
	if err := ss.server.WriteCommand(p); err != nil {
		return err
	}
	ss.resp.Start(cmd, ss.server.Caps)
	err := ss.disclose(cmd, p)
	if err == nil {
		err = wire.RelayResponse(&ss.resp, ss.server, ss.client)
	}
	if err != nil {
		return fmt.Errorf("relay answer: %w", err)
	}
	return nil
}

// defines reports whether one of several statements may change definitions. What
// it misses, the backend's poll finds.
func defines(sql []byte) bool {
	if definition(sql) {
		return true
	}
	for {
		i := bytes.IndexByte(sql, ';')
		if i < 0 {
			return false
		}
		if sql = sql[i+1:]; defining[firstWord(sql)] {
			return true
		}
	}
}

// defining are the words that begin statements which change definitions, where a
// string may as well be what is looked at.
var defining = words("create alter drop rename call execute prepare")

// definition reports whether a statement may change definitions, by its first
// word.
func definition(sql []byte) bool {
	switch firstWord(sql) {
	case "select", "insert", "update", "delete", "replace", "set", "show", "begin", "commit", "rollback", "start", "use", "explain", "desc", "describe", "savepoint", "release", "do":
		return false
	}
	return true
}

// firstWord is the first word of a statement in lower case, "" if it begins with
// something else.
func firstWord(sql []byte) string {
	i := 0
	for i < len(sql) && (sql[i] == ' ' || '\t' <= sql[i] && sql[i] <= '\r' || sql[i] == '(') {
		i++
	}
	end := i
	for end < len(sql) && end < i+12 && (sql[end]|0x20 >= 'a' && sql[end]|0x20 <= 'z') {
		end++
	}
	return strings.ToLower(string(sql[i:end]))
}

// changeUser passes a change of the account.
func (ss *session) changeUser(p []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), ss.srv.cfg.LoginTimeout)
	defer cancel()
	login, err := wire.RelayChangeUser(ctx, p, ss.client, ss.server, ss.login, ss.loginConfig())
	if err != nil {
		ss.denied(err)
		return err
	}
	ss.login = login
	ss.stmts.Clear()
	ss.last = 0
	ss.enc.ChangeUser(ss.account())
	ss.event(Event{Kind: "login", Level: ss.view.Least().String(), Reason: "change of user"})
	return nil
}

// tooLarge says what is wrong with a command, as servers do, and takes some of
// the rest: a connection closed before would take the answer with it.
func (ss *session) tooLarge() {
	if ss.client.WriteErr(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes") != nil || ss.client.Flush() != nil {
		return
	}
	nc := ss.client.NetConn()
	nc.SetReadDeadline(time.Now().Add(time.Second))
	io.CopyN(io.Discard, nc, int64(ss.srv.cfg.MaxStatement))
}

// drain wakes a session that waits for a command outside a transaction.
func (ss *session) drain() {
	if !ss.busy() && !ss.inTx.Load() {
		ss.client.SetReadDeadline(time.Now())
	}
}

// close ends a session whatever it does.
func (ss *session) close() {
	ss.killed.Store(true)
	ss.client.Close()
	ss.server.Close()
}
