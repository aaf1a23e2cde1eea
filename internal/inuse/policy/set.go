package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/veildb/veildb/internal/sql/schema"
)

// reservedPrefix is that of the rules the vendor's servers make themselves.
const reservedPrefix = "encdb_spreaded_rule_"

// maxCached is how many columns and tables a Set remembers the rules of.
const maxCached = 1 << 16

const maxWarnings = 1000

// A Set is rules ready for use. It never changes and is safe for concurrent
// use.
type Set struct {
	names      schema.Names
	doc        Document
	rules      []rule // those that are enabled
	levels     levels
	admins     []account
	registrars []account
	digest     string
	warnings   []Problem

	mu      sync.RWMutex
	columns map[schema.Column][]*rule // by the names as they were asked for
	tables  map[schema.Column][]*rule // Column is ""
}

// A rule is a compiled Rule.
type rule struct {
	name                       string
	line                       int
	databases, tables, columns []pattern
	own                        bool // it has levels in place of the Set's
	levels                     levels
	inference                  Inference
	grants                     Grant
}

// Parse reads rules in the form of a Document for a server that compares names
// so. An *Error says all that is wrong with them.
func Parse(text []byte, names schema.Names) (*Set, error) {
	d, err := ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return Compile(d, names)
}

// Compile makes a Set of a Document, which it keeps a copy of. An *Error says
// all that is wrong with it.
func Compile(d *Document, names schema.Names) (*Set, error) {
	p := new(problems)
	sum := sha256.Sum256(d.Encode())
	s := &Set{names: names, doc: *d, digest: hex.EncodeToString(sum[:8])}
	s.doc.Rules = append([]Rule(nil), d.Rules...)
	s.levels = p.compileLevels(&d.Accounts)
	s.admins = p.compileAccounts(d.Admins, "admins")
	s.registrars = p.compileAccounts(d.Registrars, "registrars")
	seen := map[string]int{}
	for i := range d.Rules {
		r := &d.Rules[i]
		if first, ok := seen[r.Name]; ok {
			p.wrong(r.Line, "rule %q: the name is taken by the rule of line %d", r.Name, first)
		}
		seen[r.Name] = r.Line
		c := s.compile(p, r)
		if !r.Disabled {
			s.rules = append(s.rules, c)
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	s.findOverlaps(p)
	s.warnings = p.warnings
	s.columns, s.tables = map[schema.Column][]*rule{}, map[schema.Column][]*rule{}
	return s, nil
}

func (s *Set) compile(p *problems, r *Rule) rule {
	c := rule{name: r.Name, line: r.Line}
	if r.Name == "" {
		p.wrong(r.Line, "a rule has no name")
	}
	if len(r.Name) >= len(reservedPrefix) && r.Name[:len(reservedPrefix)] == reservedPrefix {
		p.wrong(r.Line, "rule %q: names beginning with %s are reserved", r.Name, reservedPrefix)
	}
	patterns := func(what string, list []Entry, fold func(string) string) (out []pattern) {
		if len(list) == 0 {
			p.wrong(r.Line, "rule %q: %s is missing; write %s: [\"*\"] for all", r.Name, what, what)
		}
		for _, e := range list {
			if e.Text == "" {
				p.wrong(e.Line, "rule %q: an empty name in %s", r.Name, what)
			}
			out = append(out, pattern(fold(e.Text)))
		}
		return out
	}
	c.databases = patterns("databases", r.Databases, s.names.FoldTable)
	c.tables = patterns("tables", r.Tables, s.names.FoldTable)
	c.columns = patterns("columns", r.Columns, schema.FoldColumn)
	c.inference, c.grants = p.compileInference(r)
	if r.Accounts != nil {
		c.own, c.levels = true, p.compileLevels(r.Accounts)
	}
	return c
}

// findOverlaps warns of columns that two rules name. The strictest level
// counts, but whoever wrote the rules may have thought otherwise.
func (s *Set) findOverlaps(p *problems) {
	for i := range s.rules {
		for j := range s.rules[:i] {
			if len(p.warnings) >= maxWarnings {
				return
			}
			a, b := &s.rules[j], &s.rules[i]
			if overlap(a.columns, b.columns) && overlap(a.tables, b.tables) && overlap(a.databases, b.databases) {
				p.warn(b.line, "rule %q names columns that rule %q of line %d names too; the strictest of their levels counts", b.name, a.name, a.line)
			}
		}
	}
}

func overlap(a, b []pattern) bool {
	for _, x := range a {
		for _, y := range b {
			if intersects(x, y) {
				return true
			}
		}
	}
	return false
}

// Warnings returns what is doubtful about the rules.
func (s *Set) Warnings() []Problem { return s.warnings }

// Digest identifies the rules, so that several gates can be compared. It does
// not depend on comments and layout.
func (s *Set) Digest() string { return s.digest }

// Document returns the rules as they were written. It must not be changed.
func (s *Set) Document() *Document { return &s.doc }

// Len returns how many rules are enabled.
func (s *Set) Len() int { return len(s.rules) }

// MayChange reports whether an account may change rules over the protocol.
func (s *Set) MayChange(user, host string) bool {
	return anyAccount(s.admins, newClient(user, host))
}

// MayRegister reports whether an account may bring new master keys.
func (s *Set) MayRegister(user, host string) bool {
	return anyAccount(s.registrars, newClient(user, host))
}

// Named reports whether some list of accounts has an entry of that user, from
// whatever host. Others are blocked because nobody thought of them.
func (s *Set) Named(user string) bool {
	if s.levels.names(user) {
		return true
	}
	for i := range s.rules {
		if s.rules[i].levels.names(user) {
			return true
		}
	}
	return false
}

func matchAny(list []pattern, name string) bool {
	for _, p := range list {
		if p.match(name) {
			return true
		}
	}
	return false
}

// matching returns the rules that name a column, or if its Column is "" some
// column of the table, in the order of the rules.
func (s *Set) matching(c schema.Column) []*rule {
	cache := &s.columns
	if c.Column == "" {
		cache = &s.tables
	}
	s.mu.RLock()
	found, ok := (*cache)[c]
	s.mu.RUnlock()
	if ok {
		return found
	}
	f := s.names.Fold(c)
	for i := range s.rules {
		r := &s.rules[i]
		if matchAny(r.databases, f.Database) && matchAny(r.tables, f.Table) && (c.Column == "" || matchAny(r.columns, f.Column)) {
			found = append(found, r)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*cache) >= maxCached {
		*cache = map[schema.Column][]*rule{}
	}
	(*cache)[c] = found
	return found
}

// Protected reports whether some rule names the column, for any account.
func (s *Set) Protected(c schema.Column) bool { return len(s.matching(c)) > 0 }

// A View is a Set as one account sees it. It is safe for concurrent use.
type View struct {
	set    *Set
	levels map[*rule]Level
	common Level // of rules without levels of their own
	least  Level
}

// For returns what an account sees: a user, and the address or name of the host
// it comes from, "" for a socket.
func (s *Set) For(user, host string) *View {
	c := newClient(user, host)
	v := &View{set: s, common: s.levels.level(c), least: Full, levels: map[*rule]Level{}}
	for i := range s.rules {
		r := &s.rules[i]
		if r.own {
			v.levels[r] = r.levels.level(c)
		}
		v.least = min(v.least, v.level(r))
	}
	return v
}

// Some reports whether the account has the level under any rule.
func (v *View) Some(l Level) bool {
	for i := range v.set.rules {
		if v.level(&v.set.rules[i]) == l {
			return true
		}
	}
	return false
}

func (v *View) level(r *rule) Level {
	if r.own {
		return v.levels[r]
	}
	return v.common
}

// Set returns the rules of the view.
func (v *View) Set() *Set { return v.set }

// Least returns the strictest level of the account under any rule: if it is
// Full, nothing has to be protected from it.
func (v *View) Least() Level { return v.least }

// Rule returns the level of the account under the enabled rule of that name;
// Blocked if there is none.
func (v *View) Rule(name string) Level {
	for i := range v.set.rules {
		if r := &v.set.rules[i]; r.name == name {
			return v.level(r)
		}
	}
	return Blocked
}

// Decide returns what the account gets of a column. Its names are those of the
// server's metadata; a column without a table, such as an expression, is not
// for Decide to judge and is Blocked.
func (v *View) Decide(c schema.Column) Decision {
	if c.Table == "" || c.Column == "" {
		return Decision{}
	}
	return v.strictest(v.set.matching(c))
}

// Table returns the strictest decision for any column of a table.
func (v *View) Table(database, table string) Decision {
	return v.strictest(v.set.matching(schema.Column{Database: database, Table: table}))
}

func (v *View) strictest(rules []*rule) Decision {
	d := Decision{Level: Full}
	for _, r := range rules {
		if l := v.level(r); d.Rule == "" || l < d.Level {
			d = Decision{l, r.name}
		}
	}
	return d
}
