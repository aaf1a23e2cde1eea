package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/run"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/inuse/cells"
)

// Names on a study's servers.
const (
	studyDatabase = "veildb"
	studyAccount  = "bench" // of the load, in every variant
	gateAccount   = "veil"  // of the gate itself
)

// A serverKind is what kinds of servers differ in.
type serverKind struct {
	engine   string // its name, of package target
	program  string // the engine of each server
	title    string
	dialect  dsn.Dialect
	nodes    int // servers an arm has; more than one replicate
	variants map[string]string
	loading  map[string]string // settings while an original is filled
	prepare  []string          // statements of the administrator before it is
	settle   []string          // and after
	// native makes twin, a copy of an original, one that the engine itself
	// encrypts, and returns the settings to run it with.
	native func(ctx context.Context, e *serverEngine, twin string) error
}

// serverEngine keeps a study's servers in one directory: for each dataset a
// stopped original and its encrypted twins, and for each arm copies with
// servers of their own. The servers of both arms go by the same settings.
//
//	DATASET/            the original, plain
//	DATASET.tde/        its twin on an encrypted volume; see serverMount
//	DATASET.native/     its twin encrypted by the engine
//	baseline/, variant/ the arms, while they are up
type serverEngine struct {
	serverKind
	dir      string
	settings map[string]string
	columns  *cells.Set // of the variant cols; nil without
	// accounting is the processor time, in seconds, that reading processor
	// times has taken: some milliseconds each time where many processes run,
	// and the more the more of them an arm has.
	accounting float64
}

func openServerEngine(kind serverKind, dir string, settings map[string]string, columns *cells.Set) (*serverEngine, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o711); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	if err := os.Chmod(path, 0o711); err != nil { // the servers' user must pass
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	return &serverEngine{serverKind: kind, dir: path, settings: settings, columns: columns}, nil
}

func (e *serverEngine) Dialect() dsn.Dialect { return e.dialect }

func (e *serverEngine) Version(context.Context) (string, error) {
	in, err := target.Find(e.engine, "")
	return e.title + " " + in.Version, err
}

// Close detaches what a killed run has left mounted: servers end with their
// arms.
func (e *serverEngine) Close() error { return detachBelow(e.dir) }

// Parts of a server's directory that the engine looks at. The volume holds all
// that the server writes of its data.
const (
	volumeDir = "volume" // data/ and tmp/; of an arm, perhaps a mount point
	lowerDir  = "lower"  // what is mounted on it
)

// start starts one server in dir with the study's settings and extra ones; an
// empty value leaves a setting out. Its data and temporary files are below
// volumeDir, whatever that is.
func (e *serverEngine) start(ctx context.Context, dir string, extra map[string]string) (*target.Server, error) {
	cfg, err := e.config(dir, extra)
	if err != nil {
		return nil, err
	}
	return target.Start(ctx, cfg)
}

