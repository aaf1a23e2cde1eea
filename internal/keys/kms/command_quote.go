package kms

import (
	"fmt"
	"strings"
)

// substitute returns the shell command with %p replaced by path and %% by a
// percent sign. Paths of harmless characters are inserted as they are; others
// are quoted for the place where %p stands: bare, in single or in double quotes.
// Where quotes nest, as in "$(cat %p)", only a harmless path can be inserted.
// Errors: ErrConfig.
func substitute(command, path string) (string, error) {
	var out strings.Builder
	var q quoting
	harmless := strings.Trim(path, pathChars) == ""
	for i := 0; i < len(command); i++ {
		c := command[i]
		if c != '%' {
			q.next(c)
			out.WriteByte(c)
			continue
		}
		i++
		switch {
		case i < len(command) && command[i] == '%':
			q.next('%')
			out.WriteByte('%')
		case i < len(command) && command[i] == 'p' && harmless:
			out.WriteString(path)
		case i < len(command) && command[i] == 'p' && !q.nested && !q.escaped:
			out.WriteString(q.quote(path))
		case i < len(command) && command[i] == 'p':
			return "", fmt.Errorf("%%p stands inside nested quotes and the temporary directory %q has unusual characters: %w", path, ErrConfig)
		default:
			return "", fmt.Errorf("a key command has %% before something else than p or %%; write %%%% for a percent sign: %w", ErrConfig)
		}
	}
	return out.String(), nil
}

const pathChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,@"

// quoting follows the quotes of a shell command, character by character.
type quoting struct {
	in      byte // '\'', '"' or 0
	escaped bool // the last character was a backslash that quotes the next
	dollar  bool // the last character was a dollar sign
	nested  bool // backquotes or, inside double quotes, a substitution began, or a here-document anywhere
	less    bool // the last character was <
}

func (q *quoting) next(c byte) {
	dollar, less := q.dollar, q.less
	q.dollar, q.less = false, false
	switch {
	case q.escaped:
		q.escaped = false
	case q.in == '\'':
		if c == '\'' {
			q.in = 0
		}
	case c == '\\':
		q.escaped = true
	case c == q.in:
		q.in = 0
	case q.in == 0 && (c == '\'' || c == '"'):
		q.in = c
	case c == '`' || q.in == '"' && dollar && (c == '(' || c == '{'):
		q.nested = true
	case q.in == 0 && c == '<' && less:
		q.nested = true
	}
	q.dollar, q.less = c == '$', c == '<'
}

// quote returns path as the shell must see it here to take it literally.
func (q *quoting) quote(path string) string {
	switch q.in {
	case '\'':
		return strings.ReplaceAll(path, "'", `'\''`)
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(path)
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
