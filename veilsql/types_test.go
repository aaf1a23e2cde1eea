package veilsql_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/veilsql"
)

// A column is all database/sql tells of one.
type column struct {
	Name, Type       string
	Scan             reflect.Type
	Nullable, Known  bool
	Precision, Scale int64
	Sized            bool
}

// A table is a result as the application gets it.
type table struct {
	Columns []column
	Rows    [][]any
}

func read(t testing.TB, rows *sql.Rows, err error) (out []table) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for {
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		var one table
		for _, c := range types {
			col := column{Name: c.Name(), Type: c.DatabaseTypeName(), Scan: c.ScanType()}
			col.Nullable, col.Known = c.Nullable()
			col.Precision, col.Scale, col.Sized = c.DecimalSize()
			one.Columns = append(one.Columns, col)
		}
		for rows.Next() {
			vals := make([]any, len(types))
			dest := make([]any, len(types))
			for i := range vals {
				dest[i] = &vals[i]
			}
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			one.Rows = append(one.Rows, vals)
		}
		out = append(out, one)
		if !rows.NextResultSet() {
			break
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

const allKinds = "SELECT * FROM kinds WHERE id > ? ORDER BY id"

// query runs allKinds by the text or the binary protocol.
func query(t testing.TB, db *sql.DB, binary bool) []table {
	t.Helper()
	if binary {
		rows, err := db.Query(allKinds, 0)
		return read(t, rows, err)
	}
	rows, err := db.Query("SELECT * FROM kinds ORDER BY id")
	return read(t, rows, err)
}

// TestSameAsDirect compares everything database/sql says of a table in which
// all columns are protected with what the plain driver says of it unprotected.
func TestSameAsDirect(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	padded := gate(t, &sidecartest.Gate{Encdb: encdb.Config{PadTo: 64, Suite: encdb.SM2GCM}})
	for _, params := range []string{"", "parseTime=true", "parseTime=true&loc=Asia%2FTokyo&columnsWithAlias=true", "collation=utf8mb4_bin&maxAllowedPacket=0"} {
		for _, binary := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/binary=%t", params, binary), func(t *testing.T) {
				want := query(t, direct(t, params), binary)
				if n := len(want[0].Rows); n != 3 {
					t.Fatalf("%d rows", n)
				}
				for name, addr := range map[string]string{"exact": g.Addr, "padded": padded.Addr} {
					db := open(t, addr, params, veilsql.WithKey(withMEK))
					compare(t, name, query(t, db, binary), want)
				}
			})
		}
	}
}

func compare(t *testing.T, name string, got, want []table) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", name, len(got), len(want))
	}
	for n := range want {
		for i, c := range want[n].Columns {
			if got[n].Columns[i] != c {
				t.Errorf("%s: column %+v\nwant %+v", name, got[n].Columns[i], c)
			}
			for r := range want[n].Rows {
				if g, w := got[n].Rows[r][i], want[n].Rows[r][i]; !reflect.DeepEqual(g, w) {
					t.Errorf("%s: row %d column %s: %s, want %s", name, r, c.Name, show(g), show(w))
				}
			}
		}
	}
}

// TestVendorServers reads from servers that do not say the types of protected
// columns, and from one that does not mark them.
func TestVendorServers(t *testing.T) {
	only64 := encdb.Config{Only64: true}
	for _, tt := range []struct {
		name   string
		gate   *sidecartest.Gate
		params string
	}{
		{"marked", &sidecartest.Gate{Stranger: true}, ""},
		{"SM4", &sidecartest.Gate{Encdb: only64}, "&algorithm=SM4_128_GCM"},
		{"RSA", &sidecartest.Gate{Encdb: encdb.Config{Only64: true, Suite: encdb.RSACBC}}, ""},
		{"unmarked", &sidecartest.Gate{Encdb: only64, Unmarked: true, Stranger: true}, "&allowUnmarked=true"},
	} {
		g := gate(t, tt.gate)
		for _, binary := range []bool{false, true} {
			for _, parse := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/binary=%t/parseTime=%t", tt.name, binary, parse), func(t *testing.T) {
					params := fmt.Sprintf("parseTime=%t", parse)
					want := query(t, direct(t, params), binary)[0]
					got := query(t, open(t, g.Addr, params+tt.params, veilsql.WithKey(withMEK)), binary)[0]
					for i, c := range want.Columns {
						if protected := slices.Contains(sidecartest.Columns, "kinds."+c.Name); protected && got.Columns[i].Scan != reflect.TypeFor[any]() {
							t.Errorf("column %+v", got.Columns[i])
						}
						for r := range want.Rows {
							if g, w := got.Rows[r][i], want.Rows[r][i]; !alike(g, w) {
								t.Errorf("row %d column %s: %s, want %s", r, c.Name, show(g), show(w))
							}
						}
					}
				})
			}
		}
	}
}

