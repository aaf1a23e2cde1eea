package policy

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/sql/schema"
)

const inferenceRules = `version: 1
accounts: {full: [dba], ciphertext: [app]}
rules:
  - {name: a, databases: [d], tables: [t], columns: [x, y]}
  - {name: b, databases: [d], tables: [t], columns: [y], inference: strict}
  - {name: c, databases: [d], tables: [u], columns: ["*"], inference: guarded, grants: [range, join]}
  - {name: e, databases: [d], tables: [u], columns: [z], inference: documented, accounts: {full: [app]}}
`

func TestRestrictions(t *testing.T) {
	s := mustParse(t, inferenceRules, schema.MatchCase)
	col := func(table, c string) schema.Column {
		return schema.Column{Database: "d", Table: table, Column: c}
	}
	a, b, c := Restriction{"a", Ciphertext, Guarded, 0}, Restriction{"b", Ciphertext, Strict, 0}, Restriction{"c", Ciphertext, Guarded, GrantRange | GrantJoin}
	app := s.For("app", "")
	for _, tt := range []struct {
		col  schema.Column
		want []Restriction
	}{
		{col("t", "x"), []Restriction{a}},
		{col("t", "y"), []Restriction{a, b}},
		{col("t", ""), []Restriction{a, b}},
		{col("u", "z"), []Restriction{c}}, // app is full under e
		{col("v", "z"), nil},
	} {
		if got := app.Restrictions(tt.col); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%v: %+v, want %+v", tt.col, got, tt.want)
		}
	}
	if got := app.All(); !reflect.DeepEqual(got, []Restriction{a, b, c}) {
		t.Errorf("all: %+v", got)
	}
	if got := s.For("dba", "").All(); !reflect.DeepEqual(got, []Restriction{{"e", Blocked, Documented, 0}}) {
		t.Errorf("all of dba: %+v", got)
	}
	if again := mustParse(t, string(s.Document().Encode()), schema.MatchCase); !reflect.DeepEqual(again.For("app", "").All(), app.All()) {
		t.Errorf("written and read:\n%s", s.Document().Encode())
	}
}

// TestMergeKeepsInference: rules that come over the protocol, which has no word
// for it, do not change it.
func TestMergeKeepsInference(t *testing.T) {
	d := mustParse(t, inferenceRules, schema.MatchCase).Document()
	d.Merge(&Document{Rules: []Rule{{Name: "b", Databases: entries("d"), Tables: entries("t"), Columns: entries("x")}}})
	if got := d.Rules[1]; got.Inference.Text != "strict" || got.Columns[0].Text != "x" {
		t.Errorf("%+v", got)
	}
}

func TestWrongInference(t *testing.T) {
	for name, field := range map[string]string{"inference is one of": "inference: lax", "a grant is one of": "grants: [ranges]", "are nothing beside strict": "inference: strict, grants: [order]"} {
		_, err := Parse([]byte("version: 1\nrules:\n  - {name: a, databases: d, tables: t, columns: c, "+field+"}\n"), schema.MatchCase)
		if !errors.Is(err, ErrRule) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
