package schema

import (
	"errors"
	"testing"
)

func TestFold(t *testing.T) {
	c := Column{"Shop", "ORDERS", "Größe"}
	for _, tt := range []struct {
		setting int
		want    Column
	}{
		{0, Column{"Shop", "ORDERS", "größe"}},
		{1, Column{"shop", "orders", "größe"}},
		{2, Column{"shop", "orders", "größe"}},
	} {
		n, err := FromSetting(tt.setting)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Fold(c); got != tt.want || n.Fold(got) != got {
			t.Errorf("setting %d: %v folds to %v, want %v", tt.setting, c, got, tt.want)
		}
	}
	if n, err := FromSetting(3); !errors.Is(err, ErrSetting) || n != IgnoreCase {
		t.Errorf("setting 3: %v, %v", n, err)
	}
	if got := c.String(); got != "Shop.ORDERS.Größe" {
		t.Errorf("String: %s", got)
	}
}
