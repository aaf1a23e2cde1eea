package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/gate"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// gateKeyVersion is the data key that what a gate has of --key is derived from: it
// stays when others are added.
const gateKeyVersion = 1

// useKey gives the gate what it has of --key.
func (o *gateOptions) useKey(ctx context.Context, env *Env, op string, log *slog.Logger) error {
	if o.key == "" {
		if o.shareKeys {
			return usagef(op, "add --key, with a key file that all gates have", "--share-keys without a key")
		}
		return nil
	}
	ring, err := openKeyring(ctx, env, o.key)
	if err != nil {
		return err
	}
	defer ring.Close()
	if err := o.identify(ring, env); err != nil {
		return err
	}
	if o.shareKeys {
		return o.share(ctx, ring, op, log)
	}
	return nil
}

// identify gives the gate its identity and says how to pin it.
func (o *gateOptions) identify(ring *keyring.Ring, env *Env) error {
	seed, err := ring.Subkey("gate identity", gateKeyVersion)
	if err != nil {
		return err
	}
	defer seed.Close()
	identity := ed25519.NewKeyFromSeed(seed.Reveal()[:ed25519.SeedSize])
	o.cfg.EncDB.Identity = identity
	_, err = fmt.Fprintf(env.Stdout, "clients can pin this gate: --gate-key-hash %s\n", encdb.IdentityPin(identity.Public().(ed25519.PublicKey)))
	return err
}

// share has the master keys that are kept in a table that other gates use too.
func (o *gateOptions) share(ctx context.Context, ring *keyring.Ring, op string, log *slog.Logger) error {
	rules, ok := strings.CutPrefix(o.rules, sharedTable)
	if !ok || o.registry != "" && !strings.HasPrefix(o.registry, sharedTable) {
		return usagef(op, "publish the rules with veildb rule publish, and give --rules table:NAME", "--share-keys without a table of rules and a registry that the gates share")
	}
	if o.cfg.KeepKeys <= 0 {
		return usagef(op, "give --keep-keys a time, or leave --share-keys out", "--share-keys where no keys are kept")
	}
	key, err := ring.Subkey("gate kept keys", gateKeyVersion)
	if err != nil {
		return err
	}
	defer key.Close()
	table := &gate.KeptTable{Name: gate.KeptTableName(rules), Backends: o.cfg.Backends}
	err = table.Check(ctx)
	if errors.Is(err, gate.ErrNoBackend) {
		return gateError(op, err)
	}
	if err != nil {
		return &Error{Code: ExitMissing, Op: op, Err: err, Hint: "veildb rule publish makes the table; GRANT INSERT, DELETE ON " + gate.SharedDatabase + "." + table.Name + " to the account of --backend"}
	}
	o.cfg.SharedKeys, err = encdb.NewSharing(table, key.Reveal(), keptReport(log, time.Minute))
	return err
}

// keptReport logs that keys cannot be shared, at most once in an interval.
func keptReport(log *slog.Logger, interval time.Duration) func(error) {
	var mu sync.Mutex
	var told time.Time
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(told) >= interval {
			told = time.Now()
			log.Error("a master key is not shared with the other gates", "cause", err)
		}
	}
}
