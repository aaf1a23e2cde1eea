package wire

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// The authentication plugins a login can be relayed for, by the names clients
// know. The client answers a challenge of the server, which the relay passes on
// as it is, so the relay neither knows nor needs the password:
//
//	mysql_native_password   one answer
//	client_ed25519          one answer
//	parsec                  two rounds
//	caching_sha2_password   one answer; if the server does not remember the
//	                        account, the password itself follows
//	sha256_password         the password itself
//
// "The password itself" goes in the clear over TLS or a unix socket, encrypted
// with a key of the server over anything else; which of the two, client and
// server each decide from their own connection. Where those differ the relay
// has to step in between, see PasswordPolicy.
//
// Everything else is refused: mysql_clear_password and dialog (PAM) would hand
// the relay a password of another system, Kerberos, LDAP and the like
// authenticate the connection's own end, mysql_old_password is broken. Nor can a
// plugin be relayed that ties the login to the TLS channel.
const (
	PluginNative  = "mysql_native_password"
	PluginEd25519 = "client_ed25519"
	PluginParsec  = "parsec"
	PluginCaching = "caching_sha2_password"
	PluginSHA256  = "sha256_password"
)

// relayablePlugin reports whether plugin's exchange can be relayed.
func relayablePlugin(plugin string) bool {
	switch plugin {
	case PluginNative, PluginEd25519, PluginParsec, PluginCaching, PluginSHA256:
		return true
	}
	return false
}

// challenged reports whether the first answer of plugin is worthless to
// anybody but the server, whatever the client's connection.
func challenged(plugin string) bool {
	switch plugin {
	case PluginNative, PluginEd25519, PluginCaching:
		return true
	}
	return false
}

// PasswordPolicy says what to do when a client sends its password, encrypted or
// not, and the server expects the other. The zero value refuses both with an
// error that says so; nothing of it matters to accounts the server remembers.
type PasswordPolicy struct {
	// ServerKey is the server's public key for a client on TLS and a
	// server that is not: the relay encrypts the password with it.
	ServerKey *rsa.PublicKey
	// FetchServerKey: lacking ServerKey, ask the server for it. Whoever
	// sits between relay and server can then answer with his own.
	FetchServerKey bool
	// Key is the relay's own key for a client that is not on TLS and a
	// server that is: the client encrypts with it, the relay decrypts. It
	// fails with clients that have the server's key in a file.
	Key *rsa.PrivateKey
}

// LoginConfig says how to relay logins. The zero value relays without TLS on
// either side.
type LoginConfig struct {
	// ClientTLS offers clients TLS. Clients of MariaDB 11.4 and later that
	// have no CA check the server's own certificate by the login instead,
	// and then find that of the relay wrong: they need the CA.
	ClientTLS *tls.Config
	// RequireTLS refuses clients that do not take it, unix sockets excepted.
	RequireTLS bool
	// ServerTLS goes on with the server over TLS; a server that has none is
	// an error.
	ServerTLS *tls.Config
	Passwords PasswordPolicy
	// Mask are the capabilities both sides may agree on. Zero: Relayable.
	Mask Capabilities
	// AllowSocket allows a server connected by unix socket. It then takes
	// the relay's own operating system user for the client's: accounts that
	// authenticate by socket (MariaDB's root, as installed) are open to
	// everyone who reaches the relay.
	AllowSocket bool
	// Admit, if set, is asked before anything of the client but its first
	// packet goes to the server. Its error ends the login; the client is
	// told that access is denied. It may change Attrs.
	Admit func(*LoginRequest) error
	// Accepted, if set, is called when the server has accepted the client
	// and the client does not know yet; it may run statements on the server.
	// Its error ends the login, and the client is told its text.
	Accepted func(*Session) error
}

// A Session is what a login agreed on.
type Session struct {
	// User is the name the client gave. The account the server took for it
	// can be another one: ask CURRENT_USER().
	User     string
	Database string // as asked for at login
	Charset  byte   // collation number, low 8 bits
	Attrs    []byte // see EachAttr
	// Plugin is the one whose exchange ended in the login.
	Plugin string
	// Greeting is the server's, before the relay masked it.
	Greeting *Greeting
	// OK is the packet that ended the login, with memory of its own.
	OK OK

	scramble []byte // the last challenge
}

