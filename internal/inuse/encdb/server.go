package encdb

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// An Account is who a connection belongs to, as the server admitted it.
type Account struct {
	User string
	Host string // address the client connects from
	TLS  bool   // the connection is encrypted
	// Login is the name the client gave, Server the account the server took it
	// for. Rules do not know them, but accounts that differ in them are not one.
	Login, Server string
}

// Rules takes the rules that come over the protocol. It decides itself who may
// send them. Its errors are shown to the client; they hold nothing secret.
type Rules interface {
	// Import adds the rules of a document of the vendor's form, and replaces
	// those of the same name.
	Import(from Account, document []byte) error
	// Delete removes a rule.
	Delete(from Account, name string) error
}

// KMS is what clients are told that fetch their master key from a key manager.
type KMS struct {
	Region string
	KeyID  string
	EncMEK string // the master key, wrapped
	IV     string // optional
}

// A Config is common to the sessions of a server. Its zero value works: SM2,
// no pinning. It must not change once a session has it.
type Config struct {
	Suite Suite
	// NewKeyPair gives each connection its key pair, of Suite; nil means a
	// fresh one. Whoever returns one twice gives up the protection from replay.
	NewKeyPair func() (*KeyPair, error)
	// Registry knows the master keys that are accepted; nil accepts any, and
	// then an account reads with whatever key it brings.
	Registry *Registry
	// Keeper keeps master keys for connections to come; nil keeps none.
	Keeper *Keeper
	// MayRegister says who may bring a master key the Registry does not know;
	// nil means nobody.
	MayRegister func(Account) bool
	Rules       Rules // nil refuses rules
	// AllowClear lets master keys come over connections without TLS.
	AllowClear  bool
	MaxFailures int      // failed provisions of a connection; 0 means 3
	Limiter     *Limiter // failed provisions of a user; nil means no limit
	// Identity signs the key of each connection, so that our own clients can
	// pin it (IdentityPin). It may be nil.
	Identity ed25519.PrivateKey
	Only64   bool // do not offer Layout65 and up
	// PadTo pads values of own layouts to a multiple of so many bytes; 0 does not.
	PadTo int
	KMS   *KMS
	Now   func() time.Time // nil means time.Now
}

// An Event says what a request did, for an audit log. Unlike the answer, which
// is the same for all failures of a key, it says why.
type Event struct {
	Request    string // "server info", "provision", "import rules", "delete rule", "unknown"
	Err        error  // nil if it was done; never holds keys or values
	KeyID      uint32 // provision: number of the master key; 0 without a Registry
	Registered bool   // provision: the key is new
	Algorithm  Algorithm
	Wish       string // provision: the algorithm asked for, if cells get another
}

// A Session is the server's side of one connection. It is for one goroutine.
//
//	new ── request 0 ──► offered ── request 48 ──► provisioned
//	 ▲                                                  │
//	 └────────────────── ChangeUser ◄───────────────────┘
//
// COM_RESET_CONNECTION changes nothing: clients hand their key over once in a
// connection.
type Session struct {
	cfg     *Config
	account Account

	pair     *KeyPair // from the first request 0
	id       [sessionSize]byte
	failures int
	own      bool    // the client asked for what only our own do
	cells    *Sealer // nil until provisioned or adopted
	opener   *Opener
	blocked  *Sealer   // nil until needed
	looked   time.Time // for a key that other gates keep
	closed   bool
}

// NewSession begins the session of a connection that account has opened.
func (c *Config) NewSession(account Account) *Session {
	s := &Session{cfg: c, account: account}
	rand.Read(s.id[:]) // never fails, see crypto/rand
	return s
}

func (s *Session) now() time.Time {
	if s.cfg.Now != nil {
		return s.cfg.Now()
	}
	return time.Now()
}

// Close wipes the keys. The Sealers and the Opener of the session end with it.
func (s *Session) Close() {
	s.drop()
	s.closed = true
}

func (s *Session) drop() {
	s.cells.Close()
	s.opener.Close()
	s.blocked.Close()
	s.pair, s.cells, s.opener, s.blocked, s.own, s.looked = nil, nil, nil, nil, false, time.Time{}
}

