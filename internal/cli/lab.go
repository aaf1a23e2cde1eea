package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/bench/target"
)

func newLabCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Start and stop private throwaway database servers",
		Long: `Start and stop private throwaway database servers.

A lab server lives in a directory of its own, listens on a unix socket and,
with --tcp, on a free loopback port, and never touches a server that was there
before. Its administrator has no password: what protects it is the directory.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newLabUpCommand(env), newLabDownCommand(env), newLabListCommand(env))
	return cmd
}

// labOptions are shared by the three commands.
type labOptions struct {
	name string
	dir  string
}

func (o *labOptions) addFlags(cmd *cobra.Command, dir string) {
	cmd.Flags().StringVar(&o.name, "name", "", "`NAME` of the server (default: the engine's)")
	cmd.Flags().StringVar(&o.dir, "dir", "", dir)
}

// place is the server's directory: --dir, or the name's in the lab directory.
func (o *labOptions) place(engine string) (string, error) {
	if o.dir != "" {
		if o.name != "" {
			return "", usagef("find lab server", "give one of them", "--dir and --name both say where it is")
		}
		return filepath.Abs(o.dir)
	}
	name := o.name
	if name == "" {
		name = engine
	}
	if !labName.MatchString(name) {
		return "", usagef("find lab server", "use letters, digits, - and _", "bad name %q", name)
	}
	base, err := labDir()
	return filepath.Join(base, name), err
}

var labName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

// labDir is where servers without --dir live, made if it is missing. It is
// under a directory everybody can write to, so it must be ours.
func labDir() (string, error) {
	dir := filepath.Join(os.TempDir(), "veildb-lab-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("create lab directory: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return "", fmt.Errorf("check lab directory: %w", err)
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Mode&0o022 != 0 {
		return "", &Error{Code: ExitMissing, Op: "check lab directory", Hint: "remove it, or use --dir",
			Err: fmt.Errorf("%s is not a directory of this user alone", dir)}
	}
	return dir, nil
}

func newLabUpCommand(env *Env) *cobra.Command {
	var o labOptions
	var cfg target.Config
	var settings []string
	cmd := &cobra.Command{
		Use:   "up ENGINE",
		Short: "Start a server and print its DSN",
		Long: `Start a private server of ENGINE and print the DSN of its administrator; other