// RelayLogin takes client, just accepted, and server, just connected, through a
// login of the client with an account of the server. On success both have
// equal capabilities, and the next packet is a command of the client; the two
// are linked.
//
// On an error the client has been told as far as the protocol allows, and both
// connections are to be closed: ErrDenied if the server refused (before
// greeting or after), ErrUnsupported or ErrInsecure if the relay did, the
// error of Admit, or what reading and writing gives.
//
// ctx bounds the whole login, in place of Limits.Read. Packets are at most
// 64 KiB.
func RelayLogin(ctx context.Context, client, server *Conn, cfg *LoginConfig) (*Session, error) {
	Link(client, server)
	l := &login{client: client, server: server, cfg: cfg}
	if err := l.bounded(ctx, l.run); err != nil {
		return nil, fmt.Errorf("relay login: %w", err)
	}
	return &l.session, nil
}

// bounded runs f under the limits of a login and tells the client of its error.
func (l *login) bounded(ctx context.Context, f func(context.Context) error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	undo := [2]Limits{l.client.lim, l.server.lim}
	// The connections beneath TLS, so that what follows may run while it starts.
	raw := [2]net.Conn{l.client.nc, l.server.nc}
	for _, c := range [2]*Conn{l.client, l.server} {
		c.lim.Load, c.lim.Read, c.lim.Write = handshakeLoad, 0, 0
		if err := c.nc.SetDeadline(time.Time{}); err != nil {
			return err
		}
		c.idle, c.rd.limit, c.wd.limit = false, 0, 0
	}
	stop := context.AfterFunc(ctx, func() {
		raw[0].SetReadDeadline(time.Unix(1, 0))
		raw[1].SetDeadline(time.Unix(1, 0))
		// A moment to tell the client.
		raw[0].SetWriteDeadline(time.Now().Add(time.Second))
	})
	err := f(ctx)
	if err != nil {
		l.tell(err)
	}
	l.client.lim, l.server.lim = undo[0], undo[1]
	if !stop() && err == nil { // too late, and deadlines are set
		err = ctx.Err()
	}
	return err
}

// tell tells the client why its login ends, unless it knows.
func (l *login) tell(err error) {
	r := &refusal{code: CodeUnknown, state: "HY000", text: "the login could not be completed"}
	errors.As(err, &r)
	if state := r.state; !l.told {
		if l.session.Greeting == nil {
			state = ""
		}
		l.client.WriteErr(r.code, state, r.text)
	}
	l.client.Flush()
}

// A refusal is an error the client is told about in an error packet.
type refusal struct {
	code        uint16
	state, text string
	err         error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.err }

func refusePlugin(plugin []byte) error {
	if len(plugin) > 64 {
		plugin = plugin[:64]
	}
	return &refusal{CodeAuthPlugin, "08004",
		fmt.Sprintf("authentication plugin %q cannot be relayed", plugin), ErrUnsupported}
}

func refuseInsecure(text string) error {
	return &refusal{CodeAccessDenied, "28000", text, ErrInsecure}
}

// login is the state of one login, or one change of user.
type login struct {
	client, server *Conn
	cfg            *LoginConfig
	session        Session
	offered        Capabilities
	plugin         string // whose exchange goes on, about session.scramble
	told           bool   // the client has been told of the error
}

func (l *login) run(ctx context.Context) error {
	if l.server.unix() && !l.cfg.AllowSocket {
		return &refusal{CodeAccessDenied, "28000", "the gate's connection to its backend is not safe", fmt.Errorf("backend by unix socket: %w", ErrInsecure)}
	}
	if err := l.greet(); err != nil {
		return err
	}
	req, err := l.request(ctx)
	if err != nil {
		return err
	}
	if l.cfg.Admit != nil {
		if err := l.cfg.Admit(req); err != nil {
			return &refusal{CodeAccessDenied, "28000", "access denied", err}
		}
	}
	l.session.User, l.session.Database, l.session.Charset, l.session.Attrs = req.User, req.Database, req.Charset, req.Attrs
	l.plugin, l.session.scramble = req.AuthPlugin, l.session.Greeting.Scramble
	req.Auth = l.firstAnswer(req.Auth)
	req.AuthPlugin = l.plugin
	if err := l.forward(ctx, req); err != nil {
		return err
	}
	return l.exchange()
}

