package gate

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// AppendJSON appends the event to dst, as encoding/json would write it. An audit
// log takes one for each result with ciphertext, so it allocates nothing.
func (e *Event) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"time":"`...)
	dst = e.Time.AppendFormat(dst, time.RFC3339Nano)
	dst = strconv.AppendUint(append(dst, `","session":`...), e.Session, 10)
	for _, f := range [...]struct {
		name, value string
		always      bool
	}{{"kind", e.Kind, true}, {"user", e.User, true}, {"host", e.Host, true}, {"level", e.Level, false}} {
		dst = appendField(dst, f.name, f.value, f.always)
	}
	dst = appendNumber(dst, "rules_version", e.Rules)
	dst = appendField(dst, "rule", e.Rule, false)
	dst = appendField(dst, "reason", e.Reason, false)
	dst = appendField(dst, "class", e.Class, false)
	dst = appendNumber(dst, "columns", uint64(e.Columns))
	dst = appendNumber(dst, "rows", uint64(e.Rows))
	dst = appendNumber(dst, "results", uint64(e.Results))
	return append(dst, '}')
}

func appendNumber(dst []byte, name string, n uint64) []byte {
	if n == 0 {
		return dst
	}
	dst = append(append(dst, `,"`...), name...)
	return strconv.AppendUint(append(dst, `":`...), n, 10)
}

func appendField(dst []byte, name, value string, always bool) []byte {
	if value == "" && !always {
		return dst
	}
	dst = append(append(dst, `,"`...), name...)
	dst = append(dst, `":"`...)
	for i := 0; i < len(value); {
		c := value[i]
		if plainJSON(c) {
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(value[i:])
		dst = appendEscaped(dst, r, value[i:i+n])
		i += n
	}
	return append(dst, '"')
}

// plainJSON reports whether a byte stands for itself in a JSON string that is
// also safe in HTML.
func plainJSON(c byte) bool {
	return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

// appendEscaped appends a rune, whose bytes are text, that may need an escape.
func appendEscaped(dst []byte, r rune, text string) []byte {
	const digits = "0123456789abcdef"
	switch {
	case r == utf8.RuneError && len(text) == 1:
		return append(dst, `\ufffd`...)
	case r == '"', r == '\\':
		return append(dst, '\\', byte(r))
	case r < ' ':
		if i := strings.IndexByte("\b\f\n\r\t", byte(r)); i >= 0 {
			return append(dst, '\\', "bfnrt"[i])
		}
		fallthrough
	case r < utf8.RuneSelf, r == '\u2028', r == '\u2029':
		return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
	}
	return append(dst, text...)
}