// ChangeUser begins anew for another account (COM_CHANGE_USER). Failures still
// count: they are the connection's.
func (s *Session) ChangeUser(account Account) {
	s.drop()
	s.account = account
	rand.Read(s.id[:])
}

// Provisioned reports whether the client has handed over a master key, or the
// session has adopted one.
func (s *Session) Provisioned() bool { return s.cells != nil }

// Adopt lets a client that has handed over no key have cells under the one that
// its account handed over last, if the Keeper has it. The session keeps that until
// it hands over its own. Adopt reports the number of the key, and whether it did.
func (s *Session) Adopt() (id uint32, ok bool) {
	if s.cells != nil || s.cfg.Keeper.empty() || s.closed || s.own || !s.account.TLS && !s.cfg.AllowClear {
		return 0, false
	}
	if now := s.now(); now.Sub(s.looked) >= lookAgain {
		s.looked = now
		s.cfg.Keeper.fetch(s.account)
	}
	s.cells = s.cfg.Keeper.sealer(s.account, s.now)
	if s.cells == nil {
		return 0, false
	}
	return s.cells.keyID, true
}

// Layout returns the own layout that the ends agreed on, else Layout64.
func (s *Session) Layout() byte {
	if s.cells != nil {
		return s.cells.layout
	}
	return Layout64
}

// Cells returns what seals values for this client, which can open them. Before
// the client has handed over its key, or adopted one, that is Blocked.
func (s *Session) Cells() (*Sealer, error) {
	if s.cells == nil {
		return s.Blocked()
	}
	return s.cells, nil
}

// Blocked returns what seals values for nobody: the cells hold none, are all of
// one length, and are under a key that is not kept.
func (s *Session) Blocked() (*Sealer, error) {
	if s.closed {
		return nil, ErrClosed
	}
	if s.blocked == nil {
		b, err := newDummySealer(s.cfg.Suite.Hash(), strengthen("", s.cfg.Suite), s.now)
		if err != nil {
			return nil, fmt.Errorf("make cells for no one: %w", err)
		}
		s.blocked = b
	}
	return s.blocked, nil
}

// Opener opens cells that come back from the client as values of protected
// columns. It must be used for those only: for others it would decrypt on
// demand. ErrNoKey means the client has handed over no key.
func (s *Session) Opener() (*Opener, error) {
	if s.opener == nil {
		return nil, ErrNoKey
	}
	return s.opener, nil
}

// A problem is an error whose words the client gets.
type problem string

func (p problem) Error() string { return string(p) }

// Handle answers a request, the argument of a Message statement. The answer is
// the value of the one cell of its result. The request is overwritten in parts.
func (s *Session) Handle(text []byte) (cell []byte, ev Event) {
	r, err := parseRequest(text)
	if err != nil {
		return encodeAnswer(statusFailed, problemFormat), Event{Request: "unknown", Err: err}
	}
	body := "{}"
	switch {
	case s.closed:
		ev.Request, ev.Err = "unknown", ErrClosed
	case *r.Type == reqServerInfo:
		ev.Request = "server info"
		body, ev.Err = s.serverInfo(&r)
	case *r.Type == reqProvision:
		body, ev = s.provision(&r)
	case *r.Type == reqImportRules:
		ev.Request, ev.Err = "import rules", s.importRules(r.EncRule)
	case *r.Type == reqDeleteRule:
		ev.Request, ev.Err = "delete rule", s.deleteRule(r.Name)
	default:
		ev.Request, ev.Err = "unknown", fmt.Errorf("answer request %d: %w", *r.Type, ErrUnsupported)
	}
	if ev.Err == nil {
		return encodeAnswer(statusOK, body), ev
	}
	return encodeAnswer(statusFailed, words(ev.Err)), ev
}

// words returns what the client is told of an error.
func words(err error) string {
	var p problem
	var shown shownError
	switch {
	case errors.As(err, &p):
		return string(p)
	case errors.As(err, &shown):
		return shown.Error()
	case errors.Is(err, ErrClosed):
		return problemClosed
	case errors.Is(err, ErrUnsupported):
		return problemType
	}
	return "internal error"
}

