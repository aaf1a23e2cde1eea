package gate

// selects judges SELECT and WITH.
func (r *reader) selects() *Refusal {
	t := &r.text
	r.v.class = classSelect
	r.findCTEs()
	if ref := r.read(-1); ref != nil {
		return ref
	}
	for i := range t.Tokens {
		// WITH can lead to statements that write.
		if i > 0 && (t.IsWord(i, "UPDATE") && !t.IsWord(i-1, "FOR") || t.IsWord(i, "DELETE") || t.IsWord(i, "HANDLER")) && !afterDot(t, i) {
			return refuseForm
		}
	}
	if ref := r.references(0, len(t.Tokens), level{}); ref != nil {
		return ref
	}
	if r.v.touches {
		return r.touching()
	}
	return nil
}

// findCTEs notes the names WITH gives: name [(columns)] AS (query).
func (r *reader) findCTEs() {
	t := &r.text
	for i := range t.Tokens {
		if !t.IsWord(i, "WITH") {
			continue
		}
		i++
		if t.IsWord(i, "RECURSIVE") {
			i++
		}
		for t.IsName(i) {
			name := fold(t.Name(i))
			i++
			if t.IsSymbol(i, "(") {
				i = r.closing(i) + 1
			}
			if !t.IsWord(i, "AS") || !t.IsSymbol(i+1, "(") {
				break
			}
			if r.ctes == nil {
				r.ctes = map[string]bool{}
			}
			r.ctes[name] = true
			if i = r.closing(i+1) + 1; !t.IsSymbol(i, ",") {
				break
			}
			i++
		}
	}
}

// closing returns the parenthesis that closes the one at i, or the end.
func (r *reader) closing(i int) int {
	t := &r.text
	for depth := 0; i < len(t.Tokens); i++ {
		if t.IsSymbol(i, "(") {
			depth++
		} else if t.IsSymbol(i, ")") {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}
