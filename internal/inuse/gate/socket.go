package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrSocketAccount means an account that needs no password because of the operating
// system's user at the other end of the server's unix socket: that is the gate's, not
// the client's.
var ErrSocketAccount = errors.New("the account can log in as a user of the operating system, and through a gate at a unix socket that would be the gate's")

// checkSocket refuses the session's account if the server may have let it in for the
// gate's own user. Nothing in the login tells: the server asks the socket, not the
// client. So it counts what the account could do, in any of its ways to log in, and
// that of the account it is a proxy for.
func (ss *session) checkSocket() error {
	if ss.backend.Network != "unix" {
		return nil
	}
	var accounts [][2]string
	err := queryStrings(ss.server, "SELECT CAST(CURRENT_USER() AS BINARY), IFNULL(CAST(@@proxy_user AS BINARY), '') LIMIT 1", func(v []string) {
		accounts = append(accounts, cutAccount(v[0]))
		if v[1] != "" {
			accounts = append(accounts, cutAccount(strings.ReplaceAll(strings.Trim(v[1], "'"), "'@'", "@")))
		}
	})
	if err != nil {
		return err
	}
	if len(accounts) == 0 {
		return errIdentity
	}
	ctx, cancel := context.WithTimeout(context.Background(), serviceTimeout)
	defer cancel()
	c, err := ss.backend.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, a := range accounts {
		created := ""
		err := queryStrings(c, "SHOW CREATE USER `"+escapeName(a[0])+"`@`"+escapeName(a[1])+"`", func(v []string) { created = v[0] })
		if err != nil {
			return fmt.Errorf("%w, or cannot be examined: %w", ErrSocketAccount, err)
		}
		if bySocket(created) {
			return ErrSocketAccount
		}
	}
	return nil
}

// bySocket reports whether an account, as SHOW CREATE USER shows it, can log in with
// MariaDB's plugin unix_socket or MySQL's auth_socket.
func bySocket(created string) bool {
	created = fold(created)
	if i := strings.Index(created, " identified "); i >= 0 {
		created = created[i:] // past the account's name
	}
	return strings.Contains(created, "unix_socket") || strings.Contains(created, "auth_socket")
}

// cutAccount cuts user@host, of which the host holds no @.
func cutAccount(s string) [2]string {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return [2]string{s, ""}
	}
	return [2]string{s[:i], s[i+1:]}
}
