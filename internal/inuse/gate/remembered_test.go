package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// TestRemembered runs statements again and again while rules, tables and the
// session change: what is remembered of them must never show what the first
// judgement of the statement would have encrypted.
func TestRemembered(t *testing.T) {
	for _, caps := range []wire.Capabilities{0, wire.MariaDBCacheMetadata, wire.MariaDBCacheMetadata | wire.DeprecateEOF} {
		t.Run(fmt.Sprintf("capabilities=%x", uint64(caps)), func(t *testing.T) { remembered(t, caps) })
	}
}

func remembered(t *testing.T, caps wire.Capabilities) {
	g := startGate(t, nil)
	root := rootOn(t, g)
	app := dialRaw(t, g.addr, "app", "hr", caps)
	app.provision(true)
	const sql = "SELECT id, name, ssn FROM employee WHERE id < 3"
	var tr transcript
	if err := app.prepare(&tr, sql); err != nil {
		t.Fatal(err)
	}
	id := tr.prep.ID
	// marked is which of the columns are encrypted, by both protocols.
	marked := func(step string) string {
		t.Helper()
		var out []string
		for range 3 {
			var text, binary transcript
			if err := app.query(&text, sql); err != nil {
				t.Fatal(step, err)
			}
			if err := app.execute(&binary, id, 0); err != nil {
				t.Fatal(step, err)
			}
			for _, tr := range []*transcript{&text, &binary} {
				var cols []string
				for i, c := range tr.columns {
					if tr.marked[i] {
						cols = append(cols, string(c.Name))
					}
				}
				for _, row := range tr.rows {
					for i, v := range row {
						if tr.marked[i] != isCell(v) {
							t.Errorf("%s: column %s: cell %t", step, tr.columns[i].Name, isCell(v))
						}
					}
				}
				out = append(out, fmt.Sprint(cols, len(tr.rows)))
			}
		}
		for _, o := range out[1:] {
			if o != out[0] {
				t.Errorf("%s: not always the same: %v", step, out)
				break
			}
		}
		return out[0]
	}
	rules := func(text string) {
		t.Helper()
		g.source.mu.Lock()
		g.source.text = text
		g.source.mu.Unlock()
		if _, err := g.rules.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		step string
		do   func()
		want string
	}{
		{"at first", func() {}, "[ssn] 2"},
		{"another column is protected", func() { rules(strings.Replace(testRules, "columns: [ssn, salary", "columns: [name, ssn, salary", 1)) }, "[name ssn] 2"},
		{"as before", func() { rules(testRules) }, "[ssn] 2"},
		{"a column of another type", func() {
			root.must("ALTER TABLE hr.employee MODIFY name VARCHAR(200)")
			g.backend.changed()
		}, "[ssn] 2"},
		{"another character set", func() { app.must("SET NAMES latin1") }, "[ssn] 2"},
		{"a column protected and of another type", func() {
			rules(strings.Replace(testRules, "columns: [ssn, salary", "columns: [name, ssn, salary", 1))
			root.must("ALTER TABLE hr.employee MODIFY name TEXT")
			g.backend.changed()
		}, "[name ssn] 2"},
		{"as before again", func() { rules(testRules) }, "[ssn] 2"},
		{"fewer rows", func() { root.must("DELETE FROM hr.employee WHERE id = 2") }, "[ssn] 1"},
		{"all may be seen", func() {
			rules(strings.Replace(testRules, "[boss]\n  ciphertext: [app, ", "[boss, app]\n  ciphertext: [", 1))
		}, "[] 1"},
	} {
		tt.do()
		if got := marked(tt.step); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.step, got, tt.want)
		}
	}
}
