package gate

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// databaseOf returns the statements of schema_benign.sql that make one database.
func databaseOf(schema, db string) string {
	keep := []string{"DROP DATABASE IF EXISTS " + db, "CREATE DATABASE " + db, "USE " + db}
	current := ""
	for _, l := range strings.Split(schema, "\n") {
		switch {
		case strings.HasPrefix(l, "USE "):
			current = strings.TrimSuffix(strings.TrimPrefix(l, "USE "), ";")
		case strings.HasPrefix(l, "GRANT"), strings.HasPrefix(l, "DROP DATABASE"), strings.HasPrefix(l, "CREATE DATABASE"):
		case current == db:
			keep = append(keep, strings.TrimSuffix(strings.TrimSpace(l), ";"))
		}
	}
	return strings.Join(keep, ";\n")
}

// runBenign runs one statement of an ordinary client through the gate.
func runBenign(t *testing.T, g *testGate, c *leakCase) *transcript {
	conn, tap, err := tryRaw(g.addr, "app", c.DB, wire.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at, tr := &rawClient{TB: t, Conn: conn, tap: tap}, &transcript{}
	at.provision(true)
	if len(c.Params) == 0 {
		err = at.query(tr, c.SQL)
	} else if err = at.prepare(tr, c.SQL); err == nil && tr.errors == 0 {
		var params []wire.Param
		for _, p := range c.Params {
			switch p := p.(type) {
			case float64:
				b := make([]byte, 8)
				for i := range b {
					b[i] = byte(int64(p) >> (8 * i))
				}
				params = append(params, wire.Param{ParamType: wire.ParamType{Type: wire.TypeLongLong}, Value: b})
			case string:
				params = append(params, textParam(p))
			case nil:
				params = append(params, wire.Param{ParamType: wire.ParamType{Type: wire.TypeNull}, Null: true})
			}
		}
		err = at.execute(tr, tr.prep.ID, 0, params...)
	}
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		t.Fatalf("%s: %v: %+v", c.ID, err, g.events[len(g.events)-1])
	}
	return tr
}

// TestBenign runs statements of ordinary clients: those the gate accepts must
// encrypt at least what has to be, and a good part must be accepted.
func TestBenign(t *testing.T) {
	g := startGate(t, nil)
	root := dialRaw(t, backendServer(t).Addr(), "root", "", wire.MultiStatements|wire.MultiResults)
	schemas := map[string]string{"hr": hrSchema(t)}
	for _, db := range []string{"shop", "tpcc", "tpch", "sbtest"} {
		schemas[db] = databaseOf(schemaFile(t, "schema_benign.sql"), db)
	}
	accepted, exact := 0, 0
	refused := map[string][]string{}
	state := ""
	cases := readCases(t, "benign.jsonl")
	sort.SliceStable(cases, func(i, j int) bool { return cases[i].DB < cases[j].DB })
	for _, c := range cases {
		if state != c.DB {
			var tr transcript
			if err := root.query(&tr, schemas[c.DB]); err != nil || tr.errors > 0 {
				t.Fatal(err, tr.String())
			}
			g.backend.changed()
		}
		state = c.DB
		if w := strings.ToUpper(strings.TrimLeft(c.SQL, "( ")); !strings.HasPrefix(w, "SELECT") && !strings.HasPrefix(w, "SET") && !strings.HasPrefix(w, "SHOW") {
			state = ""
		}
		tr := runBenign(t, g, &c)
		if tr.errors > 0 {
			why := tr.text[len(tr.text)-1]
			refused[why] = append(refused[why], c.ID)
			continue
		}
		accepted++
		var marked []int
		for i := range tr.columns {
			if tr.marked[i] {
				marked = append(marked, i)
			}
		}
		if slices.Equal(marked, c.Encrypt) || len(marked)+len(c.Encrypt) == 0 {
			exact++
		}
		for _, i := range c.Encrypt {
			if !slices.Contains(marked, i) {
				t.Errorf("%s: column %d came in plain\n%s", c.ID, i, c.SQL)
			}
		}
	}
	t.Logf("%d of %d accepted, %d with exactly the right columns encrypted", accepted, len(cases), exact)
	for why, ids := range refused {
		t.Logf("%d: %s: %v", len(ids), why, ids)
	}
	if accepted*10 < len(cases)*8 {
		t.Errorf("only %d of %d statements of ordinary clients are accepted", accepted, len(cases))
	}
}
