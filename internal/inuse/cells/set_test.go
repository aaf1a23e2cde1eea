package cells

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSetHas(t *testing.T) {
	s, err := NewSet("customer.C_ID", "hr.Staff.salary", "sbtest*.k", "*.ssn", `"odd name"."a.b"`, `"st*r".x`, "log_*_v*.*note")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		column Column
		want   bool
	}{
		{Column{"", "customer", "c_id"}, true},
		{Column{"main", "CUSTOMER", "c_Id"}, true},
		{Column{"main", "customer", "c_id2"}, false},
		{Column{"main", "customers", "c_id"}, false},
		{Column{"hr", "staff", "SALARY"}, true},
		{Column{"", "staff", "salary"}, true}, // database not known: fail closed
		{Column{"test", "staff", "salary"}, false},
		{Column{"", "sbtest", "k"}, true},
		{Column{"", "sbtest128", "k"}, true},
		{Column{"", "sbtest1", "kk"}, false},
		{Column{"", "asbtest1", "k"}, false},
		{Column{"", "anything", "ssn"}, true},
		{Column{"", "odd name", "a.b"}, true},
		{Column{"", "odd name", "ab"}, false},
		{Column{"", "st*r", "x"}, true},
		{Column{"", "star", "x"}, false},
		{Column{"", "log_a_v2", "footnote"}, true},
		{Column{"", "log_v2", "note"}, false},
		{Column{}, false},
	} {
		if got := s.Has(c.column); got != c.want {
			t.Errorf("%v: got %v, want %v", c.column, got, c.want)
		}
	}
	for table, want := range map[string]bool{"Customer": true, "sbtest9": true, "staff": true} {
		if got := s.HasTable("", table); got != want {
			t.Errorf("table %s: got %v, want %v", table, got, want)
		}
	}
	plain, _ := NewSet("customer.c_id", "hr.staff.salary")
	if plain.HasTable("main", "staff") || plain.HasTable("", "customers") || !plain.HasTable("hr", "staff") {
		t.Error("HasTable does not follow table and database")
	}
	got := s.Unmatched([]Column{{"main", "Customer", "c_id"}, {"main", "sbtest1", "k"}})
	if want := []string{"hr.Staff.salary", "*.ssn", `"odd name"."a.b"`, `"st*r".x`, "log_*_v*.*note"}; !slices.Equal(got, want) {
		t.Errorf("unmatched %q, want %q", got, want)
	}
}

func TestReadSet(t *testing.T) {
	s, err := ReadSet(strings.NewReader("# list\n\n customer.c_id # number\r\n\"a#b\".c\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Patterns(), []string{"customer.c_id", `"a#b".c`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no dot":        {"customer.c_id\ncustomer\n", "line 2"},
		"four names":    {"a.b.c.d", "line 1"},
		"empty name":    {"a..b", "empty name"},
		"trailing dot":  {"a.b.", "empty name"},
		"leading dot":   {".b", "empty name"},
		"comma":         {"a.b, a.c", "double quotes"},
		"two words":     {"a.b c", "double quotes"},
		"open quote":    {`a."b`, "quote without end"},
		"after quote":   {`a."b"c`, "after a quoted name"},
		"empty quote":   {`a.""`, "empty name"},
		"nothing":       {"# only a comment\n", "no line names a column"},
		"one long line": {strings.Repeat("x", 1<<17), "token too long"},
	} {
		_, err := ReadSet(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
		}
		if name != "one long line" && !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: error %v is not ErrSyntax", name, err)
		}
	}
}

// FuzzSet checks that a list that reads reads the same again from its
// patterns, and that no list panics.
func FuzzSet(f *testing.F) {
	f.Add("customer.c_id\nsbtest*.k # x\n\"a\"\"b\".c\n")
	f.Add("a.b.c\n*.*\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadSet(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := NewSet(s.Patterns()...)
		if err != nil {
			t.Fatalf("patterns %q do not read again: %v", s.Patterns(), err)
		}
		for _, c := range []Column{{"", "a", "b"}, {"a", "b", "c"}, {"", "customer", "c_id"}} {
			if s.Has(c) != again.Has(c) {
				t.Fatalf("%v differs after reading again", c)
			}
		}
	})
}

func BenchmarkSetHas(b *testing.B) {
	s, _ := NewSet("customer.c_id", "customer.c_last", "sbtest*.k", "sbtest*.c")
	for name, c := range map[string]Column{"exact": {"main", "customer", "c_id"}, "pattern": {"main", "sbtest17", "c"}, "none": {"main", "item", "i_id"}} {
		b.Run("column="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Has(c)
			}
		})
	}
}
