package report

import (
	"bytes"
	"testing"

	"github.com/veildb/veildb/internal/bench/result"
)

// TestBrief keeps the page for who decides, with a failover in it.
func TestBrief(t *testing.T) {
	f := withTables()
	f.summary.Failovers = []result.Failover{
		{Variant: "plain", Number: 1, Replica: "2 of 2", Acknowledged: 900, GapS: 5.2, Transfer: "IST", Equal: true},
		{Variant: "tde", Number: 1, Replica: "2 of 2", Acknowledged: 800, GapS: 5.4, Transfer: "IST", Equal: true},
	}
	var page bytes.Buffer
	if err := Brief(&page, f.summary); err != nil {
		t.Fatal(err)
	}
	golden(t, "brief.md", page.String())
}
