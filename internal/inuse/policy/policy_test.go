package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/sql/schema"
)

const example = `# what is protected
version: 1
admins: ["security@10.%"]
registrars: [security]
accounts:
  full: [dba@localhost, report]
  ciphertext: ["app@10.0.0.0/8", "*@192.168.1.%"]
  blocked: ["report@10.9.9.9"]
rules:
  - name: cards
    description: what the auditors ask for
    databases: [Shop, shop_*]
    tables: orders
    columns: ["card*", cvv]
  - name: people
    databases: "*"
    tables: [customer]
    columns:
      - "*"
    accounts:
      full: [auditor]
      ciphertext: [app]
  - name: later
    enabled: false
    databases: "*"
    tables: "*"
    columns: "*"
`

func mustParse(t testing.TB, text string, names schema.Names) *Set {
	t.Helper()
	s, err := Parse([]byte(text), names)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDecide(t *testing.T) {
	s := mustParse(t, example, schema.IgnoreCase)
	col := func(d, t, c string) schema.Column { return schema.Column{Database: d, Table: t, Column: c} }
	card, name, other := col("shop", "orders", "card_no"), col("x", "customer", "c_name"), col("shop", "stock", "s_id")
	for _, c := range []struct {
		user, host string
		col        schema.Column
		want       Decision
	}{
		{"app", "10.1.2.3", card, Decision{Ciphertext, "cards"}},
		{"app", "11.1.2.3", card, Decision{Blocked, "cards"}},
		{"App", "10.1.2.3", card, Decision{Blocked, "cards"}}, // users: case counts
		{"app", "::ffff:10.1.2.3", card, Decision{Ciphertext, "cards"}},
		{"dba", "127.0.0.1", card, Decision{Full, "cards"}},
		{"dba", "::1", card, Decision{Full, "cards"}},
		{"dba", "", card, Decision{Full, "cards"}},
		{"dba", "10.0.0.1", card, Decision{Blocked, "cards"}},
		{"anyone", "192.168.1.77", card, Decision{Ciphertext, "cards"}},
		{"dba", "192.168.1.77", card, Decision{Ciphertext, "cards"}},
		{"report", "10.0.0.1", card, Decision{Full, "cards"}},
		{"report", "10.9.9.9", card, Decision{Blocked, "cards"}},
		{"report", "192.168.1.5", card, Decision{Full, "cards"}}, // a user that is spelled out beats a pattern
		{"app", "10.1.2.3", col("SHOP_EU", "Orders", "CVV"), Decision{Ciphertext, "cards"}},
		{"app", "10.1.2.3", col("shops", "orders", "cvv"), Decision{Full, ""}},
		{"app", "1.1.1.1", name, Decision{Ciphertext, "people"}},
		{"dba", "127.0.0.1", name, Decision{Blocked, "people"}}, // lists of a rule stand in place of the others
		{"auditor", "1.1.1.1", name, Decision{Full, "people"}},
		{"nobody", "1.1.1.1", other, Decision{Full, ""}},
		{"dba", "127.0.0.1", col("", "", ""), Decision{Blocked, ""}},
		{"dba", "127.0.0.1", col("shop", "orders", ""), Decision{Blocked, ""}},
	} {
		v := s.For(c.user, c.host)
		for range 2 { // also from the cache
			if got := v.Decide(c.col); got != c.want {
				t.Errorf("%s@%s %v: got %v, want %v", c.user, c.host, c.col, got, c.want)
			}
		}
	}
	if !s.MayChange("security", "10.2.3.4") || s.MayChange("security", "11.2.3.4") || s.MayChange("app", "10.2.3.4") {
		t.Error("admins")
	}
	if !s.MayRegister("security", "11.2.3.4") || s.MayRegister("dba", "") {
		t.Error("registrars")
	}
	v := s.For("app", "10.1.2.3")
	if got := v.Table("Shop", "orders"); got != (Decision{Ciphertext, "cards"}) {
		t.Errorf("table: %v", got)
	}
	if got := v.Table("shop", "stock"); got.Protected() || got.Level != Full {
		t.Errorf("table without rules: %v", got)
	}
	if v.Least() != Ciphertext || s.For("x", "y").Least() != Blocked {
		t.Error("least")
	}
	if s.Len() != 2 || len(s.Warnings()) != 0 {
		t.Errorf("%d rules, %v", s.Len(), s.Warnings())
	}
	exact := mustParse(t, example, schema.MatchCase)
	if exact.Protected(card) || !exact.Protected(col("Shop", "orders", "CARD_NO")) {
		t.Error("a server that tells Shop from shop")
	}
}

func TestOverlap(t *testing.T) {
	s := mustParse(t, `
version: 1
accounts: {full: [a], ciphertext: [b]}
rules:
  - {name: one, databases: d, tables: ["t*"], columns: ["a*b"], accounts: {full: [a, b]}}
  - {name: two, databases: "*", tables: ["*t"], columns: ["*c*", "ax*"]}
  - {name: three, databases: e, tables: "*", columns: "axb"}
`, schema.IgnoreCase)
	if w := s.Warnings(); len(w) != 2 || w[0].Line != 6 || !strings.Contains(w[0].Reason, `"one" of line 5`) || w[1].Line != 7 {
		t.Errorf("warnings %v", w)
	}
	both := schema.Column{Database: "d", Table: "t", Column: "axb"}
	if got := s.For("b", "").Decide(both); got != (Decision{Ciphertext, "two"}) {
		t.Errorf("strictest: %v", got)
	}
	if got := s.For("a", "").Decide(both); got.Level != Full {
		t.Errorf("both full: %v", got)
	}
	if got := s.For("c", "").Decide(both); got != (Decision{Blocked, "one"}) {
		t.Errorf("unlisted: %v", got)
	}
}

// TestWrong wants the line and the reason of everything that can be wrong.
func TestWrong(t *testing.T) {
	const head = "version: 1\n"
	const rule = "rules:\n  - name: r\n    databases: d\n    tables: t\n    columns: c\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the rules are empty"},
		{"only a comment", "# nothing\n", "the rules are empty"},
		{"no version", rule, "version is missing"},
		{"no rules", head, "rules is missing"},
		{"another version", "version: 2\n" + rule, "line 1: version 2 is not known"},
		{"not YAML", head + "rules: [\n", "not YAML"},
		{"bad indent", head + "rules:\n  - name: r\n   tables: t\n", "line 4: not YAML"},
		{"a list", "- a\n", "line 1: the file must be a mapping"},
		{"two documents", head + rule + "---\nversion: 1\n", "line 8: a second document"},
		{"unknown field", head + rule + "    colums: d\n", `line 7: a rule has no field "colums"`},
		{"unknown top field", head + rule + "rule: d\n", `line 7: the file has no field "rule"`},
		{"field twice", head + rule + "    tables: d\n", "line 7"},
		{"alias", head + strings.Replace(rule, "columns: c", "columns: [*]", 1), "line 6"},
		{"alias of a name", head + strings.Replace(rule, "columns: c", "columns: *c", 1), `line 6: columns: write "*" in quotes`},
		{"no columns", head + strings.Replace(rule, "    columns: c\n", "", 1), `line 3: rule "r": columns is missing`},
		{"empty list", head + strings.Replace(rule, "columns: c", "columns: []", 1), `line 3: rule "r": columns is missing`},
		{"empty value", head + strings.Replace(rule, "columns: c", "columns:", 1), "line 6: columns is empty"},
		{"empty name", head + strings.Replace(rule, "columns: c", `columns: [""]`, 1), "line 6: rule \"r\": an empty name in columns"},
		{"nested list", head + strings.Replace(rule, "columns: c", "columns: [[c]]", 1), "line 6: columns must be a string"},
		{"rule without name", head + strings.Replace(rule, "name: r", "enabled: true", 1), "line 3: a rule has no name"},
		{"rule is a string", head + "rules: [x]\n", "line 2: a rule must be a mapping"},
		{"rules is a string", head + "rules: x\n", "line 2: rules must be a list"},
		{"enabled", head + rule + "    enabled: maybe\n", "line 7: enabled must be true or false"},
		{"reserved", head + strings.Replace(rule, "name: r", "name: encdb_spreaded_rule_x", 1), "line 3: rule \"encdb_spreaded_rule_x\": names beginning"},
		{"name twice", head + rule + strings.Replace(rule, "rules:\n", "", 1), `line 7: rule "r": the name is taken by the rule of line 3`},
		{"account", head + "accounts: {full: [a@]}\n" + rule, `line 2: full: "a@": an account is user or user@host`},
		{"percent in user", head + "accounts:\n  ciphertext: ['%']\n" + rule, `line 3: ciphertext: "%": a user has`},
		{"star in host", head + "admins: ['a@*']\n" + rule, `line 2: admins: "a@*": a host has`},
		{"network", head + "admins: [a@10.0.0.0/255.0.255.0]\n" + rule, "line 2: admins: "},
		{"level", head + "accounts: {plain: [a]}\n" + rule, `line 2: accounts has no field "plain"`},
	} {
		s, err := Parse([]byte(c.text), schema.IgnoreCase)
		if s != nil || !errors.Is(err, ErrRule) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	var many strings.Builder
	for i := range 9 {
		fmt.Fprintf(&many, "x%d: 1\n", i)
	}
	_, err := Parse([]byte(many.String()), schema.IgnoreCase)
	var e *Error
	if !errors.As(err, &e) || len(e.Problems) < 9 || !strings.Contains(err.Error(), "more") {
		t.Errorf("many problems: %v", err)
	}
}

