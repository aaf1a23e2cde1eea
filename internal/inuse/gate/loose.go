package gate

import (
	"math"
	"slices"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/lineage"
	"github.com/veildb/veildb/internal/sql/token"
)

// firstLoose finds the first column whose type an execution can choose: one that is
// no column of a table, in a statement with parameters or variables among what it
// shows.
func (j *judgement) firstLoose(t *token.Text) int {
	if j.Verdict == nil || !chooses(t, j.nested || j.Class != lineage.ClassSelect) {
		return math.MaxInt
	}
	for i := range j.outputs {
		if j.Outputs[i].Base == nil {
			return i
		}
	}
	return math.MaxInt
}

// chooses reports whether parameters or variables stand among what a statement
// shows, before FROM; if all is set, anywhere. Within EXISTS, which has one type,
// they choose nothing.
func chooses(t *token.Text, all bool) bool {
	depth, exists := 0, 0 // the depth that EXISTS is at, plus one
	for i := range t.Tokens {
		if exists == 0 && t.IsWord(i, "EXISTS") && i+1 < len(t.Tokens) && t.Tokens[i+1].Kind == token.Symbol && t.Bytes(i + 1)[0] == '(' {
			exists = depth + 1
		}
		if t.Tokens[i].Kind == token.Symbol {
			switch t.Bytes(i)[0] {
			case '(':
				depth++
			case ')':
				if depth--; depth < exists {
					exists = 0
				}
			case '?', '@':
				if exists == 0 {
					return true
				}
			}
		}
		if !all && depth == 0 && t.IsWord(i, "FROM") {
			return false
		}
	}
	return false
}

// beyond decides about column i of a result where the server may leave definitions
// out, at or after one whose type may change. It tells of the change, but by a sum of
// 32 bits, for which a client can make two results that agree. Then rows would be
// read by the wrong types and protected values be found among the bytes of columns
// that are not. So if anything is protected, all is from there on.
func (j *judgement) beyond(d policy.Decision, i int) (policy.Decision, error) {
	covers := j.touches && j.nested || slices.ContainsFunc(j.outputs, policy.Decision.Protected)
	switch {
	case d.Protected() && !covers: // so says the server alone, after columns in plain
		return d, errSource
	case !d.Protected() && covers:
		return j.all, nil
	}
	return d, nil
}
