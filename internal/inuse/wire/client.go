package wire

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
)

// A Credential logs the program itself in, as [Login] does, for its own
// statements beside those it relays.
type Credential struct {
	User string
	// Password is the account's; Login does not keep it. The account must
	// be of mysql_native_password or caching_sha2_password, the latter over
	// TLS or a unix socket unless the server remembers it.
	Password []byte
	Database string
	// TLS, if set, is required of the server.
	TLS *tls.Config
	// Caps are asked for beside what the protocol needs.
	Caps Capabilities
	// Charset is a collation number. 0: 45, utf8mb4_general_ci.
	Charset byte
	// Attrs are connection attributes; see AppendAttr.
	Attrs []byte
}

// Login logs in on c, just connected with NewBackend, and returns the server's
// greeting. It returns ErrDenied, ErrInsecure or ErrUnsupported.
func Login(ctx context.Context, c *Conn, cred *Credential) (*Greeting, error) {
	g, err := logIn(ctx, c, cred)
	if err != nil {
		return nil, fmt.Errorf("log in: %w", err)
	}
	return g, nil
}

func logIn(ctx context.Context, c *Conn, cred *Credential) (*Greeting, error) {
	p, err := c.ReadPacket()
	if err != nil {
		return nil, err
	}
	if err := deniedBy(p); err != nil {
		return nil, err
	}
	g, err := DecodeGreeting(p)
	if err != nil {
		return nil, err
	}
	req := &LoginRequest{
		Capabilities: LongFlag | Protocol41 | Transactions | SecureConnection | PluginAuth | MultiResults | PSMultiResults | cred.Caps,
		MaxPacket:    MaxPacket, Charset: cred.Charset,
		User: cred.User, Database: cred.Database, AuthPlugin: g.AuthPlugin, Attrs: cred.Attrs,
	}
	if req.Charset == 0 {
		req.Charset = 45
	}
	if cred.Database != "" {
		req.Capabilities |= ConnectWithDB
	}
	if len(cred.Attrs) > 0 {
		req.Capabilities |= ConnectAttrs
	}
	// A MySQL server has LongPassword, and then the extended flags are void.
	req.Capabilities &= g.Capabilities | LongPassword&cred.Caps
	if !challenged(req.AuthPlugin) || req.AuthPlugin == PluginEd25519 {
		req.AuthPlugin = PluginNative
	}
	if cred.TLS != nil {
		if !g.Capabilities.Has(SSL) {
			return nil, fmt.Errorf("server has no TLS: %w", ErrInsecure)
		}
		req.Capabilities |= SSL
		if err := c.WritePacket(SSLRequest{req.Capabilities, req.MaxPacket, req.Charset}.Append(nil)); err != nil {
			return nil, err
		}
		if err := c.StartTLS(ctx, cred.TLS); err != nil {
			return nil, err
		}
	}
	req.Auth, _ = answer(req.AuthPlugin, g.Scramble, cred.Password)
	c.Caps = req.Capabilities &^ SSL
	if err := c.WritePacket(req.Append(nil)); err != nil {
		return nil, err
	}
	return g, loginRounds(c, cred.Password, req.AuthPlugin)
}

func loginRounds(c *Conn, password []byte, plugin string) error {
	for range maxAuthRounds {
		p, err := c.ReadPacket()
		if err != nil {
			return err
		}
		if err := deniedBy(p); err != nil {
			return err
		}
		switch {
		case len(p) > 0 && p[0] == okHeader:
			return nil
		case len(p) > 0 && p[0] == authSwitchHeader:
			sw, err := DecodeAuthSwitch(p)
			if err != nil {
				return err
			}
			plugin = string(sw.Plugin)
			auth, err := answer(plugin, sw.Challenge(), password)
			if err != nil {
				return err
			}
			if err := c.WritePacket(auth); err != nil {
				return err
			}
		case plugin == PluginCaching && len(p) == 2 && p[1] == cachingFastOK:
		case plugin == PluginCaching && len(p) == 2 && p[1] == cachingFull:
			if !c.private() {
				return fmt.Errorf("password over a connection without TLS: %w", ErrInsecure)
			}
			if err := c.sendSecret(append(clone(password), 0)); err != nil {
				return err
			}
		default:
			return malformed("authentication packet")
		}
	}
	return errors.New("too many authentication rounds")
}