func TestEncode(t *testing.T) {
	d, err := ParseDocument([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	text := d.Encode()
	again, err := ParseDocument(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if string(again.Encode()) != string(text) {
		t.Errorf("not a fixed point:\n%s\n%s", text, again.Encode())
	}
	a, b := mustParse(t, example, schema.IgnoreCase), mustParse(t, string(text), schema.IgnoreCase)
	if a.Digest() != b.Digest() {
		t.Error("the digest depends on the layout")
	}
	for _, c := range []string{"card_no", "cvv", "c_name"} {
		for _, user := range []string{"app", "dba", "auditor", "report"} {
			col := schema.Column{Database: "shop", Table: "customer", Column: c}
			if x, y := a.For(user, "10.0.0.1").Decide(col), b.For(user, "10.0.0.1").Decide(col); x != y {
				t.Errorf("%s %s: %v and %v", user, c, x, y)
			}
		}
	}
}

func TestParseVendor(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Document
		warnings   int
	}{
		{
			"managed service", `{"version":20230830,"rules":[
 {"name":"r1","enabled":true,"meta":{"databases":["d"],"tables":["t1","t2"],"columns":["*"]}},
 {"name":"r2","enabled":false,"meta":{"databases":"*","tables":["t"],"columns":["c"]}}],
 "users":{"restrictedAccess":["app"],"noneAccess":["x"],"fullAccess":["root"]}}`,
			Document{
				Accounts: Accounts{Full: entries("root"), Ciphertext: entries("app"), Blocked: entries("x")},
				Rules: []Rule{
					{Name: "r1", Line: 2, Databases: at(2, "d"), Tables: at(2, "t1", "t2"), Columns: at(2, "*")},
					{Name: "r2", Line: 3, Disabled: true, Databases: at(3, "*"), Tables: at(3, "t"), Columns: at(3, "c")},
				},
			}, 0,
		},
		{
			"distributed service", `{"version":1,"rules":[{"name":"r","description":"d","meta":{"databases":["d"],"tables":["t"],"columns":["c"]},
 "users":{"fullAccess":["'root'@'%'"],"restrictedAccess":["app@10.%"]}}]}`,
			Document{Rules: []Rule{{
				Name: "r", Line: 1, Description: "d", Databases: at(1, "d"), Tables: at(1, "t"), Columns: at(1, "c"),
				Accounts: &Accounts{Full: at(1, "'root'@'%'"), Ciphertext: at(1, "app@10.%")},
			}}}, 1,
		},
		{"one rule", `{"name":"r","meta":{"databases":["d"],"tables":["t"],"columns":["c"]}}`, Document{Rules: []Rule{{Name: "r", Line: 1, Databases: at(1, "d"), Tables: at(1, "t"), Columns: at(1, "c")}}}, 0},
		{"list", "\n[\n\n {\"name\":\"r\",\"meta\":{\"databases\":[\"d\"],\"tables\":[\"t\"],\"columns\":[\"c\"]}}]", Document{Rules: []Rule{{Name: "r", Line: 4, Databases: at(4, "d"), Tables: at(4, "t"), Columns: at(4, "c")}}}, 0},
		{"users alone", `{"users":{"fullAccess":["a"]}}`, Document{Accounts: Accounts{Full: entries("a")}}, 0},
		{"no users, and more", `{"rules":[{"name":"r","meta":{"databases":["d"],"tables":["t"],"columns":["c"]}}],"extra":[1]}`, Document{Rules: []Rule{{Name: "r", Line: 1, Databases: at(1, "d"), Tables: at(1, "t"), Columns: at(1, "c")}}}, 2},
	} {
		got, warnings, err := ParseVendor([]byte(c.text))
		if err != nil || !reflect.DeepEqual(*got, c.want) || len(warnings) != c.warnings {
			t.Errorf("%s: got %+v, %v, %v; want %+v", c.name, *got, warnings, err, c.want)
			continue
		}
		if _, err := Compile(got, schema.IgnoreCase); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"not JSON", "{\n x}", "line 2: not JSON"},
		{"rules no list", "{\"rules\":\n{}}", "rules must be a list"},
		{"rule no object", "{\"rules\":[\n1]}", "line 2: not a rule"},
		{"masking", "{\"rules\":[\n{\"name\":\"m\",\"type\":\"masking\"}]}", `line 2: rule "m" is of type "masking"`},
		{"pattern", "{\"rules\":[{\"name\":\"m\",\"meta\":{\"databases\":[\"a*\"]}}]}", `"*" can only stand alone`},
		{"users no object", `{"users":1}`, "not JSON of the expected form"},
		{"a number", "1", "rules must be a list"},
	} {
		if _, _, err := ParseVendor([]byte(c.text)); !errors.Is(err, ErrRule) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func at(line int, texts ...string) []Entry {
	out := entries(texts...)
	for i := range out {
		out[i].Line = line
	}
	return out
}

// TestIntersects compares with names made from both patterns.
func TestIntersects(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(letters string) string {
		b := make([]byte, r.IntN(5))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	var all []string
	for n := range 7 {
		for k := range 1 << n {
			b := make([]byte, n)
			for i := range b {
				b[i] = "ab"[k>>i&1]
			}
			all = append(all, string(b))
		}
	}
	for range 3000 {
		a, b := pattern(random("ab*")), pattern(random("ab*"))
		// Two patterns of up to 4 characters that meet do so in at most 8, and
		// over two letters in at most 6 after repetitions are cut.
		want := slices.ContainsFunc(all, func(s string) bool { return a.match(s) && b.match(s) })
		if got := intersects(a, b); got != want {
			t.Fatalf("%q and %q: got %v, want %v", a, b, got, want)
		}
	}
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		entry, user, host string
		want              int
	}{
		{"a", "a", "h", rankUser},
		{"a@%", "a", "h", rankUser},
		{"'a'@'10.0.0._'", "a", "10.0.0.7", rankHostPattern},
		{"a@10.0.0._", "a", "10.0.0.17", rankNone},
		{"a@10.0.0.0/255.255.255.0", "a", "10.0.0.200", rankHostPattern},
		{"a@10.0.0.0/24", "a", "10.0.1.200", rankNone},
		{"a@10.0.0.0/24", "a", "web1", rankNone},
		{"a@fe80::/10", "a", "fe80::1%eth0", rankHostPattern},
		{"a@Web1.Example", "a", "web1.example", rankExact},
		{"a@2001:DB8::1", "a", "2001:db8:0::1", rankExact},
		{"a@localhost", "a", "127.0.0.2", rankExact},
		{"a@127.0.0.1", "a", "localhost", rankNone},
		{"*", "a", "h", rankUserPattern},
		{"svc_*@10.%", "svc_web", "10.1.1.1", rankUserPattern},
		{"svc_*@10.%", "web", "10.1.1.1", rankNone},
		{"b", "a", "h", rankNone},
		{"mail@example@h", "mail@example", "h", rankExact},
	} {
		a, err := parseAccount(c.entry)
		if err != nil {
			t.Errorf("%s: %v", c.entry, err)
		} else if got := a.rank(newClient(c.user, c.host)); got != c.want {
			t.Errorf("%s for %s@%s: rank %d, want %d", c.entry, c.user, c.host, got, c.want)
		}
	}
}

func writeFile(path string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(path, data, perm)
}

func TestStore(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(example)
	s, err := NewStore(ctx, &File{path, writeFile}, schema.IgnoreCase)
	if err != nil {
		t.Fatal(err)
	}
	type event struct {
		version uint64
		err     error
	}
	var events []event
	w := watcher{store: s, report: func(v *Version, err error) { events = append(events, event{v.Number, err}) }}
	expect := func(what string, want ...event) {
		t.Helper()
		ok := len(events) == len(want)
		for i := range min(len(events), len(want)) {
			ok = ok && events[i].version == want[i].version && (want[i].err == nil) == (events[i].err == nil) && errors.Is(events[i].err, want[i].err)
		}
		if !ok {
			t.Errorf("%s: events %v, want %v", what, events, want)
		}
		events = nil
	}
	w.look(ctx)
	w.look(ctx)
	expect("nothing changed")
	write("version: 1\nrules: []\n")
	w.look(ctx)
	expect("not settled")
	w.look(ctx)
	w.look(ctx)
	expect("settled", event{2, nil})
	if s.Current().Len() != 0 {
		t.Error("old rules")
	}
	write("version: 1\nrules: [{}]\n")
	for range 4 {
		w.look(ctx)
	}
	expect("wrong, once", event{2, ErrRule})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.look(ctx)
	w.look(ctx)
	expect("gone, once", event{2, fs.ErrNotExist})
	write(example)
	w.look(ctx)
	w.look(ctx)
	expect("back", event{3, nil})

	// Watch does the same by the clock.
	wctx, stop := context.WithCancel(ctx)
	seen, done := make(chan uint64, 1), make(chan struct{})
	go func() {
		s.Watch(wctx, time.Millisecond, func(v *Version, err error) { seen <- v.Number })
		close(done)
	}()
	// At once: while a file is empty, that is its text.
	whole := path + ".new"
	err = errors.Join(os.WriteFile(whole, []byte("version: 1\nadmins: [root]\nrules: []\n"), 0o600), os.Rename(whole, path))
	if err != nil {
		t.Fatal(err)
	}
	if n := <-seen; n != 4 {
		t.Errorf("version %d", n)
	}
	stop()
	<-done
}

// A hooked source has something happen after each reading.
type hooked struct {
	Source
	read func()
}

func (h *hooked) Read(ctx context.Context) ([]byte, error) {
	text, err := h.Source.Read(ctx)
	h.read()
	return text, err
}

// TestImportWhileWatching: what was read before a change is not used after it.
func TestImportWhileWatching(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(example), 0o640); err != nil {
		t.Fatal(err)
	}
	source := &hooked{&File{path, writeFile}, func() {}}
	s, err := NewStore(ctx, source, schema.IgnoreCase)
	if err != nil {
		t.Fatal(err)
	}
	w := watcher{store: s, report: func(v *Version, err error) { t.Errorf("reported %d, %v", v.Number, err) }}
	w.look(ctx)
	imported := make(chan error, 1)
	var begun atomic.Bool
	source.read = func() {
		if begun.Swap(true) {
			return
		}
		go func() {
			imported <- s.Import(ctx, "security", "10.0.0.1", []byte(`{"rules":[{"name":"cards","meta":{"databases":["d"],"tables":["t"],"columns":["c"]}}]}`))
		}()
		for end := time.Now().Add(100 * time.Millisecond); s.Current().Number == 1 && time.Now().Before(end); {
			time.Sleep(time.Millisecond) // it waits for the reading, or else is quick
		}
	}
	w.look(ctx)
	if err := <-imported; err != nil {
		t.Fatal(err)
	}
	if v := s.Current(); v.Number != 2 || !v.Protected(schema.Column{Database: "d", Table: "t", Column: "c"}) {
		t.Errorf("version %d after the import", v.Number)
	}
}

func TestStoreImport(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(example), 0o640); err != nil {
		t.Fatal(err)
	}
	s, err := NewStore(ctx, &File{path, writeFile}, schema.IgnoreCase)
	if err != nil {
		t.Fatal(err)
	}
	const doc = `{"rules":[{"name":"cards","meta":{"databases":["d"],"tables":["t"],"columns":["c"]}}]}`
	if err := s.Import(ctx, "security", "11.0.0.1", []byte(doc)); !errors.Is(err, ErrDenied) || s.Current().Number != 1 {
		t.Errorf("import by a stranger: %v", err)
	}
	if err := s.Import(ctx, "security", "10.0.0.1", []byte(doc)); err != nil {
		t.Fatal(err)
	}
	col := schema.Column{Database: "d", Table: "t", Column: "c"}
	if v := s.Current(); v.Number != 2 || v.Len() != 2 || !v.Protected(col) || !v.MayChange("security", "10.0.0.1") {
		t.Errorf("after the import: version %d, %d rules", v.Number, v.Len())
	}
	if err := s.Import(ctx, "security", "10.0.0.1", []byte("{\"rules\":[{},\n{}]}")); !errors.Is(err, ErrRule) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("wrong import: %v", err)
	}
	if err := s.Delete(ctx, "security", "10.0.0.1", "nope"); !errors.Is(err, ErrUnknownRule) {
		t.Errorf("delete unknown: %v", err)
	}
	if err := s.Delete(ctx, "app", "10.0.0.1", "cards"); !errors.Is(err, ErrDenied) {
		t.Errorf("delete by a stranger: %v", err)
	}
	if err := s.Delete(ctx, "security", "10.0.0.1", "cards"); err != nil || s.Current().Protected(col) {
		t.Errorf("delete: %v", err)
	}
	fresh, err := NewStore(ctx, &File{path, writeFile}, schema.IgnoreCase)
	if err != nil || fresh.Current().Digest() != s.Current().Digest() {
		t.Errorf("the file holds other rules: %v", err)
	}
	file := &File{path, writeFile}
	if err := file.Write(ctx, []byte("something else"), nil); !errors.Is(err, ErrConflict) {
		t.Errorf("conflict: %v", err)
	}
	full := &File{path, func(string, []byte, fs.FileMode) error { return errors.New("disk full") }}
	failing, err := NewStore(ctx, full, schema.IgnoreCase)
	if err != nil {
		t.Fatal(err)
	}
	if err := failing.Import(ctx, "security", "10.0.0.1", []byte(doc)); err == nil || failing.Current().Number != 1 {
		t.Errorf("rules that could not be written are used: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("version: 1\nrules: [{name: a, databases: [*x], tables: &a b, columns: !!str c}]")
	f.Add("version: 1\naccounts: {full: ['a'@'b', \"c@10.0.0.0/8\"]}\nrules: []")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse([]byte(text), schema.IgnoreCase)
		if err != nil {
			if !errors.Is(err, ErrRule) {
				t.Errorf("another error: %v", err)
			}
			return
		}
		again, err := Parse(s.Document().Encode(), schema.IgnoreCase)
		if err != nil || again.Digest() != s.Digest() {
			t.Errorf("%v; encoded as\n%s", err, s.Document().Encode())
		}
		s.For("a", "10.0.0.1").Decide(schema.Column{Database: "d", Table: "t", Column: "c"})
	})
}

