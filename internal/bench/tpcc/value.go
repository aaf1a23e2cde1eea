package tpcc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// Amounts are whole cents and rates whole ten-thousandths everywhere in this
// package, so sums are exact. SQLite, which has no decimal type, stores them as
// such; the servers store decimals.

// epoch is when the initial population was entered, in Unix seconds
// (2024-01-01 00:00 UTC). Data must depend on the seed alone, so neither the
// load nor a run asks the clock.
const epoch = 1_704_067_200

// moneyArg is an amount as a statement's parameter.
func moneyArg(d dsn.Dialect, cents int64) any {
	if d == dsn.SQLite {
		return cents
	}
	return string(appendFixed(make([]byte, 0, 16), cents, 2))
}

// dateArg is a time as a statement's parameter.
func dateArg(d dsn.Dialect, unix int64) any {
	switch d {
	case dsn.SQLite:
		return unix
	case dsn.Postgres:
		return time.Unix(unix, 0).UTC().Format(time.DateTime)
	}
	return time.Unix(unix, 0).UTC()
}

// appendFixed appends n / 10^scale to b.
func appendFixed(b []byte, n int64, scale int) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	unit := int64(1)
	for range scale {
		unit *= 10
	}
	b = strconv.AppendInt(b, n/unit, 10)
	b = append(b, '.')
	for unit /= 10; unit > 0; unit /= 10 {
		b = append(b, byte('0'+n/unit%10))
	}
	return b
}

// fixed scans an amount or rate: a number of 1/10^scale. Set whole when the
// column holds that number itself, as SQLite's columns do.
type fixed struct {
	n     int64
	scale int
	whole bool
}

// Scan implements sql.Scanner.
func (f *fixed) Scan(src any) (err error) {
	scale := f.scale
	if f.whole {
		scale = 0
	}
	switch v := src.(type) {
	case int64:
		f.n = v * int64(math.Pow10(scale))
	case float64:
		f.n = int64(math.Round(v * math.Pow10(scale)))
	case float32: // MySQL's FLOAT
		f.n = int64(math.Round(float64(v) * math.Pow10(scale)))
	case []byte:
		f.n, err = parseFixed(string(v), scale)
	case string:
		f.n, err = parseFixed(v, scale)
	case nil:
		f.n = 0 // a sum over nothing
	default:
		err = fmt.Errorf("read amount: unexpected type %T", src)
	}
	return err
}

// parseFixed reads a decimal number as n / 10^scale, rounding half up.
func parseFixed(s string, scale int) (int64, error) {
	digits, neg := strings.CutPrefix(s, "-")
	whole, frac, _ := strings.Cut(digits, ".")
	if strings.ContainsAny(digits, "eE") || len(whole) > 15 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, fmt.Errorf("read amount: %w", strconv.ErrSyntax)
		}
		return int64(math.Round(f * math.Pow10(scale))), nil
	}
	n, err := strconv.ParseUint(whole, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("read amount: %w", strconv.ErrSyntax)
	}
	up := uint64(0)
	for i := range max(scale+1, len(frac)) {
		c := byte('0')
		if i < len(frac) {
			c = frac[i]
		}
		switch {
		case c < '0' || c > '9':
			return 0, fmt.Errorf("read amount: %w", strconv.ErrSyntax)
		case i < scale:
			n = n*10 + uint64(c-'0')
		case i == scale && c >= '5':
			up = 1
		}
	}
	r := int64(n + up)
	if neg {
		r = -r
	}
	return r, nil
}

// ignored takes a column the client only has to receive.
type ignored struct{}

// Scan implements sql.Scanner.
func (ignored) Scan(any) error { return nil }

// values collects the values of rows to load, either as parameters or, for
// PostgreSQL, in COPY's text format. Its buffers are reused.
type values struct {
	dialect dsn.Dialect
	copy    bool
	args    []any
	text    []byte
	rows    int
	first   bool // the next value is the first of its row
}

func (v *values) reset() { v.args, v.text, v.rows, v.first = v.args[:0], v.text[:0], 0, true }

func (v *values) end() {
	v.rows++
	if v.copy {
		v.text = append(v.text, '\n')
	}
	v.first = true
}

func (v *values) tab() {
	if !v.first {
		v.text = append(v.text, '\t')
	}
	v.first = false
}

func (v *values) int(n int) {
	if v.copy {
		v.tab()
		v.text = strconv.AppendInt(v.text, int64(n), 10)
		return
	}
	v.args = append(v.args, int64(n))
}

func (v *values) null() {
	if v.copy {
		v.tab()
		v.text = append(v.text, `\N`...)
		return
	}
	v.args = append(v.args, nil)
}

// str adds a text; those of this package need no escape in COPY's format.
func (v *values) str(s string) {
	if v.copy {
		v.tab()
		v.text = append(v.text, s...)
		return
	}
	v.args = append(v.args, s)
}

func (v *values) fixed(n int64, scale int) {
	switch {
	case v.copy:
		v.tab()
		v.text = appendFixed(v.text, n, scale)
	case v.dialect == dsn.SQLite:
		v.args = append(v.args, n)
	default:
		v.args = append(v.args, string(appendFixed(make([]byte, 0, 16), n, scale)))
	}
}

func (v *values) money(cents int) { v.fixed(int64(cents), 2) }
func (v *values) rate(n int)      { v.fixed(int64(n), 4) }

func (v *values) date(unix int64) {
	if v.copy {
		v.tab()
		v.text = time.Unix(unix, 0).UTC().AppendFormat(v.text, time.DateTime)
		return
	}
	v.args = append(v.args, dateArg(v.dialect, unix))
}
