package token

// AppendKey appends to dst what the statement has in common with those that
// differ from it in constants only, and returns it. Each constant becomes its
// kind, one by one: a list of three is not one of four, and a number no string.
// What an analysis may look into stays as it is: names and aliases, numbers in
// lists of ORDER BY and GROUP BY, the pattern of LIKE, and every constant that
// does not follow an operator, a comma or a parenthesis. Blanks count, but not
// which and how many.
func (t *Text) AppendKey(dst []byte) []byte {
	k := keyer{Text: t, order: -1}
	at := 0
	for i, tok := range t.Tokens {
		if tok.Start > at {
			dst = append(dst, ' ')
		}
		at = tok.End
		k.place(i)
		if class := k.class(i); class != 0 {
			dst = append(dst, 0, class)
			continue
		}
		dst = append(append(dst, byte(tok.Kind)+1), t.SQL[tok.Start:tok.End]...)
	}
	return dst
}

// A keyer knows where in a statement a token stands.
type keyer struct {
	*Text
	depth int // of parentheses
	order int // depth of the ORDER BY or GROUP BY at hand, -1 for none
}

// place takes note of token i.
func (k *keyer) place(i int) {
	switch tok := k.Tokens[i]; tok.Kind {
	case Symbol:
		switch k.SQL[tok.Start] {
		case '(':
			k.depth++
		case ')':
			if k.depth--; k.depth < k.order {
				k.order = -1
			}
		}
	case Word:
		switch n := tok.End - tok.Start; {
		case k.order < 0 && n == 2 && k.IsWord(i, "BY"):
			k.order = k.depth
		case k.depth == k.order && (n == 5 && k.IsWord(i, "LIMIT") || n == 6 && k.IsWord(i, "HAVING")):
			k.order = -1
		}
	}
}

// Classes of constants in a key; none is a Kind plus one.
const (
	classString   = 's'
	classWildcard = 'w' // string that begins with a wildcard of LIKE, or might
	classInteger  = 'i'
	classDecimal  = 'd'
	classFloat    = 'f'
	classHex      = 'x' // and bits
)

// class returns the class that token i is replaced by, 0 for none.
func (k *keyer) class(i int) byte {
	tok := k.Tokens[i]
	if tok.Kind != String && tok.Kind != Number || !k.replaceable(i) {
		return 0
	}
	b := k.SQL[tok.Start:tok.End]
	if tok.Kind == String {
		if len(b) > 2 && (b[1] == '%' || b[1] == '_' || b[1] == '\\') {
			return classWildcard
		}
		return classString
	}
	switch {
	case !isDigit(b[0]) && b[0] != '.':
		if b[0] == '\\' {
			return 0
		}
		return classHex
	case len(b) > 1 && b[0] == '0' && !isDigit(b[1]) && b[1] != '.' && upper(b[1]) != 'E':
		return classHex
	}
	class := byte(classInteger)
	for _, c := range b {
		switch c {
		case '.':
			class = classDecimal
		case 'e', 'E':
			return classFloat
		}
	}
	return class
}

// replaceable reports whether constant i stands where only its kind can matter.
func (k *keyer) replaceable(i int) bool {
	if i == 0 || k.order >= 0 {
		return false
	}
	switch prev := k.Tokens[i-1]; prev.Kind {
	case Symbol:
		switch k.SQL[prev.Start] {
		case '(', ',', '=', '<', '>', '!', '+', '-', '*', '/', '%', '&', '|', '^', '~':
		default:
			return false
		}
	case Word:
		if !k.IsWord(i-1, "AND") && !k.IsWord(i-1, "OR") && !k.IsWord(i-1, "BETWEEN") && !k.IsWord(i-1, "LIMIT") && !k.IsWord(i-1, "OFFSET") {
			return false
		}
	default:
		return false
	}
	if i+1 == len(k.Tokens) {
		return true
	}
	// Another string would continue it, and a name may be an alias, which does
	// not matter, or anything.
	return k.Tokens[i+1].Kind != String
}
