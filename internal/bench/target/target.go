// Package target starts and stops private throwaway database servers.
//
// A server lives in a directory of its own, listens on a unix socket and, when
// asked, on a free loopback port, reads no configuration but the one given
// here, and never touches a server that was already there. It is stopped by
// the process it is, not by name, and dies with the program that started it
// unless it was started detached.
package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Engine names, as on the command line.
const (
	MariaDB  = "mariadb"
	MySQL    = "mysql"
	Postgres = "postgres"
)

// Engines lists the engines this package can start.
func Engines() []string { return []string{MariaDB, MySQL, Postgres} }

// Errors a caller decides on. Start and Find wrap them.
var (
	ErrUnknownEngine = errors.New("unknown engine")
	ErrNotInstalled  = errors.New("not installed")
	// ErrNotPermitted: this user may not do what the server needs here.
	ErrNotPermitted = errors.New("not permitted here")
	// ErrForeignDir: the directory holds files this package did not put there.
	ErrForeignDir = errors.New("directory holds other files")
	// ErrBusy: another process is running or preparing a server in the directory.
	ErrBusy = errors.New("directory is in use by another process")
	// ErrSetting: a server setting that cannot be chosen.
	ErrSetting = errors.New("bad server setting")
	// ErrStart: the server did not come up; the text ends with its log.
	ErrStart = errors.New("server did not come up")
	// ErrGone: the process has ended, and nobody here asked it to.
	ErrGone = errors.New("process has ended by itself")
)

// Config says what to start. Only Engine is required.
type Config struct {
	Engine string
	// BinDir holds the server's programs. Empty: search the usual places,
	// the newest version wins.
	BinDir string
	// Dir is the server's directory. Empty: a temporary one, removed by
	// Stop. A directory with a stopped server of the same engine is
	// reused with its data; one with other files is refused.
	Dir string
	// DataDir is where the data goes when it should not be Dir/data, for
	// instance on an encrypted mount. It must be empty at first.
	DataDir string
	// TmpDir is where the server's temporary files go when that should not
	// be Dir/tmp.
	TmpDir string
	// Database is created with the data. Empty: "veildb".
	Database string
	// Settings are server settings, such as innodb_buffer_pool_size or
	// shared_buffers; they win over the defaults of this package.
	Settings map[string]string
	// TCP makes the server listen on a free port of 127.0.0.1 as well. The
	// administrator has no password, so every user of this machine can
	// then connect.
	TCP bool
	// Template is a directory that caches freshly initialised data, to
	// save initialising again. Empty: none.
	Template string
	// Detached lets the server outlive this process; see Server.State.
	Detached bool
	// Timeout bounds initialising, starting and stopping, each. 0: 60 s.
	Timeout time.Duration

	// otherUser makes root run the server as somebody else, as it does those
	// that insist on it; the data are given to that user.
	otherUser bool
}

// A Server is a running private server. Its methods are safe for concurrent use,
// but for one at a time of Stop, Kill and Restart.
type Server struct {
	cfg     Config
	inst    Install
	eng     engine
	dir     *directory
	stopped bool

	mu   sync.Mutex // of what Restart changes
	addr string     // host:port, "" without TCP
	proc *process   // nil before the first
}

