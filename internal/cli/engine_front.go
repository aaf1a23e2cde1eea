package cli

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/inuse/cells"
	"github.com/veildb/veildb/veilsql"
)

// connect starts what stands before the server of a, and opens it.
func (e *serverEngine) connect(ctx context.Context, a *serverArm, dataset, variant string) (_ *sql.DB, err error) {
	if direct(variant) {
		return e.openPlain(ctx, a.server.Addr())
	}
	if variant == "relay" {
		if a.front, err = startChild(ctx, serving(filepath.Join(a.dir, "front.log"), "bench", "relay", "--backend", a.server.Addr())); err != nil {
			return nil, err
		}
		return e.openPlain(ctx, a.front.address)
	}
	set := &cells.Set{}
	if variant != "gate" {
		if set, err = columnsOf(dataset, variant, e.columns); err != nil {
			return nil, err
		}
	}
	if a.front, err = startGate(ctx, a.dir, a.server.Addr(), set); err != nil {
		return nil, err
	}
	if variant == "gate" {
		return e.openPlain(ctx, a.front.address)
	}
	return openRevealing(ctx, a.front.address)
}

// startGate starts a gate to the server at backend that protects the columns of
// set. Its files are in dir.
func startGate(ctx context.Context, dir, backend string, set *cells.Set) (*child, error) {
	rules := filepath.Join(dir, "rules.yaml")
	if err := disk.AtomicWrite(rules, studyRules(set.Patterns()), 0o600); err != nil {
		return nil, fmt.Errorf("write rules: %w", err)
	}
	return startChild(ctx, serving(filepath.Join(dir, "front.log"), "gate", "serve", "--listen", "127.0.0.1:0",
		"--backend", "mysql://"+gateAccount+"@"+backend+"/", "--rules", rules,
		"--allow-clear-keys", "--audit", filepath.Join(dir, "audit.jsonl"), "--grace", "1s"))
}

// studyRules are the rules of a gate that protects the columns of patterns from
// the load's account, whose statements may use them in conditions as before.
func studyRules(patterns []string) []byte {
	tables := map[string][]string{}
	for _, p := range patterns {
		table, column, _ := strings.Cut(p, ".")
		tables[table] = append(tables[table], fmt.Sprintf("%q", column))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\naccounts: {ciphertext: [%s]}\nregistrars: [%[1]s]\nrules:", studyAccount)
	if len(tables) == 0 {
		b.WriteString(" []")
	}
	for i, t := range slices.Sorted(maps.Keys(tables)) {
		fmt.Fprintf(&b, "\n  - {name: r%d, databases: [%s], tables: [%q], columns: [%s], inference: documented}",
			i, studyDatabase, t, strings.Join(tables[t], ", "))
	}
	return []byte(b.String() + "\n")
}

// openRevealing connects as openPlain does, with a driver that decrypts; its
// sessions have the same settings. The master key is made for it.
func openRevealing(ctx context.Context, address string) (*sql.DB, error) {
	key := make([]byte, 32)
	rand.Read(key)
	options := url.Values{
		"allowInsecure": {"true"}, // over the loopback device, as all arms
		"parseTime":     {"true"}, "clientFoundRows": {"true"}, "time_zone": {"'+00:00'"},
		"charset": {"utf8mb4"}, "collation": {"utf8mb4_general_ci"}, "timeout": {"10s"},
	}
	c, err := veilsql.NewConnector(studyAccount+"@tcp("+address+")/"+studyDatabase+"?"+options.Encode(),
		veilsql.WithDialer(dsn.Dial), // as all arms
		veilsql.WithKey(func(context.Context) ([]byte, error) { return slices.Clone(key), nil }))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to gate: %w", err), db.Close())
	}
	return db, nil
}
