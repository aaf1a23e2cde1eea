package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/tpcc"
)

// A userArm is a database of the user's that stands for a variant.
type userArm struct {
	name string
	dsn  dsn.DSN
	db   dbOptions
}

// parseArms reads --arm NAME=DSN and --arm-password-file NAME=FILE. The first
// arm is the baseline.
func parseArms(arms, passwords []string) ([]userArm, error) {
	const op, hint = "read --arm", "write --arm plain=mysql://user@host/db --arm tde=mysql://user@other/db"
	var out []userArm
	for _, text := range arms {
		name, address, ok := strings.Cut(text, "=")
		if !ok || !armName.MatchString(name) { // the text may hold a secret, and is not repeated
			return nil, usagef(op, hint, "an arm is NAME=DSN, NAME of letters, digits, - and _")
		}
		if slices.ContainsFunc(out, func(a userArm) bool { return a.name == name }) {
			return nil, usagef(op, hint, "arm %s is given twice", name)
		}
		a := userArm{name: name, db: dbOptions{dsn: address, passwordVar: passwordEnv + "_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}}
		var err error
		if a.dsn, err = a.db.parse(); err != nil {
			return nil, fmt.Errorf("arm %s: %w", name, err)
		}
		if a.dsn.Dialect() == dsn.SQLite || len(out) > 0 && a.dsn.Dialect() != out[0].dsn.Dialect() {
			return nil, usagef(op, hint, "arms are databases of servers that speak one protocol")
		}
		if slices.ContainsFunc(out, func(b userArm) bool { return a.dsn == b.dsn }) {
			return nil, usagef(op, hint, "two arms are the same database")
		}
		out = append(out, a)
	}
	if len(out) == 1 {
		return nil, usagef(op, hint, "one arm is nothing to compare with")
	}
	for _, text := range passwords {
		name, file, ok := strings.Cut(text, "=")
		i := slices.IndexFunc(out, func(a userArm) bool { return a.name == name })
		if !ok || i < 0 {
			return nil, usagef("read --arm-password-file", hint, "it is NAME=FILE, NAME that of an arm")
		}
		out[i].db.passwordFile = file
	}
	return out, nil
}

var armName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// onArms makes of a study one of the user's databases: the first is the
// baseline, the others its variants. Servers are theirs, so no settings count,
// and data is loaded once a comparison.
func onArms(d *study.Definition, arms []userArm) *study.Definition {
	n := *d
	n.Engine, n.Baseline, n.Baselines, n.Settings = arms[0].dsn.Dialect().String(), arms[0].name, nil, nil
	n.Headline = slices.Clone(n.Headline)
	for i := range n.Headline {
		n.Headline[i].Variants = nil // arms have names of the user's
	}
	n.Variants = nil
	for _, a := range arms[1:] {
		n.Variants = append(n.Variants, a.name)
	}
	n.Sitting, n.Reopen, n.Failover = 1000*time.Hour, false, nil
	return &n
}

// userEngine runs studies on databases that are there. It has them to itself:
// they must be empty at first.
type userEngine struct {
	arms  map[string]*userDatabase
	first *userDatabase
	fills map[string]func(context.Context, *sql.DB) error
}

// A userDatabase is one of them.
type userDatabase struct {
	userArm
	pool   *sql.DB
	marked bool // by this run
	uses   int  // comparisons' arms that have it open: two in a control
}

func openUserEngine(ctx context.Context, env *Env, arms []userArm) (_ *userEngine, err error) {
	e := &userEngine{arms: map[string]*userDatabase{}, fills: map[string]func(context.Context, *sql.DB) error{}}
	defer func() {
		if err != nil {
			for _, u := range e.arms {
				if u.marked { // another arm cannot be used
					_, dropped := u.pool.ExecContext(context.WithoutCancel(ctx), "DROP TABLE "+markTable)
					err = errors.Join(err, dropped)
				}
				u.pool.Close()
			}
		}
	}()
	for _, a := range arms {
		pool, err := a.db.open(ctx, env, a.dsn, dsn.Options{})
		if err != nil {
			return nil, a.explain(err)
		}
		pool.SetMaxIdleConns(256)
		u := &userDatabase{userArm: a, pool: pool}
		e.arms[a.name] = u
		if e.first == nil {
			e.first = u
		}
	}
	for _, u := range e.arms {
		if err := u.claim(ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// explain says of which arm err is, and how its password is given.
func (a userArm) explain(err error) error {
	if a.dsn.Dialect().IsAccessDenied(err) {
		return &Error{Code: ExitUsage, Op: "use arm " + a.name, Err: err,
			Hint: "check user, password (--arm-password-file " + a.name + "=FILE or " + a.db.passwordVar + ") and rights on the database"}
	}
	return fmt.Errorf("arm %s: %w", a.name, err)
}

// markTable is in every database that a study uses, from before it makes any
// other table until after it has dropped them.
const markTable = study.MarkTable

// claim takes a database that holds nothing, or only what an earlier run was
// killed over.
func (u *userDatabase) claim(ctx context.Context) error {
	tables, err := u.tables(ctx)
	if err != nil {
		return fmt.Errorf("arm %s: %w", u.name, err)
	}
	if len(tables) == 0 {
		if _, err := u.pool.ExecContext(ctx, "CREATE TABLE "+markTable+" (made_by VARCHAR(80))"); err != nil {
			return &Error{Code: ExitUsage, Op: "use arm " + u.name, Err: err, Hint: "its account needs all rights on its database"}
		}
		u.marked = true
		return nil
	}
	for _, t := range tables {
		if !slices.Contains(tables, markTable) || t != markTable && !studyTable.MatchString(t) {
			return usagef("use arm "+u.name, "name an empty database: a study drops what it loads",
				"the database holds tables, such as %s", t)
		}
	}
	return u.alone(ctx)
}

// aloneWait bounds how long statements of a killed run may take to end. Other
// connections may be somebody's who looks on.
const aloneWait = 20 * time.Second

// alone waits until the account has no other connection to the database: a server
// completes the statement of a client that was killed, and may make a table after
// we have dropped all.
func (u *userDatabase) alone(ctx context.Context) error {
	conn, err := u.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("arm %s: %w", u.name, err)
	}
	defer conn.Close()
	others := "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
	if u.dsn.Dialect() == dsn.Postgres {
		others = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
	}
	for end := time.Now().Add(aloneWait); time.Now().Before(end); {
		var n int
		if err := conn.QueryRowContext(ctx, others).Scan(&n); err != nil || n == 0 {
			return ctx.Err() // not every server tells
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// studyTable matches the names of the workloads' tables.
var studyTable = regexp.MustCompile(`^(sbtest\d+|veildb_loaded|warehouse|district|customer|history|new_order|oorder|orders|order_line|item|stock|tpcc_load|veildb_tpcc)$`)

func (u *userDatabase) tables(ctx context.Context) ([]string, error) {
	if u.dsn.Dialect() == dsn.Postgres {
		return schemaTables(ctx, u.pool, "current_schema()")
	}
	return schemaTables(ctx, u.pool, "DATABASE()")
}

// clear drops the workloads' tables.
func (u *userDatabase) clear(ctx context.Context) error {
	tables, err := u.tables(ctx)
	if err != nil {
		return err
	}
	conn, err := u.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	cascade := " CASCADE"
	if u.dsn.Dialect() == dsn.MySQL {
		cascade = ""
		if _, err := conn.ExecContext(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
			return err
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "SET SESSION foreign_key_checks = 1")
	}
	for _, t := range tables {
		if studyTable.MatchString(t) {
			if _, err := conn.ExecContext(ctx, "DROP TABLE "+t+cascade); err != nil {
				return fmt.Errorf("drop %s: %w", t, err)
			}
		}
	}
	if slices.Contains(tables, "orders") { // of TPROC-C, which brings procedures
		return tpcc.DropRoutines(ctx, conn, u.dsn.Dialect())
	}
	return nil
}

func (e *userEngine) Dialect() dsn.Dialect { return e.first.dsn.Dialect() }

// Version names the servers of all arms.
func (e *userEngine) Version(ctx context.Context) (string, error) {
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(e.arms)) {
		engine, version, err := e.Dialect().ServerVersion(ctx, e.arms[name].pool)
		if err != nil {
			return "", err
		}
		versions = append(versions, name+": "+engine+" "+version)
	}
	return strings.Join(versions, ", "), nil
}

// Dataset keeps fill for when a database is opened: there are no copies.
func (e *userEngine) Dataset(_ context.Context, name string, fill func(context.Context, *sql.DB) error) error {
	e.fills[name] = fill
	return nil
}

// Open loads the variant's database anew. In a control both arms are the one
// database there is, with connections of their own.
func (e *userEngine) Open(ctx context.Context, dataset, variant, _ string) (*study.Database, error) {
	u := e.arms[variant]
	if u == nil {
		return nil, usagef("open arm", "name its database with --arm", "there is no arm %s", variant)
	}
	if u.uses == 0 {
		if err := u.clear(ctx); err != nil {
			return nil, err
		}
		if err := e.fills[dataset](ctx, u.pool); err != nil {
			return nil, err
		}
	}
	u.uses++
	return &study.Database{
		DB: u.pool,
		// What the servers use cannot be seen from here.
		CPU:   func() (c result.CPU, err error) { c.Client, err = run.SelfCPU(); return c, err },
		Close: func() error { u.uses--; return nil },
	}, nil
}

// Close leaves the databases as empty as they were found.
func (e *userEngine) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(e.arms)) {
		u := e.arms[name]
		err := u.clear(ctx)
		if err == nil {
			_, err = u.pool.ExecContext(ctx, "DROP TABLE "+markTable)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("arm %s is not emptied, which the next run does: %w", name, err))
		}
		errs = append(errs, u.pool.Close())
	}
	return errors.Join(errs...)
}
