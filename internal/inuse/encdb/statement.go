package encdb

import (
	"bytes"
	"fmt"
	"strings"
)

// A Kind says what a statement means to the protocol.
type Kind byte

// The kinds of statements.
const (
	// Other means the statement is none of the protocol's.
	Other Kind = iota
	// Probe asks for the status variable Polar_role; the answer is ProbeAnswer.
	Probe
	// Message carries a request to Session.Handle in its one argument.
	Message
	// RuleOp changes rules; its arguments are an operation and JSON.
	RuleOp
	// Refused means the statement uses the protocol in a way that is not
	// understood, or would put a master key into a variable. It may hold
	// secrets: it must be neither forwarded nor logged.
	Refused
)

// ProbeAnswer is the names and the values of the one row that answers a Probe.
var ProbeAnswer = [2][2]string{{"Variable_name", "Value"}, {"Polar_role", "primary"}}

// AnswerColumn is the name of the one column, of type VAR_STRING, that answers
// a Message.
const AnswerColumn = "ENCDB_PROCESS_MESSAGE()"

// An Arg is an argument of a control function: a string, or a parameter whose
// value comes with the execution of a prepared statement.
type Arg struct {
	Value     []byte
	Parameter bool
}

// A Statement is what Recognise found.
type Statement struct {
	Kind   Kind
	Args   []Arg  // Message: 1, RuleOp: 2
	Reason string // Refused: why, without any part of the statement
}

const (
	messageFunction = "encdb_process_message"
	ruleFunction    = "encdb_rule_op"
	functionPrefix  = "encdb_"
)

// Recognise finds out whether a statement is one of the protocol's. It takes
// any case, white space and comments anywhere, an alias, and one ";" at the
// end; a string may be in single or double quotes, in several pieces, in
// hexadecimal, or with a character set before it. noBackslash is the session's
// NO_BACKSLASH_ESCAPES. Most statements cost a look at their first words.
func Recognise(sql []byte, noBackslash bool) Statement {
	l := lexer{b: sql, noBackslash: noBackslash}
	switch word := l.word(); {
	case equal(word, "select"):
		return l.selectFunction()
	case equal(word, "show"):
		if l.probe() {
			return Statement{Kind: Probe}
		}
	case equal(word, "set"):
		if l.setsKey() {
			return Statement{Kind: Refused, Reason: "a master key must not be put into a variable; the driver in use is not the one this connection string is for"}
		}
	}
	return Statement{}
}

func equal(word []byte, lower string) bool { return strings.EqualFold(string(word), lower) }

// selectFunction goes on after SELECT.
func (l *lexer) selectFunction() Statement {
	name := l.name()
	if len(name) < len(functionPrefix) || !equal(name[:len(functionPrefix)], functionPrefix) {
		return Statement{}
	}
	if !l.symbol('(') {
		return Statement{} // a column
	}
	want, kind := 1, Message
	switch {
	case equal(name, ruleFunction):
		want, kind = 2, RuleOp
	case !equal(name, messageFunction):
		return Statement{Kind: Refused, Reason: "this function of the protocol is not supported"}
	}
	args, err := l.args(want)
	if err != nil {
		return Statement{Kind: Refused, Reason: err.Error()}
	}
	return Statement{Kind: kind, Args: args}
}

// args reads n arguments, the closing parenthesis, and the end.
func (l *lexer) args(n int) ([]Arg, error) {
	args := make([]Arg, 0, n)
	for i := range n {
		if i > 0 && !l.symbol(',') {
			return nil, fmt.Errorf("want %d arguments", n)
		}
		if l.symbol('?') {
			args = append(args, Arg{Parameter: true})
			continue
		}
		s, ok := l.text()
		if !ok {
			return nil, fmt.Errorf("argument %d is not a string literal", i+1)
		}
		args = append(args, Arg{Value: s})
	}
	if !l.symbol(')') {
		return nil, fmt.Errorf("want %d arguments and a closing parenthesis", n)
	}
	if l.alias(); !l.end() {
		return nil, fmt.Errorf("the function must be the whole statement")
	}
	return args, nil
}

// probe reads the rest of SHOW STATUS for Polar_role.
func (l *lexer) probe() bool {
	const variable = "polar_role"
	word := l.word()
	if equal(word, "session") || equal(word, "global") || equal(word, "local") {
		word = l.word()
	}
	if !equal(word, "status") {
		return false
	}
	switch word = l.word(); {
	case equal(word, "like"):
	case equal(word, "where"):
		name := l.name()
		if !equal(name, "variable_name") || !l.symbol('=') && !equal(l.word(), "like") {
			return false
		}
	default:
		return false
	}
	s, ok := l.text()
	return ok && equal(bytes.ReplaceAll(s, []byte(`\_`), []byte("_")), variable) && l.end()
}

// setsKey reports whether SET assigns to a variable MEK or ENC_ALGO, as
// ordinary drivers do with parameters they do not know.
func (l *lexer) setsKey() bool {
	for {
		l.space()
		switch {
		case len(l.b) == 0:
			return false
		case isName(l.b[0]) || l.b[0] == '`':
			name := l.name()
			if (equal(name, "mek") || equal(name, "enc_algo")) && (l.symbol('=') || l.symbol(':')) {
				return true
			}
		case l.b[0] == '\'' || l.b[0] == '"':
			if _, ok := l.quoted(); !ok {
				return false
			}
		default:
			l.b = l.b[1:]
		}
	}
}
