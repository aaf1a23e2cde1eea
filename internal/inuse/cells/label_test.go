package cells

import (
	"bytes"
	"encoding/hex"
	"testing"
)

func TestLabels(t *testing.T) {
	base := Column{"", "customer", "c_id"}
	for name, c := range map[string]struct {
		a, b Label
		same bool
	}{
		"case":                {ColumnLabel(base), ColumnLabel(Column{"", "CUSTOMER", "C_Id"}), true},
		"other column":        {ColumnLabel(base), ColumnLabel(Column{"", "customer", "c_w_id"}), false},
		"other table":         {ColumnLabel(base), ColumnLabel(Column{"", "history", "c_id"}), false},
		"other database":      {ColumnLabel(base), ColumnLabel(Column{"main", "customer", "c_id"}), false},
		"moved boundary":      {ColumnLabel(Column{"", "ab", "c"}), ColumnLabel(Column{"", "a", "bc"}), false},
		"boundary in name":    {ColumnLabel(Column{"", "a\x01b", "c"}), ColumnLabel(Column{"", "a", "b\x01c"}), false},
		"expression order":    {ExpressionLabel([]Column{base, {"", "t", "x"}}), ExpressionLabel([]Column{{"", "T", "X"}, base, base}), true},
		"expression set":      {ExpressionLabel([]Column{base, {"", "t", "x"}}), ExpressionLabel([]Column{base}), false},
		"expression or plain": {ExpressionLabel([]Column{base}), ColumnLabel(base), false},
		"expression boundary": {ExpressionLabel([]Column{{"", "a", "b"}, {"", "c", "d"}}), ExpressionLabel([]Column{{"", "a", "b\x00\x01c\x01d"}}), false},
	} {
		if got := bytes.Equal(c.a.aad, c.b.aad); got != c.same {
			t.Errorf("%s: %x and %x: same %v, want %v", name, c.a.aad, c.b.aad, got, c.same)
		}
	}
	if !(Label{}).IsZero() || ColumnLabel(Column{}).IsZero() || ExpressionLabel(nil).IsZero() {
		t.Error("only the zero label is zero")
	}
	if got, want := ExpressionLabel([]Column{{"", "T", "b"}, {"", "t", "A"}}).String(), "expression over t.a, t.b"; got != want {
		t.Errorf("got name %q, want %q", got, want)
	}
}

// TestLabelFrozen pins the encoding: cells in files and on the wire depend on it.
func TestLabelFrozen(t *testing.T) {
	for _, c := range []struct {
		label Label
		want  string
	}{
		{ColumnLabel(Column{"", "Customer", "C_ID"}), "010008637573746f6d657204635f6964"},
		{ColumnLabel(Column{"main", "t", "x"}), "01046d61696e01740178"},
		{ExpressionLabel([]Column{{"", "t", "x"}}), "0201e1f3dc861ff988a6186278c1beaca625861c6e329884ecda1c5e67782e7d99"},
	} {
		if got := hex.EncodeToString(c.label.aad); got != c.want {
			t.Errorf("%s: got %s, want %s", c.label, got, c.want)
		}
	}
}
