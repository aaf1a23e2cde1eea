package gate

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// ownRules protect what schema_own.sql adds to the schema hr.
const ownRules = `  - {name: ssn, databases: [hr], tables: [g, ver, part, t_new, t_old, t_quoted, inv, cmp, per, chk, p0, ai, listed, hashed], columns: [ssn]}
  - {name: base, databases: [hr], tables: [gg], columns: [base]}
  - {name: pay, databases: [hr], tables: [cap, capg], columns: [pay]}
  - {name: odd, databases: [hr], tables: ["größe", "sel\x60ect", uq], columns: ["größe", from, "where x", v]}
  - {name: others, databases: [hr], tables: [ft, js, dyn, geo, parent, born, lost, kept], columns: [day, at, notes, doc, attrs, place, code]}
`

// ownCases are the cases of own.sql, each a list of statements.
func ownCases(t *testing.T) [][]string { return casesOf(t, "own.sql") }

func casesOf(t *testing.T, file string) (out [][]string) {
	for _, c := range strings.Split(schemaFile(t, file), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(c), "\n"), func(l string) bool { return strings.HasPrefix(l, "-- ") || l == "" })
		if len(lines) > 0 {
			out = append(out, lines)
		}
	}
	return out
}

// lasting are statements that no ROLLBACK undoes.
var lasting = regexp.MustCompile(`(?i)^(create (or replace )?(table|view|function|procedure|event|trigger|index)|truncate|drop table|rename|alter|select setval)`)

// writesGuess reports whether a case writes a protected value where a unique key may
// refuse it: the statistics of the table count that, also after ROLLBACK.
func writesGuess(c []string) bool {
	return slices.ContainsFunc(c, func(sql string) bool {
		return strings.HasPrefix(sql, "UPDATE") && slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(sql, "ssn = '"+s) })
	})
}

// momentary are statements whose answer tells when something was made, or what the
// server does.
var momentary = regexp.MustCompile(`(?i)^show (open tables|triggers|create trigger|create event|events|(procedure|function) status|((session|global) )?status|table status)|^explain analyze`)

// TestOwnBypasses runs cases in two states of a database that differ in protected
// values alone: what is seen in plain has to be the same, under rules that allow
// no conditions, and under those that allow guesses unless one of the guesses is
// right.
func TestOwnBypasses(t *testing.T) {
	runOwn(t, ownCases(t), schemaFile(t, "schema_own.sql"), ownRules)
}

// runOwn runs cases in the schema hr with more in it, under more rules.
func runOwn(t *testing.T, cases [][]string, also, ownRules string) {
	schema := strings.TrimRight(hrSchema(t), "; \n") + ";" + also
	for _, inference := range []string{"strict", "guarded"} {
		rules := strings.ReplaceAll(testRules+ownRules, "columns: [", "inference: "+inference+", columns: [")
		o := newOracle(t, rules, schema, stateB.Replace(schema))
		var saw [2][]string
		tally := map[string]int{}
		for state := range o.states {
			o.load(state)
			for _, c := range cases {
				tr := o.caseOf(c)
				saw[state] = append(saw[state], tr.plain())
				if slices.ContainsFunc(c, lasting.MatchString) && !strings.Contains(tr.String(), "refused by the gate") || writesGuess(c) {
					o.load(state)
				}
			}
		}
		for i, c := range cases {
			a, b := saw[0][i], saw[1][i]
			tally[outcomeOf(a)]++
			if want := os.Getenv("GATE_CASE"); want != "" && strings.Contains(strings.Join(c, "\n"), want) {
				t.Logf("%s %s: %q\n%s", inference, outcomeOf(a), c, a)
			}
			// Writes to a column with a unique key are guesses in any case.
			guessed := (inference == "guarded" || strings.HasPrefix(c[0], "REPLACE")) &&
				slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(strings.Join(c, ""), s) })
			switch {
			case a == b, guessed, momentary.MatchString(c[0]):
			case strings.Contains(a, withheld) != strings.Contains(b, withheld): // whether a statement fails
				tally["told apart by an error"]++
			default:
				t.Errorf("%s: %q tells the states apart\nA: %s\nB: %s", inference, c, a, b)
			}
		}
		t.Logf("%s: %v of %d", inference, tally, len(cases))
	}
}

func outcomeOf(text string) string {
	switch {
	case strings.Contains(text, "refused by the gate"):
		return "refused"
	case strings.Contains(text, "error "):
		return "errors of the server"
	case strings.Contains(text, "marked=true"):
		return "ciphertext"
	}
	return "plain"
}

// load puts the database in a state.
func (o *oracle) load(state int) {
	o.Helper()
	root := dialRaw(o, backendServer(o).Addr(), "root", "", wire.MultiStatements|wire.MultiResults)
	defer root.Close()
	root.tap.on = false
	steadily(o, o.g, root, o.states[state])
}

// caseOf runs statements on a connection of their own and undoes what they did.
// None of the protected values may come in what the client receives.
func (o *oracle) caseOf(statements []string) *transcript {
	at := o.connect("hr")
	defer at.Close()
	at.tap.on = true
	tr := &transcript{}
	for _, sql := range slices.Concat([]string{"START TRANSACTION"}, statements, []string{"ROLLBACK"}) {
		if err := at.query(tr, sql); err != nil {
			tr.add("connection ended")
			o.Errorf("%q: the answer was not foreseen, or the server is gone: %v", statements, err)
			break
		}
	}
	for _, s := range secrets {
		if bytes.Contains(at.tap.got, []byte(s)) && !strings.Contains(strings.Join(statements, ""), s) {
			o.Errorf("%q: %q came in plain", statements, s)
		}
	}
	return tr
}