// Start initialises the data if there is none, starts the server and waits
// until it answers. It returns ErrUnknownEngine, ErrNotInstalled,
// ErrNotPermitted, ErrForeignDir, ErrBusy, ErrSetting or ErrStart, and leaves nothing
// behind then.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Database == "" {
		cfg.Database = "veildb"
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	if !plainName(cfg.Database) {
		return nil, fmt.Errorf("start server: database name %q: want letters, digits and _", cfg.Database)
	}
	inst, err := Find(cfg.Engine, cfg.BinDir)
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	if err := checkSettings(engines[cfg.Engine], cfg.Settings); err != nil {
		return nil, fmt.Errorf("start %s: %w", cfg.Engine, err)
	}
	s := &Server{cfg: cfg, inst: inst, eng: engines[cfg.Engine]}
	s.dir, err = openDirectory(cfg, inst, s.eng)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cfg.Engine, err)
	}
	if err := s.start(ctx); err != nil {
		s.dir.discard()
		return nil, fmt.Errorf("start %s: %w", cfg.Engine, err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	if err := s.initialise(ctx); err != nil {
		return err
	}
	return s.launch(ctx)
}

// initialise fills the data directory, from the template where it can.
func (s *Server) initialise(ctx context.Context) error {
	if s.dir.initialised() {
		if s.cfg.otherUser {
			if err := s.dir.giveAll(); err != nil {
				return err
			}
		}
		return s.dir.makeDirs()
	}
	if err := s.dir.mark(s.inst, s.cfg.Database, false); err != nil {
		return err
	}
	s.dir.clear()
	if err := s.dir.makeDirs(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	fresh := func(data string) error {
		for _, t := range s.eng.initialise(s, data) {
			if err := s.runTool(ctx, t); err != nil {
				return fmt.Errorf("initialise data: %w", err)
			}
		}
		return nil
	}
	var err error
	if s.cfg.Template == "" {
		err = fresh(s.dir.data)
	} else {
		key := strings.Join([]string{s.inst.Engine, s.inst.Version, s.cfg.Database, s.eng.dataOptions(s)}, "-")
		err = copyTemplate(ctx, filepath.Join(s.cfg.Template, key), s.dir, fresh)
	}
	if err != nil {
		return err
	}
	return s.dir.mark(s.inst, s.cfg.Database, true)
}

// A tool is one run of a program that ends by itself.
type tool struct {
	argv  []string
	stdin string
}

// runTool runs t as the server's user and returns its output in the error.
func (s *Server) runTool(ctx context.Context, t tool) error {
	cmd := exec.Command(t.argv[0], t.argv[1:]...)
	cmd.Dir = s.dir.run
	cmd.Env = childEnv(s.dir)
	cmd.Stdin = strings.NewReader(t.stdin)
	out := new(tailBuffer)
	cmd.Stdout, cmd.Stderr = out, out
	p, err := spawn(cmd, s.dir.cred, deathSignal(defaultDeath), false)
	if err != nil {
		return fmt.Errorf("run %s: %w", filepath.Base(t.argv[0]), err)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.killTree()
		return ctx.Err()
	}
	if p.err != nil {
		return fmt.Errorf("run %s: %w: %s", filepath.Base(t.argv[0]), p.err, out)
	}
	return nil
}

// launch starts the server process and waits until it answers. A port taken by
// another process between choosing and using it is chosen anew; a server that
// starts again keeps its own if it can.
func (s *Server) launch(ctx context.Context) error {
	var err error
	for try := range 3 {
		if s.cfg.TCP && (try > 0 || s.Addr() == "") {
			ports, err := FreePorts(1)
			if err != nil {
				return err
			}
			s.set(loopback(ports[0]), s.process())
		}
		if err = s.launchOnce(ctx); err == nil || !s.cfg.TCP || !strings.Contains(strings.ToLower(err.Error()), "in use") {
			return err
		}
	}
	return err
}

func (s *Server) launchOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	logFile, err := os.OpenFile(s.dir.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer logFile.Close()
	argv := s.eng.serve(s)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = s.dir.run
	cmd.Env = childEnv(s.dir)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	proc, err := spawn(cmd, s.dir.cred, deathSignal(s.eng.deathSignal()), s.cfg.Detached)
	if err != nil {
		return fmt.Errorf("run %s: %w", filepath.Base(argv[0]), err)
	}
	s.set(s.Addr(), proc)
	if s.cfg.Detached {
		// Before it answers: from here on a killed program leaves a server
		// that its State can stop.
		if err := s.dir.writeState(s.State()); err != nil {
			proc.killTree()
			return err
		}
	}
	if err := s.awaitReady(ctx); err != nil {
		proc.killTree()
		os.Remove(filepath.Join(s.dir.root, stateName))
		return fmt.Errorf("%w: %w; its log: %s", ErrStart, err, tailFile(s.dir.log))
	}
	return nil
}

// Stop shuts the server down in order, kills it if that takes longer than
// Config.Timeout or ctx ends first, and removes a temporary directory. Calling
// it again does nothing.
func (s *Server) Stop(ctx context.Context) error {
	if s == nil || s.stopped {
		return nil
	}
	s.stopped = true
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	err := s.process().stop(ctx, s.eng.stopSignal())
	return errors.Join(err, s.dir.release())
}

// Kill ends the server as a power failure would, as far as a process can, and
// keeps its directory even if it is temporary: Restart continues from there.
func (s *Server) Kill() { s.process().killTree() }

// Restart starts the server again on its data after Kill.
func (s *Server) Restart(ctx context.Context) error {
	if s.stopped {
		return errors.New("restart server: it was stopped")
	}
	if s.process().alive() {
		return fmt.Errorf("restart server: %w", ErrBusy)
	}
	if err := s.launch(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", s.cfg.Engine, err)
	}
	return nil
}

// Done is closed when the server process has ended, for whatever reason.
func (s *Server) Done() <-chan struct{} { return s.process().done }

// Engine is the engine's name.
func (s *Server) Engine() string { return s.inst.Engine }

// Version is the engine's version, such as "10.11.6" or "15.5".
func (s *Server) Version() string { return s.inst.Version }

// Dir is the server's directory, DataDir that of its data.
func (s *Server) Dir() string     { return s.dir.root }
func (s *Server) DataDir() string { return s.dir.data }

// LogFile is what the server wrote to its standard output and error.
func (s *Server) LogFile() string { return s.dir.log }

// Socket is the unix socket's path.
func (s *Server) Socket() string { return s.eng.socket(s.dir.run, s.port()) }

// Addr is the loopback address "127.0.0.1:port", or "" without Config.TCP.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

func (s *Server) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

func (s *Server) set(addr string, proc *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addr, s.proc = addr, proc
}

// User is the administrator's name; it has no password.
func (s *Server) User() string { return s.eng.user() }

// DSN is the server's database over the unix socket as a URL:
// mysql://root@/db?socket=PATH or postgres://postgres@:PORT/db?host=DIR.
func (s *Server) DSN() string { return s.State().DSN() }

// DSNFor is DSN for another database or, with a not empty user, another user.
func (s *Server) DSNFor(user, database string) string {
	st := s.State()
	if user != "" {
		st.User = user
	}
	st.Database = database
	return st.DSN()
}

// TCPDSN is the server's database over loopback, or "" without Config.TCP.
func (s *Server) TCPDSN() string { return s.State().TCPDSN() }

// PID is the main process, PIDs that and every process below it.
func (s *Server) PID() int    { return s.process().pid }
func (s *Server) PIDs() []int { return treePIDs(s.process().pid) }

// Tree is pid and every living process below it, parents first.
func Tree(pid int) []int { return treePIDs(pid) }

// CPUSeconds is the processor time, user and system, the server has used since
// it started, its ended child processes included.
func (s *Server) CPUSeconds() (float64, error) { return TreeCPU(s.process().pid) }

func (s *Server) port() int {
	_, p, err := net.SplitHostPort(s.Addr())
	if err != nil { // there is none
		return 0
	}
	n, _ := strconv.Atoi(p)
	return n
}

// plainName reports whether s can stand in SQL and a file name unquoted.
func plainName(s string) bool {
	for i, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9' && i > 0) {
			return false
		}
	}
	return s != "" && len(s) <= 48
}

// childEnv is all the environment a server sees: nothing that could point it,
// or a library it uses, at another server or configuration.
func childEnv(d *directory) []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LC_ALL=C", "TZ=UTC", "HOME=" + d.run, "TMPDIR=" + d.tmp,
	}
}