func FuzzVendor(f *testing.F) {
	f.Add(`{"version":1,"rules":[{"name":"r","meta":{"databases":["d"],"tables":"t","columns":["*"]},"users":{"fullAccess":["a@%"]}}],"users":{}}`)
	f.Add(`[{"name":"r"}]`)
	f.Add(`{"name":"r","meta":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, _, err := ParseVendor([]byte(text))
		if err != nil {
			return
		}
		if s, err := Compile(d, schema.IgnoreCase); err == nil {
			if _, err := Parse(s.Document().Encode(), schema.IgnoreCase); err != nil {
				t.Errorf("%v; encoded as\n%s", err, d.Encode())
			}
		}
	})
}

func FuzzAccount(f *testing.F) {
	f.Add("'a'@'10.%'", "a", "10.0.0.1")
	f.Add("a@10.0.0.0/255.0.0.0", "a", "::1")
	f.Fuzz(func(t *testing.T, entry, user, host string) {
		if a, err := parseAccount(entry); err == nil {
			a.rank(newClient(user, host))
		}
	})
}

// BenchmarkDecide is what a gate pays for each column of each result.
func BenchmarkDecide(b *testing.B) {
	var text strings.Builder
	text.WriteString("version: 1\naccounts: {ciphertext: [app]}\nrules:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "  - {name: r%d, databases: d%d, tables: ['t%d_*'], columns: [a, b, c, d]}\n", i, i, i)
	}
	v := mustParse(b, text.String(), schema.IgnoreCase).For("app", "10.0.0.1")
	for name, c := range map[string]schema.Column{
		"protected": {Database: "d77", Table: "t77_x", Column: "c"},
		"free":      {Database: "d77", Table: "u", Column: "c"},
	} {
		b.Run("column="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v.Decide(c).Protected() != (name == "protected") {
					b.Fatal("wrong")
				}
			}
		})
	}
}

func entries(texts ...string) (out []Entry) {
	for _, t := range texts {
		out = append(out, Entry{Text: t})
	}
	return out
}
