package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// Accounts are a server's accounts as far as they matter to a gate.
type Accounts struct {
	// Gate is the address the gate comes from, as the server sees it, "localhost"
	// for a socket. User and Host are its own account's.
	Gate, User, Host string
	Bind             string   // where the server listens
	Databases        []string // those that are not the server's own
	Restricted       []Account
	Unnamed          []string // user@host of those no list of the rules names
}

// An Account is one that the rules restrict.
type Account struct {
	User, Host string
	Held       []string // privileges it must not have
	Around     bool     // may log in from elsewhere than the gate
}

func (a *Account) String() string { return a.User + "@" + a.Host }

func (a *Account) sql() string { return quoteText(a.User) + "@" + quoteText(a.Host) }

func quoteText(s string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(s) + "'"
}

// ReadAccounts reads accounts and privileges over c, which is logged in as the
// service account.
func ReadAccounts(c *wire.Conn, set *policy.Set) (*Accounts, error) {
	a := &Accounts{}
	err := queryStrings(c, "SELECT SUBSTRING_INDEX(USER(), '@', -1), SUBSTRING_INDEX(CURRENT_USER(), '@', 1), SUBSTRING_INDEX(CURRENT_USER(), '@', -1), IFNULL(@@bind_address, '')", func(v []string) {
		a.Gate, a.User, a.Host, a.Bind = v[0], v[1], v[2], v[3]
	})
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	err = queryStrings(c, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN "+systemSchemas+" ORDER BY 1", func(v []string) {
		a.Databases = append(a.Databases, v[0])
	})
	if err != nil {
		return nil, fmt.Errorf("read databases: %w", err)
	}
	var all []Account
	err = queryStrings(c, "SELECT User, Host FROM mysql.user WHERE Host <> '' ORDER BY User, Host", func(v []string) {
		all = append(all, Account{User: v[0], Host: v[1]})
	})
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	for _, acc := range all {
		switch {
		case acc.User == a.User && acc.Host == a.Host, acc.User == "mariadb.sys", strings.HasPrefix(acc.User, "mysql."):
			continue
		case !set.Named(acc.User):
			a.Unnamed = append(a.Unnamed, acc.String())
			continue
		case set.For(acc.User, acc.Host).Least() == policy.Full || set.For(acc.User, "").Least() == policy.Full:
			continue
		}
		if acc.Held, err = readGrants(c, acc.sql()); err != nil {
			return nil, fmt.Errorf("read privileges: %w", err)
		}
		acc.Around = acc.Host != a.Gate
		a.Restricted = append(a.Restricted, acc)
	}
	return a, nil
}

// local reports whether only programs of the server's machine reach it.
func (a *Accounts) local() bool {
	for addr := range strings.SplitSeq(a.Bind, ",") {
		if addr = strings.TrimSpace(addr); addr != "127.0.0.1" && addr != "::1" && addr != "localhost" {
			return false
		}
	}
	return true
}

// Check says what of the accounts does not fit the gate.
func (a *Accounts) Check() (out []Finding) {
	for i := range a.Restricted {
		acc := &a.Restricted[i]
		if len(acc.Held) > 0 {
			out = append(out, Finding{Bad: true, Reason: fmt.Sprintf("account %s cannot log in through the gate: it holds %s", acc, strings.Join(acc.Held, ", "))})
		}
		if acc.Around {
			reason := fmt.Sprintf("account %s may log in around the gate, which comes from %s", acc, a.Gate)
			if a.local() {
				reason += "; from the server's machine only"
			}
			out = append(out, Finding{Bad: !a.local(), Reason: reason})
		}
	}
	if len(a.Unnamed) > 0 {
		list := strings.Join(a.Unnamed[:min(len(a.Unnamed), 10)], ", ")
		if more := len(a.Unnamed) - 10; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, Finding{Reason: "no list of the rules names these accounts, which are blocked: " + list})
	}
	return out
}

// WriteGrants writes statements that give the accounts what they need and no more.
// An administrator should read them before running them.
func (a *Accounts) WriteGrants(w io.Writer) error {
	var b strings.Builder
	own := Account{User: a.User, Host: a.Host}
	fmt.Fprintf(&b, "-- The gate's own account reads definitions.\nGRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO %s;\n", own.sql())
	for i := range a.Restricted {
		acc := &a.Restricted[i]
		fmt.Fprintf(&b, "\n-- %s gets ciphertext.\n", acc)
		all := false
		for _, h := range acc.Held {
			privileges, object, found := strings.Cut(h, " ON ")
			if !found {
				fmt.Fprintf(&b, "-- Holds %s: see SHOW GRANTS.\n", h)
				continue
			}
			all = all || object == "*.*" && slices.Contains([]string{"ALL PRIVILEGES", "SELECT", "INSERT", "UPDATE", "DELETE"}, privileges)
			fmt.Fprintf(&b, "REVOKE %s ON %s FROM %s;\n", privileges, object, acc.sql())
		}
		if all {
			b.WriteString("-- In place of what it had everywhere; leave out what it does not use.\n")
			for _, db := range a.Databases {
				fmt.Fprintf(&b, "GRANT SELECT, INSERT, UPDATE, DELETE ON %s.* TO %s;\n", quoteName(strings.NewReplacer("_", `\_`, "%", `\%`).Replace(db)), acc.sql())
			}
		}
		if acc.Around {
			to := Account{User: acc.User, Host: a.Gate}
			if slices.ContainsFunc(a.Restricted, func(o Account) bool { return o.String() == to.String() }) {
				fmt.Fprintf(&b, "-- The gate uses %s.\nDROP USER %s;\n", &to, acc.sql())
			} else {
				fmt.Fprintf(&b, "-- From the gate only.\nRENAME USER %s TO %s;\n", acc.sql(), to.sql())
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
