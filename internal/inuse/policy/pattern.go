package policy

import "strings"

// A pattern is a folded name in which "*" stands for any characters.
type pattern string

func (p pattern) literal() bool { return !strings.Contains(string(p), "*") }

// match reports whether name, which is folded, is one the pattern stands for.
func (p pattern) match(name string) bool { return glob(string(p), name, '*', 0) }

// glob matches name against a pattern in which many stands for any characters
// and one, unless it is 0, for exactly one. It looks back to the last many
// only, so it takes at most len(p) * len(name) steps.
func glob(p, name string, many, one byte) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(name) {
		switch {
		case i < len(p) && p[i] == many:
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == name[j] || one != 0 && p[i] == one):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == many {
		i++
	}
	return i == len(p)
}

// intersects reports whether some name is one both patterns stand for.
func intersects(a, b pattern) bool {
	switch {
	case a.literal():
		return b.match(string(a))
	case b.literal():
		return a.match(string(b))
	}
	// reach[j]: the part of a read so far and b[:j] can stand for one name.
	reach := make([]bool, len(b)+1)
	reach[0] = true
	for j := range b {
		reach[j+1] = reach[j] && b[j] == '*'
	}
	for i := range a {
		before := reach[0]
		reach[0] = before && a[i] == '*'
		for j := range b {
			here := reach[j+1]
			if a[i] == '*' || b[j] == '*' { // stands for nothing, or takes the other's
				reach[j+1] = here || reach[j]
			} else {
				reach[j+1] = before && a[i] == b[j]
			}
			before = here
		}
	}
	return reach[len(b)]
}