func (s *Session) serverInfo(r *request) (string, error) {
	if s.pair == nil {
		var err error
		if s.cfg.NewKeyPair != nil {
			s.pair, err = s.cfg.NewKeyPair()
		} else {
			s.pair, err = GenerateKeyPair(s.cfg.Suite)
		}
		if err != nil {
			s.pair = nil
			return "", err
		}
	}
	info := infoBody{MEKID: noMEK, Info: serverInfo{
		CipherSuite: s.pair.suite.String(), PublicKey: s.pair.pub.pem, PublicKeyHash: s.pair.pub.Hash(),
		Enclave: mrenclave, TEEType: teeType, Version: Version,
	}}
	if s.cfg.Registry != nil {
		if id, ok := s.cfg.Registry.Current(); ok {
			info.MEKID = int64(id)
		}
	}
	if k := s.cfg.KMS; k != nil && atLeast(r.Version, kmsSinceVersion) {
		info.Info.KMSMode, info.Info.KMSMEKVersion = true, new(int)
		info.Info.KMSRegion, info.Info.KMSKeyID, info.Info.KMSEncMEK, info.Info.KMSIV = k.Region, k.KeyID, k.EncMEK, k.IV
	}
	if x := r.Extension; x != nil && x.Layout == Layout65 && len(x.Nonce) == sessionSize {
		s.own = true
		info.Info.Extension = s.extend(ownLayout(x.Most), x.Nonce)
	}
	return encodeBody(info), nil
}

// extend answers our own client, which knows the layout.
func (s *Session) extend(layout byte, nonce []byte) *extension {
	x := &extension{Layout: layout, SessionID: s.id[:]}
	if s.cfg.Only64 {
		x.Layout = Layout64
	}
	if s.cfg.Registry != nil {
		x.Salt = s.cfg.Registry.Salt()
	}
	if id := s.cfg.Identity; id != nil {
		x.Identity = id.Public().(ed25519.PublicKey)
		x.Signature = ed25519.Sign(id, identityText(nonce, s.id[:], s.pair.pub, x.Layout, x.Salt))
	}
	return x
}

func (s *Session) importRules(encoded string) error {
	if s.cfg.Rules == nil {
		return problem("rules cannot be changed here")
	}
	document, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(document) == 0 {
		return problem("the rule format is invalid")
	}
	return shown(s.cfg.Rules.Import(s.account, document))
}

func (s *Session) deleteRule(name string) error {
	if s.cfg.Rules == nil {
		return problem("rules cannot be changed here")
	}
	return shown(s.cfg.Rules.Delete(s.account, name))
}

// A shownError is one of Rules, whose words the client gets too.
type shownError struct{ error }

func (e shownError) Unwrap() error { return e.error }

func shown(err error) error {
	if err == nil {
		return nil
	}
	return shownError{err}
}

// RuleOp answers the statement of kind RuleOp: op is "add", "update", "delete"
// or "grant", document its JSON.
func (s *Session) RuleOp(op string, document []byte) Event {
	ev := Event{Request: "import rules"}
	switch {
	case s.cfg.Rules == nil:
		ev.Err = problem("rules cannot be changed here")
	case op == "add", op == "update", op == "grant":
		ev.Err = shown(s.cfg.Rules.Import(s.account, document))
	case op == "delete":
		var name string
		ev.Request = "delete rule"
		if json.Unmarshal(document, &name) != nil {
			ev.Err = problem("the rule format is invalid")
		} else {
			ev.Err = shown(s.cfg.Rules.Delete(s.account, name))
		}
	default:
		ev.Err = problem("unknown operation on rules")
	}
	return ev
}

// take makes a key that was handed over the one cells are sealed under.
func (s *Session) take(key *secret.Bytes, a Algorithm, layout byte, id uint32) error {
	sealer, err := newSealer(key, s.pair.suite.Hash(), a, s.now)
	if err != nil {
		return err
	}
	opener, err := newOpener(key, s.pair.suite.Hash(), false)
	if err != nil {
		sealer.Close()
		return err
	}
	sealer.layout, sealer.keyID, sealer.session, sealer.padTo = layout, id, s.id, s.cfg.PadTo
	opener.layout, opener.keyID, opener.session = layout, id, s.id
	s.cells.Close()
	s.opener.Close()
	s.cells, s.opener = sealer, opener
	return nil
}
