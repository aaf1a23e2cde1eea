package cli

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/inuse/cells"
	"github.com/veildb/veildb/veilsql"
)

// mariadbVariants says what each variant of MariaDB is.
var mariadbVariants = map[string]string{
	"plain":   "MariaDB as it is",
	"relay":   "through a process that passes bytes on",
	"gate":    "through the gate, nothing protected",
	"cols20":  "through the gate, 20 % of the columns encrypted; the client decrypts (veilsql)",
	"cols50":  "50 % of the columns",
	"cols100": "all columns",
	"cols":    "the columns that --columns FILE lists",
}

// Names on a study's servers.
const (
	studyDatabase = "veildb"
	studyAccount  = "bench" // of the load, in every variant
	gateAccount   = "veil"  // of the gate itself
)

// mariadbEngine keeps a study's servers in one directory: for each dataset a
// stopped original, and for each arm a copy of it with a server of its own.
// The servers go by the same settings.
type mariadbEngine struct {
	dir      string
	settings map[string]string
	columns  *cells.Set // of the variant cols; nil without
}

func openMariaDBEngine(dir string, settings map[string]string, columns *cells.Set) (*mariadbEngine, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o711); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	return &mariadbEngine{dir: path, settings: settings, columns: columns}, nil
}

func (e *mariadbEngine) Dialect() dsn.Dialect { return dsn.MySQL }

func (e *mariadbEngine) Version(context.Context) (string, error) {
	in, err := target.Find(target.MariaDB, "")
	return "MariaDB " + in.Version, err
}

// Close has nothing to close: servers end with their arms.
func (e *mariadbEngine) Close() error { return nil }

func (e *mariadbEngine) start(ctx context.Context, dir string, extra map[string]string) (*target.Server, error) {
	settings := maps.Clone(e.settings)
	if settings == nil {
		settings = map[string]string{}
	}
	maps.Copy(settings, extra)
	return target.Start(ctx, target.Config{
		Engine: target.MariaDB, Dir: dir, Database: studyDatabase, Settings: settings, TCP: true,
	})
}

// Dataset fills a new server under another name and renames its directory when
// it is complete, so that an original is either whole or absent.
func (e *mariadbEngine) Dataset(ctx context.Context, name string, fill func(context.Context, *sql.DB) error) error {
	path, temp := filepath.Join(e.dir, name), filepath.Join(e.dir, name+".loading")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.RemoveAll(temp); err != nil {
		return fmt.Errorf("clear data directory: %w", err)
	}
	server, err := e.start(ctx, temp, map[string]string{
		"innodb_flush_log_at_trx_commit": "0",
		"innodb_fast_shutdown":           "0", // leaves no work behind that a copy would do
	})
	if err != nil {
		return err
	}
	err = e.fill(ctx, server, fill)
	if err != nil {
		server.Kill()
	}
	if err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return os.Rename(temp, path)
}

func (e *mariadbEngine) fill(ctx context.Context, server *target.Server, fill func(context.Context, *sql.DB) error) error {
	d, err := dsn.Parse(server.DSN())
	if err != nil {
		return err
	}
	db, err := d.Open(ctx, dsn.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	for _, s := range []string{
		"CREATE USER " + studyAccount + "@'%', " + gateAccount + "@'%'",
		"GRANT ALL ON " + studyDatabase + ".* TO " + studyAccount + "@'%'",
		"GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO " + gateAccount + "@'%'",
	} {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("create accounts: %w", err)
		}
	}
	return fill(ctx, db)
}

