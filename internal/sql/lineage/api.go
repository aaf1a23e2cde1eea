// Package lineage decides which columns a statement's results can depend on,
// and so what of them an account may have in plain.
//
// The default is no: a statement, function or name that is not known is refused,
// and a value whose source is not known is protected. Nothing is protected
// because of its own name.
package lineage

import (
	"slices"

	"github.com/veildb/veildb/internal/sql/schema"
)

// A RuleID is the index of a rule in Rules.List.
type RuleID uint16

// Derived stands for no rule of the list: the source of a value that may be any
// protected one. It is as strict as can be.
const Derived RuleID = 0

// Labels are the rules that hit a value, in rising order. A value without
// labels may be shown. Labels are never changed in place.
type Labels []RuleID

// Has reports whether l holds r.
func (l Labels) Has(r RuleID) bool { return slices.Contains(l, r) }

// Within reports whether o holds all of l: values of l may go where o is.
func (l Labels) Within(o Labels) bool {
	for _, r := range l {
		if !o.Has(r) {
			return false
		}
	}
	return true
}

// Union returns the labels that are in l or in o.
func (l Labels) Union(o Labels) Labels {
	if o.Within(l) {
		return l
	}
	if l.Within(o) {
		return o
	}
	out := slices.Concat(l, o)
	slices.Sort(out)
	return slices.Compact(out)
}

// An Inference says what an account may do with a protected column where it
// does not become part of the result: conditions, order and groups tell
// something of the values.
type Inference byte

// The ways. Guarded is the zero value.
const (
	// Guarded allows, as one of the conditions joined by AND at the top of
	// WHERE or ON: equality with a constant or a few, and IS [NOT] NULL. GROUP
	// BY may name the column beside a key of its table. A Grant allows more.
	Guarded Inference = iota
	// Strict allows nothing.
	Strict
	// Documented allows everything but what has side effects. A single query
	// can then get at a whole value.
	Documented
)

// A Grant allows more under Guarded; the bits combine.
type Grant byte

// The grants.
const (
	GrantRange      Grant = 1 << iota // <, <=, >, >=, BETWEEN with constants
	GrantLikePrefix                   // LIKE with a constant that begins with no wildcard
	GrantOrder                        // ORDER BY
	GrantGroup                        // GROUP BY, DISTINCT in set operations
	GrantJoin                         // equality with another column
)

// MaxGuesses is how many constants a statement may compare with protected
// columns under Guarded.
const MaxGuesses = 16

// A Rule is what lineage has to know of a rule.
type Rule struct {
	Name      string
	Inference Inference
	Grants    Grant
}

// Rules are the rules that restrict one account. They never change.
type Rules struct {
	// List holds the rules; List[Derived] is for values of unknown source, and
	// its Inference is used for them.
	List []Rule
	// Column returns the labels of a column, which are in List; nil if the
	// account may see it.
	Column func(schema.Column) Labels
	// Lost lists the tables and views of rules whose columns are not there: all
	// of them is protected until somebody says where the column went.
	Lost []schema.TableName
}

// A Session is what the meaning of a statement depends on beside the catalog.
type Session struct {
	Database string // the current one, "" for none
	// Catalog, if not nil, is the account's catalog with the session's temporary
	// tables (schema.Catalog.WithTemporary).
	Catalog *schema.Catalog
	// Explain asks for the tree of the Verdict, which costs time.
	Explain bool
}

// A Class is the kind of a statement.
type Class string

// The classes.
const (
	ClassSelect      Class = "select"
	ClassInsert      Class = "insert"
	ClassUpdate      Class = "update"
	ClassDelete      Class = "delete"
	ClassTransaction Class = "transaction"
	ClassSet         Class = "set"
	ClassShow        Class = "show" // and DESCRIBE: descriptions only
	ClassUse         Class = "use"
	ClassWarnings    Class = "warnings" // SHOW WARNINGS and ERRORS: the gate answers these itself
	ClassDefine      Class = "define"   // CREATE TABLE and the like: catalogs change
	ClassOther       Class = "other"
)

// A Verdict says whether a statement may run, and what of its answer has to be
// protected. Verdicts are never changed once made and may be kept for as long as
// the catalog, the rules, the session's database, mode and temporary tables stay
// the same.
type Verdict struct {
	Class   Class
	Refusal *Refusal // nil if the statement may run

	// Unreadable says in words of sqlast why a statement could not be read, for
	// counts; it is "" for others.
	Unreadable string

	// Instead is what to send to the server in place of the statement's canonical
	// text, "" for that text: it shows less.
	Instead string

	// Outputs are the columns of the result, nil if there is none. Their number
	// and names must be those of the server's answer. For ClassShow the answer
	// has whatever columns, and none is protected but those of Hidden.
	Outputs []Output
	// Hidden names columns of the answer of ClassShow that are to be encrypted.
	Hidden []string
	// Touched: the statement names a protected column, in its result or not.
	// Texts of errors, counts of warnings and last_insert_id of its answer are
	// to be hidden.
	Touched bool
	// Compares: the statement writes to a protected column what may be there
	// already. How many rows were changed, and not only matched, tells whether,
	// if the rules mind that: the counts of its answer are to be hidden.
	Compares bool
	// Numbers: it may insert a row whose number, which the server gives it, is
	// protected: last_insert_id of its answer is to be hidden.
	Numbers bool
	// Counted: it asks for the ROW_COUNT of the statement before, which is to be
	// refused if that one Compares.
	Counted bool
	// TextParams lists the parameters, counted from 1, that are compared with
	// protected texts: they must not be numbers or times. 0 stands for all.
	TextParams []int
	// Effects: it assigns variables, or calls functions such as LAST_INSERT_ID(n).
	Effects bool
	// Guesses counts the constants compared with protected columns.
	Guesses int
	// Exact: it holds for the statement's own constants. Others would have to be
	// judged anew where token.Text.AppendKey takes all for one.
	Exact bool
	// Writes are the tables written to, or made by ClassDefine.
	Writes []schema.TableName
	// Sets names the variables of ClassSet: folded names of system variables,
	// "names" for SET NAMES and its kin, "@" for user variables.
	Sets []string
	// Database of ClassUse.
	Database string
	// Temporary is the table that a CREATE TEMPORARY TABLE makes: to be added
	// to the session's once the server has said OK. Dropped is the one that
	// DROP TEMPORARY TABLE removes.
	Temporary *schema.Table
	Dropped   *schema.TableName

	Tree *Node // if the session asked for it
}

// An Output is a column of a result.
type Output struct {
	// Name as the server will send it, "" if that is not foreseen: the names of
	// expressions are how the server writes them.
	Name   string
	Labels Labels // encrypt if there are any
	// Base is the column whose values are shown unchanged, nil if it is an
	// expression. Types of expressions are those of the server's answer: what
	// it says there is what the revealing client should get.
	Base *schema.Column
}

// Encrypted lists the indices of the protected outputs.
func (v *Verdict) Encrypted() (out []int) {
	for i := range v.Outputs {
		if len(v.Outputs[i].Labels) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// A Refusal is why a statement must not run. It holds nothing of the statement
// but the names of kinds of things.
type Refusal struct {
	Rule   string // short name of the reason, for logs and counts
	Reason string // for people
}

func (r *Refusal) Error() string { return "refused: " + r.Reason + " (" + r.Rule + ")" }

// A Node is a part of a statement in the tree of a Verdict.
type Node struct {
	Text   string // what it is, with names of tables and columns, without literals
	Labels []string
	Kids   []*Node
}
