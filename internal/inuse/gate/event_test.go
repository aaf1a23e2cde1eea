package gate

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// FuzzEventJSON holds AppendJSON against encoding/json.
func FuzzEventJSON(f *testing.F) {
	f.Add("app", "10.0.0.7", "rule", "reason", uint64(7), 3, int64(40))
	f.Add("a\"\\\x00\b\f\n\r\t\x1f<>&", "\u2028\u2029\ufffd\xff\xc3", "päule", "", uint64(0), 0, int64(0))
	f.Fuzz(func(t *testing.T, user, host, rule, reason string, version uint64, columns int, rows int64) {
		if columns < 0 || rows < 0 {
			return
		}
		e := Event{
			Time: time.Unix(rows, int64(version>>2)).UTC(), Session: version, Kind: "ciphertext", User: user, Host: host, Level: reason,
			Rules: version, Rule: rule, Reason: reason, Class: host, Columns: columns, Rows: rows, Results: rows / 2,
		}
		if y := e.Time.Year(); y < 0 || y > 9999 {
			return // beyond the format
		}
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.AppendJSON(nil); string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestEventJSON fails when a field is added to Event and not to AppendJSON.
func TestEventJSON(t *testing.T) {
	e := Event{Time: time.Now().UTC()}
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.String:
			f.SetString("x")
		case f.CanInt():
			f.SetInt(7)
		case f.CanUint():
			f.SetUint(8)
		}
	}
	for _, e := range []Event{e, {}} {
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.AppendJSON(nil); string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// BenchmarkEventJSON is what a line of the audit log costs.
func BenchmarkEventJSON(b *testing.B) {
	e := Event{Time: time.Now(), Session: 12345, Kind: "ciphertext", User: "app", Host: "10.0.0.7", Level: "ciphertext", Rules: 3,
		Rule: "shop-orders", Class: "select", Columns: 2, Rows: 40}
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		buf = e.AppendJSON(buf[:0])
	}
}
