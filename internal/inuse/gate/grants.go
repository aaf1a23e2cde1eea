package gate

import (
	"errors"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/token"
)

// A grantError says which privileges an account must not have. It matches
// ErrPrivileges.
type grantError struct{ held []string }

func (e *grantError) Error() string {
	return ErrPrivileges.Error() + ": " + strings.Join(e.held, ", ")
}

// Is reports whether target is ErrPrivileges.
func (e *grantError) Is(target error) bool { return target == ErrPrivileges }

// harmless are the privileges on *.* that a restricted account may have: the rest
// reads the mysql schema, files, logs or other sessions, or changes accounts.
var harmless = []string{"USAGE", "SHOW DATABASES", "LOCK TABLES", "EXECUTE", "CREATE TEMPORARY TABLES"}

// reserved are the schemas on which it may have none.
var reserved = []string{"mysql", "performance_schema", "sys", SharedDatabase}

// checkGrants asks the server, in the session itself, what privileges its account
// has, and fails with ErrPrivileges if it has some that a restricted one must not
// have.
func (ss *session) checkGrants() error {
	if ss.granted || ss.srv.cfg.TrustGrants {
		ss.granted = true
		return nil
	}
	held, err := readGrants(ss.server, "")
	if err != nil {
		return err
	}
	if len(held) > 0 {
		return &grantError{held}
	}
	ss.granted = true
	return nil
}

// readGrants returns the privileges of an account, its roles' included, that a
// restricted one must not have. account is as SHOW GRANTS FOR wants it, "" for the
// session's own: of MariaDB's roles it is then the active one's, which is part of
// what the server shows, and SET ROLE is refused.
func readGrants(c *wire.Conn, account string) (held []string, err error) {
	show := "SHOW GRANTS"
	if account != "" {
		show += " FOR " + account
	}
	const maxRoles = 64
	roles, seen := []string{}, map[string]bool{}
	for queries := []string{show}; len(queries) > 0; queries = queries[1:] {
		err := queryStrings(c, queries[0], func(v []string) {
			g := parseGrant(v[0])
			held = append(held, g.held...)
			roles = append(roles, g.roles...)
		})
		if err != nil {
			var se *wire.ServerError
			if errors.As(err, &se) && len(seen) > 0 {
				// A role whose privileges the account may not see.
				return append(held, "a role that cannot be examined"), nil
			}
			return nil, err
		}
		for _, r := range roles {
			if seen[r] || account == "" && !strings.Contains(r, "\x00") {
				continue
			}
			seen[r] = true
			if queries = append(queries, roleQuery(show, r)); len(seen) > maxRoles {
				return append(held, "more roles than can be examined"), nil
			}
		}
		roles = roles[:0]
	}
	if account != "" { // of everybody, in MariaDB; in the session's own they are shown
		err := queryStrings(c, "SHOW GRANTS FOR PUBLIC", func(v []string) { held = append(held, parseGrant(v[0]).held...) })
		var none *wire.ServerError
		if err != nil && !errors.As(err, &none) {
			return nil, err
		}
	}
	slices.Sort(held)
	return slices.Compact(held), nil
}

// roleQuery asks for the privileges of a role: MariaDB's have no host, MySQL's do.
func roleQuery(show, role string) string {
	name, host, found := strings.Cut(role, "\x00")
	if !found {
		return "SHOW GRANTS FOR " + quoteName(name)
	}
	if !strings.Contains(show, " FOR ") {
		show += " FOR CURRENT_USER()"
	}
	return show + " USING " + quoteName(name) + "@" + quoteName(host)
}

// A grant is what a line of SHOW GRANTS says.
type grant struct {
	held  []string // privileges a restricted account must not have
	roles []string // name, or name NUL host
}

