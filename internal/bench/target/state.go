package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// State is what is needed to find a detached server again. It is written to
// the server's directory as state.json.
type State struct {
	Format   string `json:"format"` // "veildb.target/1"
	Engine   string `json:"engine"`
	Version  string `json:"version"`
	Dir      string `json:"dir"`
	Temp     bool   `json:"temporary,omitempty"` // the directory goes when the server does
	DataDir  string `json:"data_dir"`
	RunDir   string `json:"run_dir"`
	Socket   string `json:"socket"`
	Addr     string `json:"addr,omitempty"`
	User     string `json:"user"`
	Database string `json:"database"`
	PID      int    `json:"pid"`
	Start    uint64 `json:"start_ticks"` // tells the process from a later one with its number
	Boot     string `json:"boot_id"`     // process numbers start anew at boot
}

// State describes the running server.
func (s *Server) State() State {
	st := State{
		Format: markerFormat, Engine: s.inst.Engine, Version: s.inst.Version,
		Dir: s.dir.root, Temp: s.dir.temp, DataDir: s.dir.data, RunDir: s.dir.run, Socket: s.Socket(), Addr: s.Addr(),
		User: s.User(), Database: s.cfg.Database, Boot: bootID(),
	}
	if p := s.process(); p != nil {
		st.PID, st.Start = p.pid, p.start
	}
	return st
}

// DSN is the server's database over its unix socket; see Server.DSN.
func (st State) DSN() string {
	u := url.URL{Path: "/" + st.Database, User: url.User(st.User)}
	if st.Engine == Postgres {
		dir, file := filepath.Split(st.Socket)
		u.Scheme = "postgres"
		u.RawQuery = "host=" + escapePath(filepath.Clean(dir))
		if port := file[strings.LastIndexByte(file, '.')+1:]; port != "5432" {
			u.Host = ":" + port
		}
		return u.String()
	}
	u.Scheme = "mysql"
	u.RawQuery = "socket=" + escapePath(st.Socket)
	return u.String()
}

// TCPDSN is the server's database over loopback, or "" if it has no port.
func (st State) TCPDSN() string {
	if st.Addr == "" {
		return ""
	}
	u := url.URL{Scheme: engines[st.Engine].scheme(), User: url.User(st.User), Host: st.Addr, Path: "/" + st.Database}
	return u.String()
}

// escapePath is a query escape that leaves slashes readable.
func escapePath(p string) string { return strings.ReplaceAll(url.QueryEscape(p), "%2F", "/") }

// Running reports whether the server's process lives.
func (st State) Running() bool { return st.process() != nil }

func (st State) process() *process {
	if st.PID <= 1 || st.Boot != bootID() {
		return nil
	}
	return find(st.PID, st.Start)
}

// Load reads the state of the detached server in dir. It returns an error
// matching fs.ErrNotExist if there is none.
func Load(dir string) (State, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return State{}, err
	}
	return readState(dir)
}

// Stop shuts a detached server down, kills it if ctx ends first, and removes
// its directory if that was a temporary one. A server that has ended by itself
// is tidied up the same way.
func (st State) Stop(ctx context.Context) error {
	eng, ok := engines[st.Engine]
	if !ok {
		return fmt.Errorf("stop server: %w: %q", ErrUnknownEngine, st.Engine)
	}
	if p := st.process(); p != nil {
		p.watch()
		if err := p.stop(ctx, eng.stopSignal()); err != nil && p.alive() {
			return err
		}
	}
	d := &directory{root: st.Dir, data: st.DataDir, run: st.RunDir, temp: st.Temp,
		shortRun: st.RunDir != filepath.Join(st.Dir, "run")}
	return d.release()
}

func (d *directory) writeState(st State) error {
	b, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(d.root, stateName)
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// readState reads the state in dir. The file is believed only where it agrees
// with the directory it lies in.
func readState(dir string) (State, error) {
	b, err := os.ReadFile(filepath.Join(dir, stateName))
	if err != nil {
		return State{}, fmt.Errorf("read state: %w", err)
	}
	var st State
	if err := json.Unmarshal(b, &st); err != nil {
		return State{}, fmt.Errorf("read state: %w", err)
	}
	if st.Format != markerFormat || st.Dir != dir || engines[st.Engine] == nil {
		return State{}, errors.New("read state: it belongs to another directory or version")
	}
	return st, nil
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
