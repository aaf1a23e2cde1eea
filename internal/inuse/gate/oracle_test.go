package gate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// An oracle runs statements against two states of a database that differ in
// protected values alone. What a restricted account sees in plain has to be the
// same in both. Nobody has to say what each statement should give.
type oracle struct {
	testing.TB
	g      *testGate
	states [2]string // SQL that makes the states
	counts map[string]int
}

// A probe is a statement, the setting it runs in, and what follows it: statements
// that show what it left behind. All of it is undone afterwards.
type probe struct {
	sql      string
	before   string
	prepared bool // by the binary protocol
	after    []string
}

// newOracle makes an oracle for a gate that keeps rules.
func newOracle(t testing.TB, rules, a, b string) *oracle {
	o := &oracle{TB: t, g: startGate(t, nil), states: [2]string{a, b}, counts: map[string]int{}}
	o.g.source.Write(t.Context(), nil, []byte(rules))
	if _, err := o.g.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	return o
}

// ordered finds functions whose value depends on the order of rows.
var ordered = regexp.MustCompile(`(?i)(first|last|nth)_value|\b(lag|lead|row_number|ntile)\b`)

// lined finds functions whose value is a list in the order of rows.
var lined = regexp.MustCompile(`(?i)group_concat|json_(array|object)agg`)

// withheld is what an account sees of a value it may not have: nothing.
const withheld = "the server's message is withheld"

// A sight is what came of a probe.
type sight struct {
	text  string // what is seen in plain
	fault bool   // the server's message was withheld
	next  string // statements that make the next numbers of tables what they were after it
}

// run runs probes that next makes, n of them in each state. What a probe leaves
// that nothing undoes, the next numbers of tables, is part of what is seen of it;
// it is made the same in both states before the probe that follows, whether the
// server died or the probe told the states apart.
func (o *oracle) run(database string, n int, next func(state, i int) probe) {
	o.Helper()
	saw := make([]sight, 0, n)
	for state := range o.states {
		o.load(state)
		f := newFooting(o)
		var at *rawClient
		part := func() {
			if at != nil {
				at.Close()
			}
			at = nil
		}
		for i := range n {
			if i%500 == 0 {
				part()
			}
			if at == nil {
				at = o.connect(database)
			}
			p := next(state, i)
			if state == 1 && saw[i].text == died {
				o.counts["statements"]++
				o.counts[died]++ // it would die again, or not
				part()
				o.load(state)
				f.restore(saw[i].next)
				continue
			}
			before := f.now
			s, alive := o.probe(at, f, &p)
			if !alive {
				at = nil
			}
			if s.text == died && state == 0 {
				s.next = before
			}
			if state == 0 {
				saw = append(saw, s)
			} else {
				o.compare(i, &p, &saw[i], &s, database)
			}
			if s.text == died {
				o.load(state) // with what a server that died had not written
			}
			if s.text == died || saw[i].text != s.text {
				part()
				f.restore(saw[i].next)
			}
			f.steady()
		}
		part()
		f.root.Close()
	}
}

// steadily is remake of the schema hr such that no plan of a query, and nothing that
// is shown of indexes, depends on when the server makes its statistics.
func steadily(t testing.TB, g *testGate, root *rawClient, schemas string) {
	t.Helper()
	root.must("SET GLOBAL innodb_stats_auto_recalc = OFF")
	remake(t, g, root, schemas)
	root.must("ANALYZE TABLE hr.employee, hr.dept, hr.log")
}

func (o *oracle) connect(database string) *rawClient {
	o.Helper()
	c, tap, err := tryRaw(o.g.addr, "app", database, wire.Credential{})
	for deadline := time.Now().Add(time.Minute); err != nil && time.Now().Before(deadline); { // a busy machine may not answer in time, nor does a gate whose server was dead
		time.Sleep(20 * time.Millisecond)
		c, tap, err = tryRaw(o.g.addr, "app", database, wire.Credential{})
	}
	if err != nil {
		o.Fatal(err)
	}
	tap.on = false
	at := &rawClient{TB: o, Conn: c, tap: tap}
	at.provision(true)
	return at
}

// probe runs one and returns what came of it and whether the connection lives. A
// refusal for want of a catalog is one of the moment: the probe is run again.
func (o *oracle) probe(at *rawClient, f *footing, p *probe) (s sight, alive bool) {
	for range 10 {
		before, start := f.now, time.Now()
		s, alive = o.attempt(at, p)
		if s.text == died {
			return s, alive
		}
		s.text = f.timeless(s.text, start)
		if len(p.after) > 0 || !alive {
			f.read()
			s.text += "\n" + f.now + "\n" + f.rows
		}
		s.next = f.now
		if !alive || !strings.Contains(s.text, refuseCatalog.Error()) {
			return s, alive
		}
		f.restore(before)
	}
	o.Fatalf("the gate does not see the server's tables: %s", p.sql)
	return s, alive
}