// parseGrant reads a line of SHOW GRANTS:
//
//	GRANT privilege [(columns)], ... ON [kind] object TO account ...
//	GRANT role[@host], ... TO account
//
// What it does not understand is held. Names may be in any character set that has
// ASCII: those that matter are ASCII.
func parseGrant(line string) (g grant) {
	// The account without a name, which no statement could be read with.
	if at := strings.LastIndex(line, " TO ``@"); at >= 0 {
		line = line[:at] + " TO `-`@" + line[at+len(" TO ``@"):]
	}
	var t token.Text
	if t.Scan([]byte(strings.ToValidUTF8(line, "?")), token.Mode{}) != nil {
		return grant{held: []string{"a grant that cannot be read"}}
	}
	if t.IsWord(0, "SET") || t.IsWord(0, "REVOKE") { // a default role, a right taken back
		return g
	}
	if !t.IsWord(0, "GRANT") {
		return grant{held: []string{"a grant that cannot be read"}}
	}
	privileges, i := grantedPrivileges(&t)
	if t.IsWord(i, "TO") {
		g.roles = grantedRoles(&t, i)
		return g
	}
	if slices.Contains(privileges, "PROXY") {
		return grant{held: []string{"PROXY"}}
	}
	i++ // ON
	for _, kind := range []string{"FUNCTION", "PROCEDURE", "PACKAGE", "BODY", "TABLE"} {
		if t.IsWord(i, kind) && !t.IsSymbol(i+1, ".") {
			i++
		}
	}
	if t.IsSymbol(i, "*") && t.IsSymbol(i+1, ".") {
		for _, p := range privileges {
			if !slices.Contains(harmless, p) {
				g.held = append(g.held, p+" ON *.*")
			}
		}
		if last := len(t.Tokens) - 1; t.IsWord(last, "OPTION") && t.IsWord(last-1, "GRANT") {
			g.held = append(g.held, "GRANT OPTION ON *.*")
		}
		return g
	}
	if !t.IsSymbol(i+1, ".") {
		return grant{held: []string{"a grant that cannot be read"}}
	}
	pattern, object := nameOf(&t, i), "*"
	if !t.IsSymbol(i+2, "*") {
		object = quoteName(nameOf(&t, i+2))
	}
	for _, r := range reserved {
		if len(privileges) > 0 && like(strings.ToLower(pattern), r) {
			g.held = append(g.held, strings.Join(privileges, ", ")+" ON "+quoteName(pattern)+"."+object)
			break
		}
	}
	return g
}

func quoteName(s string) string { return "`" + escapeName(s) + "`" }

// grantedPrivileges reads the privileges of a grant and returns the token after
// them.
func grantedPrivileges(t *token.Text) (out []string, i int) {
	var words []string
	end := func() {
		if len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
		words = nil
	}
	depth := 0
	for i = 1; i < len(t.Tokens); i++ {
		switch {
		case t.IsSymbol(i, "("):
			depth++
		case t.IsSymbol(i, ")"):
			depth--
		case depth > 0:
		case t.IsWord(i, "ON"), t.IsWord(i, "TO"):
			end()
			return out, i
		case t.IsSymbol(i, ","):
			end()
		default:
			words = append(words, strings.ToUpper(string(t.Bytes(i))))
		}
	}
	end()
	return out, i
}

// grantedRoles reads the roles before token end.
func grantedRoles(t *token.Text, end int) (out []string) {
	for i := 1; i < end; i++ {
		name := nameOf(t, i)
		if t.IsSymbol(i+1, "@") && i+2 < end {
			name += "\x00" + nameOf(t, i+2)
			i += 2
		}
		out = append(out, name)
		i++ // the comma
	}
	return out
}

// nameOf is a name, whatever it is quoted with.
func nameOf(t *token.Text, i int) string {
	if i >= len(t.Tokens) {
		return ""
	}
	b := t.Bytes(i)
	if len(b) >= 2 && (b[0] == '`' || b[0] == '\'' || b[0] == '"') {
		q := string(b[:1])
		return strings.ReplaceAll(string(b[1:len(b)-1]), q+q, q)
	}
	return string(b)
}

// like matches a name with a pattern of a grant: % stands for any characters, _
// for one, and a backslash takes the meaning of the next.
func like(pattern, name string) bool {
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '%':
			for j := 0; j <= len(name); j++ {
				if like(pattern[i+1:], name[j:]) {
					return true
				}
			}
			return false
		case c == '\\' && i+1 < len(pattern):
			i++
			c = pattern[i]
			fallthrough
		default:
			if name == "" || name[0] != c && (c != '_' || i > 0 && pattern[i-1] == '\\') {
				return false
			}
			name = name[1:]
		}
	}
	return name == ""
}
