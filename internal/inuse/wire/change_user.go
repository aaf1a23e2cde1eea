package wire

import (
	"context"
	"encoding/binary"
	"fmt"
)

// A ChangeUser is a COM_CHANGE_USER.
type ChangeUser struct {
	User       string
	Auth       []byte
	Database   string
	Charset    uint16 // collation number; 0 if not sent
	AuthPlugin string
	Attrs      []byte
}

// DecodeChangeUser decodes a COM_CHANGE_USER into memory of its own.
func DecodeChangeUser(p []byte, caps Capabilities) (*ChangeUser, error) {
	d := decoder{b: p}
	d.expect(byte(ComChangeUser))
	u := &ChangeUser{User: string(d.nul())}
	if caps.Has(SecureConnection) {
		u.Auth = clone(d.take(uint64(d.u8())))
	} else {
		u.Auth = clone(d.nul())
	}
	u.Database = string(d.nulOrRest())
	if d.more() {
		u.Charset = d.u16()
	}
	if caps.Has(PluginAuth) && d.more() {
		u.AuthPlugin = string(d.nulOrRest())
	}
	if caps.Has(ConnectAttrs) && d.more() {
		u.Attrs = clone(d.lenencBytes())
	}
	if err := d.endLax("change user command"); err != nil {
		return nil, err
	}
	return u, nil
}

// Append appends the packet's payload to dst.
func (u *ChangeUser) Append(dst []byte, caps Capabilities) []byte {
	dst = appendNul(append(dst, byte(ComChangeUser)), u.User)
	if caps.Has(SecureConnection) {
		dst = append(append(dst, byte(len(u.Auth))), u.Auth...)
	} else {
		dst = appendNul(dst, u.Auth)
	}
	dst = appendNul(dst, u.Database)
	dst = binary.LittleEndian.AppendUint16(dst, u.Charset)
	if caps.Has(PluginAuth) {
		dst = appendNul(dst, u.AuthPlugin)
		if caps.Has(ConnectAttrs) {
			dst = AppendLenencBytes(dst, u.Attrs)
		}
	}
	return dst
}

// RelayChangeUser relays a COM_CHANGE_USER, whose payload is p, and the login
// that follows. old is the session until now. The server's session is new then:
// statements, variables and locks are gone. On an error, of those RelayLogin
// has, the caller closes both connections, as the server does for most.
func RelayChangeUser(ctx context.Context, p []byte, client, server *Conn, old *Session, cfg *LoginConfig) (*Session, error) {
	l := &login{client: client, server: server, cfg: cfg, session: *old}
	if err := l.bounded(ctx, func(context.Context) error { return l.changeUser(p) }); err != nil {
		return nil, fmt.Errorf("relay change of user: %w", err)
	}
	return &l.session, nil
}

func (l *login) changeUser(p []byte) error {
	caps := l.client.Caps
	u, err := DecodeChangeUser(p, caps)
	if err != nil {
		return &refusal{CodeHandshake, "08S01", "bad handshake", err}
	}
	if l.cfg.Admit != nil {
		req := LoginRequest{Capabilities: caps, Charset: byte(u.Charset), User: u.User, Database: u.Database, AuthPlugin: u.AuthPlugin, Attrs: u.Attrs}
		if err := l.cfg.Admit(&req); err != nil {
			return &refusal{CodeAccessDenied, "28000", "access denied", err}
		}
		u.Attrs = req.Attrs
	}
	l.session.User, l.session.Database, l.session.Attrs = u.User, u.Database, u.Attrs
	if u.Charset != 0 {
		l.session.Charset = byte(u.Charset)
	}
	// Client and server both still use the last challenge, which was relayed.
	l.plugin = u.AuthPlugin
	u.Auth = l.firstAnswer(u.Auth)
	u.AuthPlugin = l.plugin
	if len(u.Auth) > 255 {
		return malformed("change user command")
	}
	if err := l.server.WriteCommand(u.Append(nil, caps)); err != nil {
		return err
	}
	return l.exchange()
}