commands take it as --dsn. It runs until veildb lab down.`,
		Example: `  veildb lab up mariadb --set innodb_buffer_pool_size=1G
  veildb lab up postgres --name second --tcp`,
		Args:      labArgs(cobra.ExactArgs(1)),
		ValidArgs: target.Engines(),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg.Engine = args[0]
			var err error
			if cfg.Settings, err = parseSettings(settings); err != nil {
				return err
			}
			return labUp(cmd.Context(), env, &o, cfg)
		},
	}
	o.addFlags(cmd, "keep the server and its data in this directory")
	f := cmd.Flags()
	f.BoolVar(&cfg.TCP, "tcp", false, "listen on a free port of 127.0.0.1 too, open to every user of this machine")
	f.StringVar(&cfg.Database, "database", "veildb", "`NAME` of the database it starts with")
	f.StringVar(&cfg.BinDir, "bin", "", "`DIR` of the server's programs (default: search for the newest)")
	f.StringVar(&cfg.DataDir, "data", "", "put the data into `DIR`, for instance on an encrypted mount")
	f.StringArrayVar(&settings, "set", nil, "server setting, `NAME=VALUE`; may be repeated")
	return cmd
}

// labArgs turns cobra's complaint about arguments into a usage error.
func labArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("run "+cmd.CommandPath(), "engines: "+strings.Join(target.Engines(), ", "), "%w", err)
		}
		return nil
	}
}

func parseSettings(list []string) (map[string]string, error) {
	m := map[string]string{}
	for _, s := range list {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, usagef("read --set", "write --set NAME=VALUE", "%q has no =", s)
		}
		m[name] = value
	}
	return m, nil
}

func labUp(ctx context.Context, env *Env, o *labOptions, cfg target.Config) error {
	if _, err := target.Find(cfg.Engine, cfg.BinDir); err != nil {
		return labError("start lab server", err)
	}
	dir, err := o.place(cfg.Engine)
	if err != nil {
		return err
	}
	cfg.Dir, cfg.Detached = dir, true
	s, err := target.Start(ctx, cfg)
	if err != nil {
		if o.dir == "" && !errors.Is(err, target.ErrBusy) {
			os.Remove(dir) // only if it is empty
		}
		return labError("start lab server", err)
	}
	st := s.State()
	if env.JSON {
		return json.NewEncoder(env.Stdout).Encode(labEntry(st))
	}
	fmt.Fprintf(env.Stderr, "%s %s runs as process %d in %s\n", st.Engine, st.Version, st.PID, st.Dir)
	if tcp := s.TCPDSN(); tcp != "" {
		fmt.Fprintln(env.Stderr, "over TCP:", tcp)
	}
	fmt.Fprintln(env.Stderr, "stop it: veildb lab down", downArgs(o, cfg.Engine))
	fmt.Fprintln(env.Stdout, st.DSN())
	return nil
}

func downArgs(o *labOptions, engine string) string {
	switch {
	case o.dir != "":
		return "--dir " + o.dir
	case o.name != "":
		return "--name " + o.name
	}
	return engine
}

// labError adds what to do about the errors of package target.
func labError(op string, err error) error {
	e := &Error{Op: op, Err: err}
	var missing *target.NotInstalledError
	if errors.As(err, &missing) {
		e.Hint = missing.Hint()
	}
	return e
}

// labStates are the servers in the lab directory, running or not.
func labStates() ([]target.State, error) {
	base, err := labDir()
	if err != nil {
		return nil, err
	}
	dirs, err := os.ReadDir(base)
	if err != nil {
		return nil, fmt.Errorf("list lab servers: %w", err)
	}
	var states []target.State
	for _, d := range dirs {
		if st, err := target.Load(filepath.Join(base, d.Name())); err == nil {
			states = append(states, st)
		}
	}
	return states, nil
}

// labServer is one server in JSON.
type labServer struct {
	Name    string `json:"name"`
	Running bool   `json:"running"`
	DSN     string `json:"dsn"`
	TCPDSN  string `json:"tcp_dsn,omitempty"`
	target.State
}

func labEntry(st target.State) labServer {
	return labServer{Name: filepath.Base(st.Dir), Running: st.Running(), DSN: st.DSN(), TCPDSN: st.TCPDSN(), State: st}
}

func newLabListCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "list [ENGINE]",
		Short: "List the servers in the lab directory and the engines installed",
		Long: `List the servers in the lab directory, with DSN, and the engines installed. Those
in a --dir are not listed.`,
		Example:   "  veildb lab list --json",
		Args:      labArgs(cobra.MaximumNArgs(1)),
		ValidArgs: target.Engines(),
		RunE: func(cmd *cobra.Command, args []string) error {
			states, err := labStates()
			if err != nil {
				return err
			}
			list := []labServer{}
			for _, st := range states {
				if len(args) == 0 || st.Engine == args[0] {
					list = append(list, labEntry(st))
				}
			}
			engines := target.Engines()
			if len(args) == 1 {
				if !slices.Contains(engines, args[0]) {
					return labError("list lab servers", fmt.Errorf("%w: %q", target.ErrUnknownEngine, args[0]))
				}
				engines = args
			}
			if env.JSON {
				return json.NewEncoder(env.Stdout).Encode(map[string]any{"servers": list, "engines": labEngines(engines)})
			}
			return printLab(env, list, labEngines(engines))
		},
	}
}

// labEngine says whether an engine can be started here.
type labEngine struct {
	Engine  string `json:"engine"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	Why     string `json:"why,omitempty"` // why not
}

func labEngines(names []string) []labEngine {
	var list []labEngine
	for _, name := range names {
		in, err := target.Find(name, "")
		e := labEngine{Engine: name, Version: in.Version, Path: in.Server}
		var missing *target.NotInstalledError
		if errors.As(err, &missing) {
			e.Why = "not installed; " + missing.Hint()
		} else if err != nil {
			e.Why = err.Error()
		}
		list = append(list, e)
	}
	return list
}

func printLab(env *Env, servers []labServer, engines []labEngine) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 8, 2, ' ', 0)
	for _, s := range servers {
		state := fmt.Sprintf("process %d", s.PID)
		if !s.Running {
			state = "not running"
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\n", s.Name, s.Engine, s.Version, state, s.DSN)
	}
	if len(servers) == 0 {
		fmt.Fprintln(w, "no servers")
	}
	fmt.Fprintln(w)
	for _, e := range engines {
		what := e.Version + "\t" + e.Path
		if e.Why != "" {
			what = "\t" + e.Why
		}
		fmt.Fprintf(w, "%s\t%s\n", e.Engine, what)
	}
	return w.Flush()
}