// deniedBy is an error for an error packet.
func deniedBy(p []byte) error {
	if len(p) == 0 || p[0] != errHeader {
		return nil
	}
	e, err := DecodeErr(p)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w (error %d)", ErrDenied, e.Code)
}

// answer is the answer to a challenge: for mysql_native_password
//
//	SHA1(pw) XOR SHA1(challenge || SHA1(SHA1(pw)))
//
// and for caching_sha2_password
//
//	SHA256(pw) XOR SHA256(SHA256(SHA256(pw)) || challenge)
//
// and nothing for an empty password.
func answer(plugin string, challenge, password []byte) ([]byte, error) {
	if plugin != PluginNative && plugin != PluginCaching {
		return nil, fmt.Errorf("authentication plugin of the account: %w", ErrUnsupported)
	}
	if len(password) == 0 {
		return nil, nil
	}
	var mask, key []byte
	if plugin == PluginNative {
		a := sha1.Sum(password)
		b := sha1.Sum(a[:])
		m := sha1.Sum(append(clone(challenge), b[:]...))
		key, mask = a[:], m[:]
	} else {
		a := sha256.Sum256(password)
		b := sha256.Sum256(a[:])
		m := sha256.Sum256(append(b[:], challenge...))
		key, mask = a[:], m[:]
	}
	for i := range mask {
		mask[i] ^= key[i]
	}
	return mask, nil
}

// A ServerError is what the server answered to a statement of ours.
type ServerError struct {
	Code  uint16
	State string // SQLSTATE
	// Message can hold values of the database; Error leaves it out.
	Message string
}

func (e *ServerError) Error() string { return fmt.Sprintf("server error %d (%s)", e.Code, e.State) }

// RunQuery runs one statement on c, which is logged in with no answer pending, and
// calls row for every row of every result with the columns' values, nil for
// NULL, valid until row returns. columns and values have the same length. An
// error of row ends the reading of rows and is returned once the answer is
// read; an error packet is returned as *ServerError.
func RunQuery(c *Conn, sql string, row func(columns []Column, values [][]byte) error) error {
	if err := c.WriteCommand(AppendQuery(nil, nil, []byte(sql), c.Caps)); err != nil {
		return err
	}
	q := query{c: c, row: row}
	q.resp.Start(ComQuery, c.Caps)
	for !q.resp.Done() {
		if err := q.next(); err != nil {
			return err
		}
	}
	return q.err
}

type query struct {
	c       *Conn
	row     func([]Column, [][]byte) error
	resp    Response
	columns []Column
	fields  []Field
	values  [][]byte
	err     error // the first of row or the server
}

func (q *query) next() error {
	kind, err := q.resp.Next(q.c)
	if err != nil {
		return err
	}
	switch kind {
	case KindColumns:
		q.columns = q.columns[:0]
	case KindColumn:
		var col Column
		if err := col.Decode(q.c.Payload(), q.c.Caps); err != nil {
			return err
		}
		q.columns = append(q.columns, col.Clone())
	case KindRow:
		return q.oneRow()
	case KindErr:
		e, err := DecodeErr(q.c.Payload())
		if err != nil {
			return err
		}
		if q.err == nil {
			q.err = &ServerError{e.Code, string(e.State), string(e.Message)}
		}
	case KindInfile:
		return q.c.WritePacket(nil)
	}
	return nil
}

func (q *query) oneRow() error {
	p, err := q.c.Load()
	if err != nil {
		return err
	}
	if q.fields, err = DecodeTextRow(p, len(q.columns), q.fields); err != nil {
		return err
	}
	q.values = q.values[:0]
	for _, f := range q.fields {
		q.values = append(q.values, f.Value(p))
	}
	if q.err == nil && q.row != nil {
		q.err = q.row(q.columns, q.values)
	}
	return nil
}
