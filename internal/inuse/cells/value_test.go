package cells

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// values is every type a cell holds, at its edges.
var values = map[string]any{
	"int zero":         int64(0),
	"int min":          int64(math.MinInt64),
	"int max":          int64(math.MaxInt64),
	"float zero":       float64(0),
	"float minus zero": math.Copysign(0, -1),
	"float inf":        math.Inf(-1),
	"float tiny":       math.SmallestNonzeroFloat64,
	"true":             true,
	"false":            false,
	"string empty":     "",
	"string":           "Łódź \x00 \xff",
	"string long":      strings.Repeat("x", 70_000),
	"bytes empty":      []byte{},
	"bytes":            []byte{0, 1, 0xff},
	"bytes long":       bytes.Repeat([]byte{7}, 1<<20),
	"time zero":        time.Time{},
	"time utc":         time.Date(2026, 2, 28, 23, 59, 59, 999_999_999, time.UTC),
	"time east":        time.Date(2026, 2, 28, 23, 59, 59, 1, time.FixedZone("", 5*3600+1800)),
	"time west":        time.Date(1, 1, 1, 0, 0, 0, 0, time.FixedZone("", -3*3600-7)),
	"time local":       time.Date(2026, 7, 1, 12, 0, 0, 0, time.Local),
	"time far":         time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC),
	"uint max":         uint64(math.MaxUint64),
	"float32":          float32(1.5),
}

// same compares a and b as an application sees them: type and value, for times
// instant and offset.
func same(a, b any) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	switch a := a.(type) {
	case time.Time:
		b := b.(time.Time)
		_, ao := a.Zone()
		_, bo := b.Zone()
		return a.Equal(b) && ao == bo && (a.Location() == time.UTC) == (b.Location() == time.UTC)
	case float64:
		return math.Float64bits(a) == math.Float64bits(b.(float64))
	case []byte:
		return bytes.Equal(a, b.([]byte))
	}
	return a == b
}

func TestValueRoundTrip(t *testing.T) {
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			b := appendValue([]byte("prefix"), v)
			if n, err := valueSize(v); err != nil || n != len(b)-len("prefix") {
				t.Errorf("size %d, %v, but %d bytes", n, err, len(b)-len("prefix"))
			}
			got, err := parseValue(b[len("prefix"):])
			if err != nil {
				t.Fatal(err)
			}
			if !same(got, v) {
				t.Errorf("got %T %.40v, want %T %.40v", got, got, v, v)
			}
		})
	}
	if got, _ := parseValue(appendValue(nil, time.Time{})); got != (time.Time{}) {
		t.Errorf("zero time: got %#v, want the very zero value", got)
	}
}

func TestValueOfUnknownType(t *testing.T) {
	for _, v := range []any{nil, 7, int32(7), []string{"hunter2"}, struct{ S string }{"hunter2"}, new("hunter2")} {
		_, err := valueSize(v)
		if !errors.Is(err, ErrUnknownType) {
			t.Errorf("%T: got error %v, want ErrUnknownType", v, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%T: the error holds the value: %v", v, err)
		}
	}
}

func TestValueMalformed(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":           {},
		"no tag":          {0},
		"unknown tag":     {0x7f, 1, 2},
		"short int":       {tagInt64, 1, 2, 3},
		"long int":        append([]byte{tagInt64}, make([]byte, 9)...),
		"short float":     {tagFloat64},
		"bool two":        {tagBool, 2},
		"bool long":       {tagBool, 1, 1},
		"short time":      append([]byte{tagTime}, make([]byte, 15)...),
		"time nanosecond": {tagTime, 0, 0, 0, 0, 0, 0, 0, 0, 0x3b, 0x9a, 0xca, 0x00, 0, 0, 0, 0},
		"time zone":       {tagTime, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0},
		"short float32":   {tagFloat32, 0},
	} {
		if v, err := parseValue(b); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: got %v, %v, want ErrTampered", name, v, err)
		}
	}
}

// FuzzValue checks that what parses is what is written again, byte for byte:
// each value has one encoding.
func FuzzValue(f *testing.F) {
	for _, v := range values {
		b := appendValue(nil, v)
		f.Add(b[:min(len(b), 64)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := parseValue(b)
		if err != nil {
			if !errors.Is(err, ErrTampered) {
				t.Fatalf("error %v is not ErrTampered", err)
			}
			return
		}
		again := appendValue(nil, v)
		if tm, ok := v.(time.Time); ok && tm.Location() != time.UTC {
			return // instants beyond the zone database may shift; see TestValueRoundTrip
		}
		if !bytes.Equal(again, b) {
			t.Fatalf("read %x, wrote %x", b, again)
		}
	})
}