// greet passes the server's greeting on, masked.
func (l *login) greet() error {
	p, err := l.server.ReadPacket()
	if err != nil {
		return err
	}
	if len(p) > 0 && p[0] == errHeader {
		return l.denied(p)
	}
	g, err := DecodeGreeting(p)
	if err != nil {
		return err
	}
	if !g.Capabilities.Has(required | PluginAuth) {
		return fmt.Errorf("backend's greeting: %w", ErrUnsupported)
	}
	mask := l.cfg.Mask
	if mask == 0 {
		mask = Relayable
	}
	masked := *g
	masked.Capabilities = Offer(g.Capabilities, mask, l.cfg.ClientTLS != nil)
	l.session.Greeting, l.offered = g, masked.Capabilities
	return l.client.WritePacket(masked.Append(nil))
}

// request reads the client's login request, starting TLS before it if asked.
func (l *login) request(ctx context.Context) (*LoginRequest, error) {
	p, err := l.client.ReadPacket()
	if err != nil {
		return nil, err
	}
	if IsSSLRequest(p) {
		if l.cfg.ClientTLS == nil {
			return nil, &refusal{CodeHandshake, "08S01", "TLS is not available", ErrUnsupported}
		}
		if err := l.client.StartTLS(ctx, l.cfg.ClientTLS); err != nil {
			l.told = true
			return nil, err
		}
		if p, err = l.client.ReadPacket(); err != nil {
			return nil, err
		}
	}
	req, err := DecodeLoginRequest(p)
	if err != nil {
		return nil, &refusal{CodeHandshake, "08S01", "bad handshake", err}
	}
	if l.cfg.RequireTLS && !l.client.private() {
		return nil, refuseInsecure("connections without TLS are not allowed")
	}
	if !req.Capabilities.Has(required) {
		return nil, &refusal{CodeHandshake, "08S01", "bad handshake", fmt.Errorf("client too old: %w", ErrUnsupported)}
	}
	return req, nil
}

// noPlugin is no account's plugin, so a server told that the client uses it
// switches to the account's.
const noPlugin = "veildb_relay"

// firstAnswer is the client's answer to the server's first challenge, as it may
// go to the server, for l.plugin. Where it may be the password itself it goes
// nowhere, and the server is made to ask again.
func (l *login) firstAnswer(answer []byte) []byte {
	switch {
	case l.plugin == "": // a client without PluginAuth
		l.plugin = PluginNative
	case !challenged(l.plugin):
		clear(answer)
		l.plugin, answer = noPlugin, nil
	}
	return answer
}

// forward sends the request to the server with the capabilities both sides use.
func (l *login) forward(ctx context.Context, req *LoginRequest) error {
	caps := Agree(req.Capabilities, l.offered)
	sent := *req
	sent.Capabilities = caps
	if l.cfg.ServerTLS != nil {
		if !l.session.Greeting.Capabilities.Has(SSL) {
			return refuseInsecure("the backend does not offer TLS")
		}
		sent.Capabilities |= SSL
		ssl := SSLRequest{sent.Capabilities, sent.MaxPacket, sent.Charset}
		if err := l.server.WritePacket(ssl.Append(nil)); err != nil {
			return err
		}
		if err := l.server.StartTLS(ctx, l.cfg.ServerTLS); err != nil {
			return err
		}
	}
	if !caps.Has(PluginAuthLenenc) && len(sent.Auth) > 255 {
		return malformed("login request")
	}
	l.client.Caps, l.server.Caps = caps, caps
	return l.server.WritePacket(sent.Append(nil))
}
