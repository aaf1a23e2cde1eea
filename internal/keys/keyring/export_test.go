package keyring

// AllSecrets returns every key of the ring, for tests that look for leaks.
func (r *Ring) AllSecrets() (out [][]byte) {
	for _, s := range append(r.keys.keks[:len(r.keys.keks):len(r.keys.keks)], r.keys.deks...) {
		out = append(out, s.Reveal())
	}
	return out
}