// Open copies the original, starts a server on the copy and what the variant
// puts before it, and connects to that.
func (e *mariadbEngine) Open(ctx context.Context, dataset, variant, arm string) (_ *study.Database, err error) {
	a := &mariadbArm{dir: filepath.Join(e.dir, arm)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if err := errors.Join(os.RemoveAll(a.dir), copyTree(filepath.Join(e.dir, dataset), a.dir)); err != nil {
		return nil, err
	}
	if a.server, err = e.start(ctx, a.dir, nil); err != nil {
		return nil, err
	}
	if a.db, err = e.connect(ctx, a, dataset, variant); err != nil {
		return nil, err
	}
	// The load's connections come and go with its terminals, never in between.
	a.db.SetMaxIdleConns(256)
	return &study.Database{DB: a.db, CPU: a.cpu, Close: a.close}, nil
}

// connect starts what stands before the server of a, and opens it.
func (e *mariadbEngine) connect(ctx context.Context, a *mariadbArm, dataset, variant string) (_ *sql.DB, err error) {
	log := filepath.Join(a.dir, "front.log")
	switch variant {
	case "plain":
		return openPlain(ctx, a.server.Addr())
	case "relay":
		if a.front, err = startChild(ctx, log, "bench", "relay", "--backend", a.server.Addr()); err != nil {
			return nil, err
		}
		return openPlain(ctx, a.front.address)
	}
	set := &cells.Set{}
	if variant != "gate" {
		if set, err = columnsOf(dataset, variant, e.columns); err != nil {
			return nil, err
		}
	}
	rules := filepath.Join(a.dir, "rules.yaml")
	if err := disk.AtomicWrite(rules, studyRules(set.Patterns()), 0o600); err != nil {
		return nil, fmt.Errorf("write rules: %w", err)
	}
	a.front, err = startChild(ctx, log, "gate", "serve", "--listen", "127.0.0.1:0",
		"--backend", "mysql://"+gateAccount+"@"+a.server.Addr()+"/", "--rules", rules,
		"--allow-clear-keys", "--audit", filepath.Join(a.dir, "audit.jsonl"), "--grace", "1s")
	if err != nil {
		return nil, err
	}
	if variant == "gate" {
		return openPlain(ctx, a.front.address)
	}
	return openRevealing(ctx, a.front.address)
}

// studyRules are the rules of a gate that protects the columns of patterns from
// the load's account.
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
		fmt.Fprintf(&b, "\n  - {name: r%d, databases: [%s], tables: [%q], columns: [%s]}",
			i, studyDatabase, t, strings.Join(tables[t], ", "))
	}
	return []byte(b.String() + "\n")
}

// openPlain connects to address as the load does.
func openPlain(ctx context.Context, address string) (*sql.DB, error) {
	d, err := dsn.Parse("mysql://" + studyAccount + "@" + address + "/" + studyDatabase + "?tls=off")
	if err != nil {
		return nil, err
	}
	return d.Open(ctx, dsn.Options{})
}

// openRevealing does the same, with a driver that decrypts; its sessions have
// the same settings. The master key is made for it.
func openRevealing(ctx context.Context, address string) (*sql.DB, error) {
	key := make([]byte, 32)
	rand.Read(key)
	options := url.Values{
		"allowInsecure": {"true"}, // over the loopback device, as all arms
		"parseTime":     {"true"}, "clientFoundRows": {"true"}, "time_zone": {"'+00:00'"},
		"charset": {"utf8mb4"}, "collation": {"utf8mb4_general_ci"}, "timeout": {"10s"},
	}
	c, err := veilsql.NewConnector(studyAccount+"@tcp("+address+")/"+studyDatabase+"?"+options.Encode(),
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

// mariadbArm is one arm at work.
type mariadbArm struct {
	dir    string
	server *target.Server
	front  *child // between load and server; nil: nothing
	db     *sql.DB
}

// cpu is the processor time of the load, the server and what is between.
func (a *mariadbArm) cpu() (c result.CPU, err error) {
	if c.Client, err = run.SelfCPU(); err != nil {
		return c, err
	}
	if c.Engine, err = a.server.CPUSeconds(); err != nil {
		return c, err
	}
	if a.front != nil {
		c.Product, err = target.TreeCPU(a.front.pid)
	}
	return c, err
}

// close ends all of the arm and removes its copy, which nobody will need: the
// server need not tidy up.
func (a *mariadbArm) close() error {
	var errs []error
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	errs = append(errs, a.front.stop())
	if a.server != nil {
		a.server.Kill()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		errs = append(errs, a.server.Stop(ctx))
	}
	return errors.Join(append(errs, os.RemoveAll(a.dir))...)
}

// copyTree copies the files of a stopped server.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o711)
		case e.Type().IsRegular():
			return copyFile(path, filepath.Join(to, rel))
		}
		return nil
	})
}
