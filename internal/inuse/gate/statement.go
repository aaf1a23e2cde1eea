package gate

import (
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
	"github.com/veildb/veildb/internal/sql/token"
)

// A class is the kind of a statement, by its first words.
type class string

const (
	classSelect      class = "select"
	classInsert      class = "insert"
	classUpdate      class = "update"
	classDelete      class = "delete"
	classTransaction class = "transaction"
	classSet         class = "set"
	classShow        class = "show"
	classUse         class = "use"
	classWarnings    class = "warnings"
	classOther       class = "other"
)

// A verdict says how the answer to an allowed statement is passed on.
type verdict struct {
	class class
	// touches: the statement names a table that holds protected columns.
	// Cells, errors and counts of its answer are protected.
	touches bool
	all     policy.Decision // the strictest of those tables
	// simple: a statement of one level whose result columns are what the
	// server's metadata says they are.
	simple bool
	sql    []byte // what to forward
	known  *known // what is remembered of the statement, or nil
}

// A reader judges the statements of one account. It is for one goroutine.
type reader struct {
	*access
	mode     token.Mode
	database string // the session's, "" for none

	text  token.Text
	v     verdict
	ctes  map[string]bool
	wrote []*schema.Table // tables written to
}

// judge says how to run a statement, or why not to.
func (r *reader) judge(sql []byte) (verdict, *Refusal) {
	r.v, r.ctes, r.wrote = verdict{}, nil, r.wrote[:0]
	mode := r.mode
	mode.MariaDB, mode.Version = r.cat.Server.MariaDB, r.cat.Server.Version
	if err := r.text.Scan(sql, mode); err != nil {
		return r.v, &Refusal{refuseLex.Rule, refuseLex.Reason + ": " + err.Error()}
	}
	r.text.Trim()
	if ref := r.classify(); ref != nil {
		return r.v, ref
	}
	r.v.sql = r.text.SQL
	return r.v, nil
}

func (r *reader) classify() *Refusal {
	t := &r.text
	if len(t.Tokens) == 0 {
		return refuseClass
	}
	for i := range t.Tokens {
		if t.IsSymbol(i, ";") {
			return refuseMulti
		}
	}
	first := 0
	for t.IsSymbol(first, "(") {
		first++
	}
	switch {
	case t.IsWord(first, "SELECT") || t.IsWord(first, "WITH"):
		return r.selects()
	case first > 0:
		return refuseClass
	case t.IsWord(0, "INSERT") || t.IsWord(0, "REPLACE"):
		return r.inserts()
	case t.IsWord(0, "UPDATE"):
		return r.updates()
	case t.IsWord(0, "DELETE"):
		return r.deletes()
	case t.IsWord(0, "SET"):
		r.v.class = classSet
		return r.sets()
	case t.IsWord(0, "SHOW"), t.IsWord(0, "DESC"), t.IsWord(0, "DESCRIBE"):
		r.v.class = classShow
		return r.shows()
	case t.IsWord(0, "USE") && len(t.Tokens) == 2 && t.IsName(1):
		r.v.class = classUse
		if systemSchema(fold(t.Name(1))) {
			return refuseTable
		}
		return nil
	}
	r.v.class = classTransaction
	return r.transaction()
}

// transactions are the forms of transaction statements; * is a name.
var transactions = [][]string{
	{"BEGIN"}, {"BEGIN", "WORK"}, {"COMMIT"}, {"COMMIT", "WORK"}, {"ROLLBACK"}, {"ROLLBACK", "WORK"},
	{"START", "TRANSACTION"}, {"START", "TRANSACTION", "READ", "ONLY"}, {"START", "TRANSACTION", "READ", "WRITE"},
	{"START", "TRANSACTION", "WITH", "CONSISTENT", "SNAPSHOT"},
	{"SAVEPOINT", "*"}, {"ROLLBACK", "TO", "*"}, {"ROLLBACK", "TO", "SAVEPOINT", "*"}, {"RELEASE", "SAVEPOINT", "*"},
}

func (r *reader) transaction() *Refusal {
	for _, form := range transactions {
		if r.matches(form) {
			return nil
		}
	}
	r.v.class = classOther
	return refuseClass
}

