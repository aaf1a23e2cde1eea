package gate

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
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

// runBenign runs one statement of an ordinary client, who reads cells if it
// talks to the gate.
func runBenign(t *testing.T, addr string, c *leakCase) (*rawClient, *transcript) {
	conn, tap, err := tryRaw(addr, "app", c.DB, wire.Credential{Caps: wire.MariaDBCacheMetadata})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at, tr := &rawClient{TB: t, Conn: conn, tap: tap}, &transcript{}
	if addr != backendServer(t).Addr() {
		at.provision(false)
	}
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
		t.Fatalf("%s: %v", c.ID, err)
	}
	return at, tr
}

// TestBenign runs statements of ordinary clients, under the strictest inference
// that they are said to pass: all are accepted, exactly what has to be is
// encrypted, and what a client that reads cells gets is what the server says
// directly.
func TestBenign(t *testing.T) {
	g := startGate(t, nil)
	root := dialRaw(t, backendServer(t).Addr(), "root", "", wire.MultiStatements|wire.MultiResults)
	schemas := map[string]string{"hr": hrSchema(t)}
	for _, db := range []string{"shop", "tpcc", "tpch", "sbtest"} {
		schemas[db] = databaseOf(schemaFile(t, "schema_benign.sql"), db)
	}
	inferences := map[string]string{"any": "strict", "guarded": "guarded", "documented": "documented"}
	exact, compared, foreign := 0, 0, 0 // foreign are no SQL of MySQL
	state, rules := "", ""
	cases := readCases(t, "benign.jsonl")
	sort.SliceStable(cases, func(i, j int) bool {
		return cases[i].DB+cases[i].MinMode < cases[j].DB+cases[j].MinMode
	})
	for _, c := range cases {
		if state != c.DB {
			remake(t, g, root, schemas[c.DB])
		}
		state = c.DB
		if rules != c.MinMode {
			rules = c.MinMode
			g.source.Write(t.Context(), nil, []byte(inferenceOf(inferences[rules])))
			if _, err := g.rules.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w := strings.ToUpper(strings.TrimLeft(c.SQL, "( "))
		reads := strings.HasPrefix(w, "SELECT") || strings.HasPrefix(w, "WITH")
		if !reads && !strings.HasPrefix(w, "SET") && !strings.HasPrefix(w, "SHOW") {
			state = ""
		}
		at, tr := runBenign(t, g.addr, &c)
		if testEngine == target.MySQL && tr.errors > 0 && !strings.Contains(tr.String(), "refused by the gate") {
			foreign++
			continue
		}
		if tr.errors > 0 {
			t.Errorf("%s under %s: %s\n%s", c.ID, inferences[rules], tr.text[len(tr.text)-1], c.SQL)
			continue
		}
		var marked []int
		for i := range tr.columns {
			if tr.marked[i] {
				marked = append(marked, i)
			}
		}
		if !slices.Equal(marked, c.Encrypt) && len(marked)+len(c.Encrypt) > 0 {
			t.Errorf("%s: columns %v are encrypted, not %v\n%s", c.ID, marked, c.Encrypt, c.SQL)
			continue
		}
		exact++
		if reads && !unsteady.MatchString(c.SQL) && !strings.Contains(c.SQL, "@@") {
			compared++
			compareResult(t, at, &c, tr)
		}
	}
	t.Logf("%d of %d accepted with exactly the right columns encrypted, results of %d compared", exact, len(cases)-foreign, compared)
}

// compareResult compares a result that came through the gate with the server's.
func compareResult(t *testing.T, at *rawClient, c *leakCase, got *transcript) {
	t.Helper()
	_, want := runBenign(t, backendServer(t).Addr(), c)
	if len(got.rows) != len(want.rows) || len(got.columns) != len(want.columns) {
		t.Errorf("%s: %d rows of %d columns, want %d of %d", c.ID, len(got.rows), len(got.columns), len(want.rows), len(want.columns))
		return
	}
	bin := len(c.Params) > 0
	for i, row := range want.rows {
		for j := range row {
			if got.marked[j] {
				compareCell(t, at, bin, &want.columns[j], &got.columns[j], row[j], got.rows[i][j])
			} else if !bytes.Equal(row[j], got.rows[i][j]) {
				t.Errorf("%s: row %d, column %d: %q, want %q", c.ID, i, j, got.rows[i][j], row[j])
			}
		}
	}
}