// alike reports whether two values are the same but for their Go type, or for
// zeros at the end of a fraction.
func alike(got, want any) bool {
	if reflect.DeepEqual(got, want) {
		return true
	}
	g, gok := number(got)
	w, wok := number(want)
	if gok && wok && g == w {
		return true
	}
	gb, gok := got.([]byte)
	wb, wok := want.([]byte)
	if !gok || !wok {
		return fmt.Sprint(want) == string(gb)
	}
	trim := func(b []byte) string {
		if bytes.IndexByte(b, '.') >= 0 {
			b = bytes.TrimRight(bytes.TrimRight(b, "0"), ".")
		}
		return string(b)
	}
	return trim(gb) == trim(wb)
}

func show(v any) string {
	if b, ok := v.([]byte); ok {
		return fmt.Sprintf("bytes %.60q", b)
	}
	return fmt.Sprintf("%T %v", v, v)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float32:
		return float64(v), true
	case float64:
		return float64(float32(v)), math.Abs(v) < 1e6
	}
	return 0, false
}

// TestScan scans protected columns into what programs have.
func TestScan(t *testing.T) {
	for name, cfg := range map[string]encdb.Config{"layout=66": {}, "layout=64": {Only64: true}} {
		g := gate(t, &sidecartest.Gate{Encdb: cfg})
		db := open(t, g.Addr, "parseTime=true", veilsql.WithKey(withMEK))
		for _, where := range []string{"id = 2", "id = ?"} {
			t.Run(name+"/"+where, func(t *testing.T) {
				var args []any
				if where == "id = ?" {
					args = []any{2}
				}
				var (
					ti     int8
					bu     uint64
					iu     uint32
					d      float64
					f2     float32
					de     string
					dt6    time.Time
					da     sql.NullTime
					v      sql.NullString
					vb     []byte
					e      sql.Null[string]
					bi     sql.NullInt64
					y      sql.NullInt32
					nilInt sql.NullInt64
				)
				q := "SELECT ti, bu, iu, d, f2, de, dt6, da, v, vb, e, bi, y, (SELECT i FROM kinds WHERE id = 1) FROM kinds WHERE " + where
				if err := db.QueryRow(q, args...).Scan(&ti, &bu, &iu, &d, &f2, &de, &dt6, &da, &v, &vb, &e, &bi, &y, &nilInt); err != nil {
					t.Fatal(err)
				}
				moment := time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)
				if ti != -128 || bu != math.MaxUint64 || iu != math.MaxUint32 || d != -2.25e300 || de != "-12345678901234567890.0123456789" ||
					!dt6.Equal(moment) || !da.Valid || !da.Time.Equal(moment.Truncate(24*time.Hour)) || len(v.String) != 600 ||
					!bytes.Equal(vb, []byte{0, 255}) || e.V != "b" || bi.Int64 != math.MinInt64 || y.Int32 != 2155 || nilInt.Valid {
					t.Error(ti, bu, iu, d, de, dt6, da, len(v.String), vb, e, bi, y, nilInt)
				}
				if f2 != -12345.67 {
					t.Errorf("float %v", f2)
				}
			})
		}
	}
}