// attempt runs the statements of a probe.
func (o *oracle) attempt(at *rawClient, p *probe) (s sight, alive bool) {
	var tr transcript
	// NULL leaves @a the type it had, which would be another on a new connection.
	all := slices.Concat([]string{"SET @a = ''", "SET @a = NULL", "SELECT LAST_INSERT_ID(0)", "START TRANSACTION", p.sql}, p.after, []string{"ROLLBACK"})
	if len(p.after) == 0 {
		all = []string{p.sql}
	}
	if p.before != "" {
		all = slices.Concat([]string{p.before}, all, []string{"SET NAMES utf8mb4, sql_mode = DEFAULT"})
	}
	for _, sql := range all {
		if slices.Contains(p.after, sql) && strings.Contains(tr.String(), "refused by the gate") {
			continue // it left nothing
		}
		if err := at.send(&tr, sql, p.prepared && sql == p.sql); err != nil {
			if o.revive() {
				return sight{text: died}, false
			}
			// The gate found an answer it had not foreseen.
			o.Logf("the connection ended after %s", sql)
			tr.add("connection ended")
			return sight{text: tr.plain()}, false
		}
	}
	text := sorted(tr.plain())
	return sight{text: text, fault: strings.Contains(text, withheld)}, true
}

// sorted sorts the lines of text, once each: the server may choose the order of
// rows by an index.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// send runs a statement as it is, or prepares and executes it.
func (c *rawClient) send(tr *transcript, sql string, prepared bool) error {
	if !prepared {
		return c.query(tr, sql)
	}
	before := tr.errors
	if err := c.prepare(tr, sql); err != nil || tr.errors > before {
		return err
	}
	return c.execute(tr, tr.prep.ID, 0)
}

// died is what is seen of a statement that the server dies of, which MariaDB does
// of some.
const died = "the server died"

// revive starts the server again if it has died, and reports whether it had.
func (o *oracle) revive() bool {
	c, _, err := tryRaw(backendServer(o).Addr(), "root", "", wire.Credential{})
	if err == nil {
		c.Close()
		return false
	}
	s := backendServer(o)
	s.Kill() // should it still be dying
	if err := s.Restart(context.WithoutCancel(o.Context())); err != nil {
		o.Fatal(err)
	}
	return true
}

// compare notes what came of probe i in the second state.
func (o *oracle) compare(i int, p *probe, first, second *sight, database string) {
	text := second.text
	o.counts["statements"]++
	switch {
	case text == died:
		o.counts[died]++
		return
	case strings.Contains(text, "connection ended"):
		o.counts["ended"]++
		o.Errorf("statement %d: the answer was not foreseen: %s", i, p.sql)
	case strings.Contains(text, "refused by the gate"):
		o.counts["refused"]++
	case strings.Contains(text, "error "):
		o.counts["errors of the server"]++
	case strings.Contains(text, "marked=true") || strings.Contains(text, "<cell>"):
		o.counts["ciphertext"]++
	default:
		o.counts["plain"]++
	}
	switch {
	case first.text == text:
	case first.fault != second.fault: // whether a statement succeeds depends on values
		o.counts["told apart by an error"]++
		o.Logf("statement %d: %s", i, p.sql)
	case ordered.MatchString(p.sql), // of rows that are equal for ORDER BY any may come first
		lined.MatchString(p.sql) && bytesOf(first.text) == bytesOf(text):
		o.counts["told apart by the order of rows"]++
		o.Logf("statement %d: %s", i, p.sql)
	case o.chosen(p, database):
		o.counts["told apart by the row shown of a group"]++
		o.Logf("statement %d: %s", i, p.sql)
	default:
		o.counts["leaks"]++
		o.Errorf("statement %d can tell the states apart: %s\nA:\n%s\nB:\n%s", i, p.sql, first.text, text)
	}
}

// bytesOf returns the bytes of text in order.
func bytesOf(text string) string {
	b := []byte(text)
	slices.Sort(b)
	return string(b)
}

// chosen reports whether p shows of a group of rows what the server chooses: it
// refuses such statements where the mode ONLY_FULL_GROUP_BY is set.
func (o *oracle) chosen(p *probe, database string) bool {
	const mixOfGroup = 1055
	c, tap, err := tryRaw(backendServer(o).Addr(), "root", database, wire.Credential{})
	if err != nil {
		o.Fatal(err)
	}
	defer c.Close()
	at, tr := &rawClient{TB: o, Conn: c, tap: tap}, &transcript{}
	for _, sql := range []string{p.before, "SET sql_mode = CONCAT(@@sql_mode, ',ONLY_FULL_GROUP_BY')"} {
		if sql != "" {
			at.must(sql)
		}
	}
	if err := at.prepare(tr, p.sql); err != nil && !o.revive() {
		o.Fatal(err)
	}
	return strings.Contains(tr.String(), fmt.Sprintf("error %d ", mixOfGroup))
}
