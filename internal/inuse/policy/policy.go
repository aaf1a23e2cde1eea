// Package policy decides what an account gets of a column: its values, values
// only its own client can read, or nothing.
//
// A rule names columns by patterns; a column that no rule names is not
// protected. What an account gets of a protected one is its level, and an
// account that no list names is blocked. Where several rules name a column, the
// strictest answer counts.
//
// Rules are read into a Set, which never changes. A Store holds the current Set
// of an installation and replaces it as a whole.
package policy

import (
	"errors"
	"fmt"
	"strings"
)

// A Level is what an account gets of a protected column. The zero value is the
// strictest, and a smaller one is stricter.
type Level byte

// The levels.
const (
	Blocked    Level = iota // cells that nobody can open
	Ciphertext              // cells that the account's client can open
	Full                    // the values themselves
)

var levelNames = [...]string{Blocked: "blocked", Ciphertext: "ciphertext", Full: "full"}

func (l Level) String() string {
	if int(l) >= len(levelNames) {
		return fmt.Sprintf("level %d", byte(l))
	}
	return levelNames[l]
}

// MarshalText gives the name of a level.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// A Decision is what an account gets of a column, and the rule that says so.
// The zero value is blocked.
type Decision struct {
	Level Level  `json:"level"`
	Rule  string `json:"rule,omitempty"` // "" where no rule names the column
}

// Protected reports whether a rule names the column.
func (d Decision) Protected() bool { return d.Rule != "" }

var (
	// ErrRule means rules that cannot be used. The error is an *Error and
	// says where they are wrong, and why.
	ErrRule = errors.New("rules are wrong")
	// ErrDenied means an account may not change rules. Its words are the
	// protocol's.
	ErrDenied = errors.New("check privilege failed")
	// ErrUnknownRule means there is no rule of that name.
	ErrUnknownRule = errors.New("no such rule")
	// ErrConflict means the rules have changed since they were read.
	ErrConflict = errors.New("rules were changed by someone else")
)

// A Problem is a place where rules are wrong, or doubtful.
type Problem struct {
	Line   int    `json:"line,omitempty"` // from 1; 0 where there is none
	Reason string `json:"reason"`
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.Reason
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
}

// An Error is all that is wrong with a set of rules. It matches ErrRule.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	const most = 5
	var b strings.Builder
	b.WriteString(ErrRule.Error())
	for i, p := range e.Problems {
		if i == most {
			fmt.Fprintf(&b, "; and %d more", len(e.Problems)-most)
			break
		}
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + p.String())
	}
	return b.String()
}

// Is reports whether target is ErrRule.
func (e *Error) Is(target error) bool { return target == ErrRule }

// problems collects what is wrong while rules are read.
type problems struct{ errors, warnings []Problem }

func (p *problems) wrong(line int, format string, args ...any) {
	p.errors = append(p.errors, Problem{line, fmt.Sprintf(format, args...)})
}

func (p *problems) warn(line int, format string, args ...any) {
	p.warnings = append(p.warnings, Problem{line, fmt.Sprintf(format, args...)})
}

func (p *problems) err() error {
	if len(p.errors) == 0 {
		return nil
	}
	return &Error{p.errors}
}
