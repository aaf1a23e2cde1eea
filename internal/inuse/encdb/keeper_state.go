package encdb

import (
	"fmt"
	"slices"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// MaxKeeperState bounds the text of Export in bytes: maxKept accounts with the
// longest names that servers allow.
const MaxKeeperState = 2 << 20

// Export returns what is kept, for the Keeper of a successor. It holds the keys as
// they are; the caller wipes it. For each account it has
//
//	user, host, login, server, master key   length (1) and bytes
//	hash (1) || algorithm (1)
func (k *Keeper) Export() []byte {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	size := 0
	for a, key := range k.kept {
		size += 7 + len(a.User) + len(a.Host) + len(a.Login) + len(a.Server) + key.mek.Len()
	}
	out := make([]byte, 0, size) // never moved, so that nothing is left behind
	for a, key := range k.kept {
		fields := [][]byte{[]byte(a.User), []byte(a.Host), []byte(a.Login), []byte(a.Server), key.mek.Reveal()}
		if slices.ContainsFunc(fields, func(f []byte) bool { return len(f) > 255 }) {
			continue
		}
		for _, f := range fields {
			out = append(append(out, byte(len(f))), f...)
		}
		out = append(out, byte(key.hash), byte(key.algorithm))
	}
	return out
}

// Import keeps what another Keeper has exported, as if it had just been used: the
// Registry and the rules are asked again. It wipes state. ErrMessage
// means that the state is damaged; what came before the damage is kept.
func (k *Keeper) Import(state []byte) error {
	defer clear(state)
	for rest := state; len(rest) > 0; {
		var fields [5][]byte
		for i := range fields {
			if len(rest) == 0 || len(rest) <= int(rest[0]) {
				return fmt.Errorf("import keys: %w", ErrMessage)
			}
			n := 1 + int(rest[0])
			fields[i], rest = rest[1:n], rest[n:]
		}
		if len(rest) < 2 {
			return fmt.Errorf("import keys: %w", ErrMessage)
		}
		h, alg := Hash(rest[0]), Algorithm(rest[1])
		rest = rest[2:]
		if n := len(fields[4]); n != 16 && n != 32 || h > SM3 || !alg.Authenticated() {
			return fmt.Errorf("import keys: %w", ErrMessage)
		}
		a := Account{User: string(fields[0]), Host: string(fields[1]), Login: string(fields[2]), Server: string(fields[3])}
		mek, err := secret.From(fields[4])
		if err != nil {
			return fmt.Errorf("import keys: %w", err)
		}
		key, err := k.newKey(mek, h, alg)
		if err == nil {
			k.put(a, key) // of unknown age: one that others share counts as newer
		}
		mek.Close()
	}
	return nil
}
