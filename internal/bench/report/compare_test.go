package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/result"
)

// TestCompare compares a run with one that lost much more on one row, and has
// another row less.
func TestCompare(t *testing.T) {
	a, b := newFixture(7, 24).summary, newFixture(8, 24).summary
	a.Rows[0].OverheadPct = &result.Interval{Est: 2, Lo: 1, Hi: 3}
	b.Rows[0].OverheadPct = &result.Interval{Est: 9, Lo: 8, Hi: 10}
	last := len(b.Rows) - 1
	gone := b.Rows[last]
	b.Rows = b.Rows[:last]
	b.Rows[1].OverheadPct = nil
	b.Complete = false
	c := Compare([]string{"a", "b<script>"}, []*result.Summary{a, b})
	if n := len(a.Rows) + len(a.AA); len(c.Rows) != n {
		t.Fatalf("%d rows, want %d", len(c.Rows), n)
	}
	if !c.Rows[0].Apart || c.Rows[1].Apart {
		t.Errorf("apart: %v, %v", c.Rows[0].Apart, c.Rows[1].Apart)
	}
	if r := c.Rows[last]; r.Workload != gone.Workload || r.Runs[0] == nil || r.Runs[1] != nil {
		t.Errorf("row of one run: %+v", r)
	}
	var text, page, doc bytes.Buffer
	for _, err := range []error{c.Text(&text, 100, false), c.HTML(&page), c.JSON(&doc)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"2.0 (1.0 to 3.0)    9.0 (8.0 to 10.0)  apart", "no data", "plain A/A", "INCOMPLETE"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(page.String(), "b<script>") || !strings.Contains(page.String(), "apart</td>") {
		t.Error("the page shows a name as markup, or not which rows are apart")
	}
	var back Comparison
	if err := json.Unmarshal(doc.Bytes(), &back); err != nil || back.Format != CompareFormat || len(back.Rows) != len(c.Rows) {
		t.Errorf("JSON: %v, %+v", err, back.Format)
	}
}
