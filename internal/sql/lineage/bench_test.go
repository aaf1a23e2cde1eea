package lineage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/sql/sqlast"
	"github.com/veildb/veildb/internal/sql/token"
)

// BenchmarkJudge is the first analysis of a statement, tokens included: what a
// miss of every cache costs. One op is one statement of a family.
func BenchmarkJudge(b *testing.B) {
	w := newWorld()
	w.run(b, schemaFile(b, "schema_hr.sql"))
	w.run(b, schemaFile(b, "schema_benign.sql"))
	x := New(w.Catalog, testRules(Documented))
	families := map[string][]corpusCase{}
	for _, c := range readCases(b, "benign.jsonl") {
		family, _, _ := strings.Cut(c.ID, "-")
		families[family] = append(families[family], c)
	}
	for _, family := range []string{"tpcc", "sysbench", "hibernate", "django", "tpch"} {
		for _, part := range []string{"tokens", "tree", "all"} {
			b.Run(fmt.Sprintf("family=%s/part=%s", family, part), func(b *testing.B) {
				b.ReportAllocs()
				cases := families[family]
				var text token.Text
				for i := 0; b.Loop(); i++ {
					c := &cases[i%len(cases)]
					if err := text.Scan([]byte(c.SQL), mariadb); err != nil {
						b.Fatal(err)
					}
					switch part {
					case "tree":
						if _, err := sqlast.Parse(&text, mariadb); err != nil {
							b.Fatal(err)
						}
					case "all":
						if v := x.Judge(&text, mariadb, Session{Database: c.DB}); v.Refusal != nil {
							b.Fatal(c.SQL, v.Refusal)
						}
					}
				}
			})
		}
	}
}