func (e *serverEngine) config(dir string, extra map[string]string) (target.Config, error) {
	settings := maps.Clone(e.settings)
	if settings == nil {
		settings = map[string]string{}
	}
	maps.Copy(settings, extra)
	maps.DeleteFunc(settings, func(_, value string) bool { return value == "" })
	volume := filepath.Join(dir, volumeDir)
	if err := os.MkdirAll(volume, 0o711); err != nil {
		return target.Config{}, fmt.Errorf("create data directory: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return target.Config{}, fmt.Errorf("create data directory: %w", err)
	}
	return target.Config{
		Engine: e.program, Dir: dir, Database: studyDatabase, Settings: settings, TCP: true,
		DataDir: filepath.Join(volume, "data"), TmpDir: filepath.Join(volume, "tmp"),
	}, nil
}

// Dataset fills a new server under another name and renames its directory when
// it is complete, so that an original is either whole or absent.
func (e *serverEngine) Dataset(ctx context.Context, name string, fill func(context.Context, *sql.DB) error) error {
	return e.make(name, func(dir string) error {
		err := e.with(ctx, dir, e.loading, func(s *target.Server, admin *sql.DB) error {
			return e.fill(ctx, s, admin, fill)
		})
		if err == nil && e.nodes > 1 {
			err = e.found(ctx, dir)
		}
		return err
	})
}

// make has build make the directory name, unless it is there.
func (e *serverEngine) make(name string, build func(dir string) error) error {
	path, temp := filepath.Join(e.dir, name), filepath.Join(e.dir, name+".making")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := e.remove(temp); err != nil {
		return fmt.Errorf("clear data directory: %w", err)
	}
	if err := build(temp); err != nil {
		return errors.Join(err, e.remove(temp))
	}
	return os.Rename(temp, path)
}

// remove removes a directory of servers, and first what is mounted in it.
func (e *serverEngine) remove(dir string) error {
	return errors.Join(detachBelow(dir), os.RemoveAll(dir))
}

// with runs work on a server in dir, and shuts that down in order.
func (e *serverEngine) with(ctx context.Context, dir string, extra map[string]string, work func(*target.Server, *sql.DB) error) error {
	server, err := e.start(ctx, dir, extra)
	if err != nil {
		return err
	}
	d, err := dsn.Parse(server.DSN())
	if err == nil {
		var db *sql.DB
		if db, err = d.Open(ctx, dsn.Options{}); err == nil {
			err = errors.Join(work(server, db), db.Close())
		}
	}
	if err != nil {
		server.Kill()
	}
	return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
}

// fill creates the load's account and has it fill the database.
func (e *serverEngine) fill(ctx context.Context, s *target.Server, admin *sql.DB, fill func(context.Context, *sql.DB) error) error {
	if err := execAll(ctx, admin, e.prepare); err != nil {
		return fmt.Errorf("create accounts: %w", err)
	}
	db, err := e.openPlain(ctx, s.Addr())
	if err != nil {
		return err
	}
	if err := errors.Join(fill(ctx, db), db.Close()); err != nil {
		return err
	}
	return execAll(ctx, admin, e.settle)
}

func execAll(ctx context.Context, db *sql.DB, statements []string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// openPlain connects to address as the load does.
func (e *serverEngine) openPlain(ctx context.Context, address string) (*sql.DB, error) {
	off := "?tls=off"
	if e.dialect == dsn.Postgres {
		off = "?sslmode=disable"
	}
	d, err := dsn.Parse(e.dialect.String() + "://" + studyAccount + "@" + address + "/" + studyDatabase + off)
	if err != nil {
		return nil, err
	}
	return d.Open(ctx, dsn.Options{})
}

// twin returns the directory that a variant's arms are copied from.
func (e *serverEngine) twin(ctx context.Context, dataset, variant string) (string, error) {
	original := filepath.Join(e.dir, dataset)
	var build func(dir string) error
	switch variant {
	case "tde":
		build = func(dir string) error { return e.encryptTwin(ctx, original, dir) }
	case "native":
		build = func(dir string) error {
			return errors.Join(copyTree(original, dir), e.native(ctx, e, dir))
		}
	default:
		return original, nil
	}
	name := dataset + "." + variant
	if err := e.make(name, build); err != nil {
		return "", fmt.Errorf("encrypt copy of %s: %w", dataset, err)
	}
	return filepath.Join(e.dir, name), nil
}

// Open copies the original or a twin of it, starts a server on the copy and
// what the variant puts below and before it, and connects to that.
func (e *serverEngine) Open(ctx context.Context, dataset, variant, arm string) (_ *study.Database, err error) {
	a, err := e.arm(ctx, dataset, variant, arm)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.db, err = e.connect(ctx, a, dataset, variant); err != nil {
		return nil, err
	}
	// The load's connections come and go with its terminals, never in between.
	a.db.SetMaxIdleConns(256)
	return &study.Database{DB: a.db, CPU: a.cpu, Private: direct(variant) || variant == "relay", Verify: a.verify, Close: a.close}, nil
}

// arm copies the original or a twin of it and starts servers on the copies.
func (e *serverEngine) arm(ctx context.Context, dataset, variant, arm string) (_ *serverArm, err error) {
	a := &serverArm{engine: e, dir: filepath.Join(e.dir, arm)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	source, err := e.twin(ctx, dataset, variant)
	if err != nil {
		return nil, err
	}
	if err := e.remove(a.dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(a.dir, 0o711); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	for n := range e.nodes {
		if err := a.place(ctx, source, variant, n); err != nil {
			return nil, err
		}
	}
	return a, a.start(ctx, variant)
}

// A serverArm is one arm at work.
type serverArm struct {
	engine *serverEngine
	dir    string
	nodes  []string // their directories
	mounts []*child // below the servers
	server armServer
	front  *child // between load and server; nil: nothing
	db     *sql.DB
}

// An armServer is a server, or several that replicate.
type armServer interface {
	Addr() string
	CPUSeconds() (float64, error)
	Kill()
	Stop(context.Context) error
}

// place copies source for node n and mounts what the variant has below it.
func (a *serverArm) place(ctx context.Context, source, variant string, n int) error {
	dir := filepath.Join(a.dir, fmt.Sprintf("node%d", n+1))
	a.nodes = append(a.nodes, dir)
	if err := copyTree(source, dir); err != nil {
		return err
	}
	if variant != "tde" && variant != "fuse" {
		return nil
	}
	m, err := a.engine.mount(ctx, dir, variant == "tde")
	if err != nil {
		return err
	}
	a.mounts = append(a.mounts, m)
	return nil
}

func (a *serverArm) start(ctx context.Context, variant string) error {
	e := a.engine
	var extra map[string]string
	if variant == "native" {
		extra = nativeSettings(e)
	}
	if e.nodes > 1 {
		c, err := e.startCluster(ctx, a.nodes, extra)
		if err == nil {
			a.server = c
		}
		return err
	}
	s, err := e.start(ctx, a.nodes[0], extra)
	if err == nil {
		a.server = s
	}
	return err
}

// cpu is the processor time of the load, the server and what is around it. The
// load rests meanwhile, and what it takes to read the times is not the load's.
func (a *serverArm) cpu() (c result.CPU, err error) {
	begin, err := run.SelfCPU()
	if err != nil {
		return c, err
	}
	c.Client = begin - a.engine.accounting
	if c.Engine, err = a.server.CPUSeconds(); err != nil {
		return c, err
	}
	for _, p := range append(a.mounts[:len(a.mounts):len(a.mounts)], a.front) {
		if p == nil {
			continue
		}
		s, err := target.TreeCPU(p.pid)
		if err != nil {
			return c, err
		}
		c.Product += s
	}
	end, err := run.SelfCPU()
	a.engine.accounting += end - begin
	return c, err
}

// close ends all of the arm and removes its copy, which nobody will need: the
// server need not tidy up.
func (a *serverArm) close() error {
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
	for _, m := range a.mounts {
		errs = append(errs, m.stop())
	}
	return errors.Join(append(errs, a.engine.remove(a.dir))...)
}

// direct reports whether a variant has nothing before the server.
func direct(variant string) bool {
	return variant != "relay" && variant != "gate" && !strings.HasPrefix(variant, "cols")
}
