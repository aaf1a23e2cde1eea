package lineage

import (
	"strings"

	"github.com/veildb/veildb/internal/sql/sqlast"
)

// NULL is not encrypted: clients see which values are NULL. So an expression
// over protected values may be NULL only where one of them is; otherwise
// NULLIF(n, salary) would show the salary by where it is NULL.

// plainNull are the functions that are NULL for no reason but a NULL argument.
var plainNull = words(`
abs any_value ascii avg bit_and bit_length bit_or bit_xor cast ceil ceiling char_length character_length coalesce concat concat_ws count crc32 crc32c
degrees exp first_value floor greatest group_concat hex ifnull json_array json_arrayagg json_object json_objectagg json_quote last_value lcase least
left length lengthb locate lower ltrim max md5 median mid min nvl octet_length ord position quote radians regexp_replace replace reverse right round
rtrim sha sha1 sign soundex std stddev stddev_pop stddev_samp substr substring substring_index sum to_base64 trim truncate ucase upper values value
var_pop var_samp variance st_asbinary st_astext st_aswkb st_aswkt st_srid instr find_in_set field strcmp bin oct natural_sort_key format`)

// plainNullFirst are such functions if none but the first argument is protected.
var plainNullFirst = words(`aes_encrypt chr compress conv lpad regexp_substr repeat rpad sha2`)

// plainNullTime are such functions for arguments that are times.
var plainNullTime = words(`
date date_format day dayname dayofmonth dayofweek dayofyear hour last_day microsecond minute month monthname quarter second time time_format to_days
week weekday weekofyear year yearweek datediff timestampdiff extract`)

// plainNullMoves are functions that move a time, and are NULL beyond the first year
// and the last.
var plainNullMoves = words(`adddate date_add date_sub subdate`)

// slightMoves are the most digits of the amounts, by unit, that move no time by
// more than a thousand years.
var slightMoves = map[string]int{"YEAR": 3, "QUARTER": 3, "MONTH": 3, "WEEK": 4, "DAY": 5, "HOUR": 6, "MINUTE": 8, "SECOND": 9, "MICROSECOND": 15}

// plainNullOperators are such operators.
var plainNullOperators = words(`plus minus mul sign cast collate row xor = <> < <=> like regexp bitand bitor bitxor leftshift rightshift bitneg`)

// tells reports whether the NULLs of a call with labels may depend on protected
// values.
func (a *analysis) tells(c *sqlast.Call, args []value, sc *scope) bool {
	switch c.Name {
	case "count", "is null", "isnull":
		return false
	case "coalesce", "ifnull", "nvl":
		for _, e := range c.Args {
			if notNull(e) {
				return false
			}
		}
	}
	for _, v := range args {
		if v.tells {
			return true
		}
	}
	if !c.Operator {
		switch {
		case plainNullFirst[c.Name]:
			for _, v := range args[1:] {
				if len(v.labels) > 0 {
					return true
				}
			}
			return pads[c.Name] && !a.pad(c.Args)
		case c.Name == "nth_value", c.Name == "lag", c.Name == "lead":
			return len(args) > 1 && len(args[1].labels) > 0 // which row, or none
		case plainNull[c.Name], c.Name == "default":
			return false
		case c.Name == "if" && len(args) == 3:
			return chooses(args[:1], c.Args[1:])
		case plainNullTime[c.Name]:
			for _, v := range args {
				if len(v.labels) > 0 && (v.base == nil || !temporal(v.base.kind)) {
					return true
				}
			}
			return false
		case c.Name == "unix_timestamp" && len(args) == 1: // NULL before 1970
			return args[0].base == nil || !strings.HasPrefix(strings.ToLower(args[0].base.kind), "timestamp")
		case plainNullMoves[c.Name]:
			return args[0].base == nil || !temporal(args[0].base.kind) || !a.slight(c.Args)
		case c.Name == "mod" && len(args) == 2:
			return a.compares(args[1], c.Args[1], sc)
		case c.Name == "nullif" && len(args) == 2 && constant(c.Args[1]):
			return a.compares(args[0], c.Args[0], sc)
		}
		return true
	}
	switch c.Name {
	case "case":
		return chooses(args[:1], c.Args[1:])
	case "is true":
		return false
	case "not":
		return false // its operand was judged
	case "not like":
		return false
	case "=", "<>", "<":
		for _, e := range c.Args {
			if row, ok := e.(*sqlast.Call); ok && row.Operator && row.Name == "row" {
				return true
			}
		}
		return false
	case "in", "not in", "between", "not between":
		for _, y := range c.Args[1:] {
			if !notNull(y) {
				return true
			}
		}
		return false
	case "div", "intdiv", "mod":
		return a.compares(args[1], c.Args[1], sc)
	}
	return !plainNullOperators[c.Name]
}

// pads are the functions that fill texts up.
var pads = words(`lpad rpad`)

// pad reports whether LPAD has something to fill up with: without, it is NULL if
// a text is too short.
func (a *analysis) pad(args []sqlast.Expr) bool {
	a.exact = true
	if len(args) < 3 {
		return true
	}
	c, ok := args[2].(*sqlast.Constant)
	return ok && c.Kind == sqlast.String && c.Text != ""
}

// slight reports whether a time is moved by a small amount, so that the NULL it can
// give tells no more than that it was at an end of all times.
func (a *analysis) slight(args []sqlast.Expr) bool {
	a.exact = true
	if len(args) < 2 {
		return false
	}
	unit := "DAY"
	if len(args) > 2 {
		u, ok := args[2].(*sqlast.Constant)
		if !ok || u.Kind != sqlast.Other {
			return false
		}
		unit = u.Text
	}
	e := args[1]
	if sign, ok := e.(*sqlast.Call); ok && sign.Operator && sign.Name == "sign" {
		e = sign.Args[0]
	}
	n, ok := e.(*sqlast.Constant)
	return ok && n.Kind == sqlast.Number && n.Text != "" && len(n.Text) <= slightMoves[unit]
}

// chooses reports whether protected conditions decide between results of which
// some may be NULL.
func chooses(when []value, results []sqlast.Expr) bool {
	if len(when[0].labels) == 0 {
		return false
	}
	for _, r := range results {
		if !notNull(r) {
			return true
		}
	}
	return false
}

// notNull reports whether an expression is never NULL for certain.
func notNull(e sqlast.Expr) bool {
	c, ok := e.(*sqlast.Constant)
	return ok && (c.Kind == sqlast.String || c.Kind == sqlast.Number)
}

// compares reports whether it tells more than whether a column, or a sum of one,
// is some constant when e, which gives v, is compared with one: what is divided
// by is compared with zero. That is a guess, as in a condition.
func (a *analysis) compares(v value, e sqlast.Expr, sc *scope) bool {
	if len(v.labels) == 0 {
		return false
	}
	if c, ok := e.(*sqlast.Call); ok && c.Name == "nullif" && len(c.Args) == 2 && constant(c.Args[1]) {
		e = c.Args[0]
	}
	if c, ok := e.(*sqlast.Call); ok && c.Aggregate && len(c.Args) == 1 && plainNull[c.Name] {
		e = c.Args[0]
	}
	if _, ok := a.bare(e, sc); !ok || v.tells {
		return true
	}
	for _, r := range v.labels {
		if a.rules().List[r].Inference == Strict {
			return true
		}
	}
	a.guess(1)
	a.use(useEqual, v.labels)
	return false
}

// temporal reports whether a type is one of times.
func temporal(kind string) bool {
	kind = strings.ToLower(kind)
	return strings.HasPrefix(kind, "date") || strings.HasPrefix(kind, "time")
}