// matches reports whether the statement is the words of form, where * is any
// name, ' any string and # any number.
func (r *reader) matches(form []string) bool {
	t := &r.text
	if len(form) != len(t.Tokens) {
		return false
	}
	for i, w := range form {
		switch w {
		case "*":
			if !t.IsName(i) {
				return false
			}
		case "'":
			if t.Tokens[i].Kind != token.String {
				return false
			}
		case "#":
			if t.Tokens[i].Kind != token.Number {
				return false
			}
		default:
			if !t.IsWord(i, w) {
				return false
			}
		}
	}
	return true
}

// read goes over the whole of a statement that reads or writes tables: its
// functions, variables and names. owned is the index of an opening parenthesis
// that follows a table's name, or -1.
func (r *reader) read(owned int) *Refusal {
	t := &r.text
	r.v.simple = true
	levels := 0
	for i := range t.Tokens {
		switch t.Tokens[i].Kind {
		case token.Word:
			switch {
			case t.IsWord(i, "INTO") && r.v.class == classSelect:
				return refuseInto
			case t.IsWord(i, "PROCEDURE"):
				return refuseProcedure
			case t.IsWord(i, "SELECT"):
				levels++
			case t.IsWord(i, "FOR") && (t.IsWord(i+1, "ORDER") || t.IsWord(i+1, "GROUP")):
				return refuseForm // would end a list of tables for references
			case complicated[fold(string(t.Bytes(i)))]:
				r.v.simple = false
			}
			r.touch(i)
		case token.Quoted:
			r.touch(i)
		case token.Symbol:
			if ref := r.symbol(i, owned); ref != nil {
				return ref
			}
		}
	}
	if levels > 1 || r.v.class != classSelect && levels > 0 {
		r.v.simple = false
	}
	if r.v.touches {
		return r.touching()
	}
	return nil
}

// complicated words make result columns something else than the base columns
// the server's metadata names.
var complicated = words(`with union except intersect minus values value table natural using json_table lateral rollup procedure`)

// touch notes that token i, a name, is that of a protected table.
func (r *reader) touch(i int) {
	if d, ok := r.names[fold(r.text.Name(i))]; ok {
		r.touched(d)
	}
}

func (r *reader) touched(d policy.Decision) {
	if !r.v.touches || d.Level < r.v.all.Level {
		r.v.all = d
	}
	r.v.touches = true
}

func (r *reader) symbol(i, owned int) *Refusal {
	t := &r.text
	switch {
	case t.IsSymbol(i, "{"), t.IsSymbol(i, "}"):
		return refuseBraces
	case t.IsSymbol(i, ":="):
		return refuseVariable
	case t.IsSymbol(i, "@@"):
		return r.systemVariable(i)
	case t.IsSymbol(i, "(") && i != owned:
		return r.parenthesis(i)
	}
	return nil
}

// systemVariable judges the reading of @@name.
func (r *reader) systemVariable(i int) *Refusal {
	t := &r.text
	i++
	if (t.IsWord(i, "SESSION") || t.IsWord(i, "GLOBAL") || t.IsWord(i, "LOCAL")) && t.IsSymbol(i+1, ".") {
		i += 2
	}
	if !t.IsName(i) || t.IsSymbol(i+1, ".") || !readableVariables[fold(t.Name(i))] {
		return refuseVariable
	}
	return nil
}

// parenthesis judges the function that the opening parenthesis i belongs to.
func (r *reader) parenthesis(i int) *Refusal {
	t := &r.text
	if !t.IsName(i - 1) {
		return nil
	}
	name := fold(t.Name(i - 1))
	quoted := t.Tokens[i-1].Kind == token.Quoted
	switch {
	case r.ctes[name] && !t.IsSymbol(i-2, "."):
		return nil
	case quoted || t.IsSymbol(i-2, ".") || r.cat.HasRoutine(name):
		return refuseRoutine
	case beforeParen[name], functions[name] == fnPure:
		return nil
	case functions[name] == fnSession:
		if name == "last_insert_id" && !t.IsSymbol(i+1, ")") {
			return refuseFunction
		}
		return nil
	}
	return refuseFunction
}

// touching checks what only statements without protected tables may have.
func (r *reader) touching() *Refusal {
	t := &r.text
	for i := range t.Tokens {
		switch {
		case t.IsSymbol(i, "@"):
			return refuseVariable
		case t.IsSymbol(i, "(") && t.IsName(i-1) && functions[fold(t.Name(i-1))] == fnSession:
			return refuseFunction
		case t.IsName(i) && systemSchema(fold(t.Name(i))):
			return refuseTable
		}
	}
	return nil
}
