package target_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
)

// patience is how long a server may take to begin, or to end, on a busy machine.
const patience = 5 * time.Minute

// TestMain lets the test binary stand for a program that starts a server and
// is killed; see TestDiesWithItsParent.
func TestMain(m *testing.M) {
	if engine := os.Getenv("TARGET_TEST_PARENT"); engine != "" {
		s, err := target.Start(context.Background(), target.Config{Engine: engine, Template: targettest.TemplateDir(), Timeout: patience})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(s.Dir(), s.PIDs())
		select {}
	}
	os.Exit(m.Run())
}

func eachEngine(t *testing.T, f func(t *testing.T, engine string)) {
	for _, engine := range []string{target.MariaDB, target.Postgres} {
		t.Run(engine, func(t *testing.T) { t.Parallel(); f(t, engine) })
	}
}

// dir is a temporary directory that a server's unprivileged user can reach,
// which t.TempDir is not.
func dir(t *testing.T) string {
	d, err := os.MkdirTemp("", "veildb-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d) })
	if err := os.Chmod(d, 0o711); err != nil {
		t.Fatal(err)
	}
	return d
}

func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		deadline := time.Now().Add(3 * time.Minute)
		for syscall.Kill(pid, 0) == nil && running(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d still runs", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// query runs one statement with the engine's own client.
func query(t *testing.T, s *target.Server, sql string) (string, error) {
	t.Helper()
	cmd := exec.Command("mariadb", "--no-defaults", "-N", "-S", s.Socket(), "-u"+s.User(), "veildb", "-e", sql)
	if s.Engine() == target.Postgres {
		cmd = exec.Command("psql", "-X", "-A", "-t", s.DSN(), "-c", sql)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), err
}

func TestStartStop(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		s, stop := targettest.New(t, engine, nil)
		defer stop()
		if got, err := query(t, s, "SELECT 40+2"); got != "42" || err != nil {
			t.Errorf("query: %q, %v", got, err)
		}
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatalf("TCP address: %v", err)
		}
		c.Close()
		pids := s.PIDs()
		if len(pids) == 0 || pids[0] != s.PID() {
			t.Errorf("PIDs: %v, main %d", pids, s.PID())
		}
		stop()
		gone(t, pids)
		select {
		case <-s.Done():
		default:
			t.Error("Done is open after Stop")
		}
		if _, err := os.Stat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("directory after stop: %v", err)
		}
		if c, err := net.Dial("tcp", s.Addr()); err == nil {
			c.Close()
			t.Error("somebody still listens after the stop")
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Errorf("second stop: %v", err)
		}
	})
}

func TestCPUSeconds(t *testing.T) {
	busy := map[string]string{
		target.MariaDB:  "SELECT BENCHMARK(3000000, SHA2('x', 256))",
		target.Postgres: "SELECT count(md5(i::text)) FROM generate_series(1, 600000) i",
	}
	eachEngine(t, func(t *testing.T, engine string) {
		s := targettest.Start(t, engine, nil)
		before, err := s.CPUSeconds()
		if err != nil {
			t.Fatal(err)
		}
		// The session's process is over when the second reading is taken:
		// its time must still be in the sum.
		if _, err := query(t, s, busy[engine]); err != nil {
			t.Fatal(err)
		}
		after, err := s.CPUSeconds()
		if err != nil {
			t.Fatal(err)
		}
		if d := after - before; d < 0.05 || d > 60 {
			t.Errorf("CPU seconds of a busy query: %v", d)
		}
	})
	if _, err := target.TreeCPU(1 << 30); !errors.Is(err, target.ErrGone) {
		t.Errorf("CPU time of no process: %v", err)
	}
}

func TestDiesWithItsParent(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "TARGET_TEST_PARENT="+engine)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		cmd.Process.Kill()
		cmd.Wait()
		root, list, ok := strings.Cut(strings.TrimSpace(line), " ")
		if err != nil || !ok || !filepath.IsAbs(root) {
			t.Fatalf("parent said %q, %v", line, err)
		}
		defer os.RemoveAll(root)
		var pids []int
		for _, f := range strings.Fields(strings.Trim(list, "[]")) {
			n, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, n)
		}
		if len(pids) == 0 {
			t.Fatalf("no processes in %q", line)
		}
		gone(t, pids)

		// Its directory is left; the next start sweeps it once it is old.
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(root, old, old); err != nil {
			t.Fatal(err)
		}
		targettest.Start(t, engine, nil)
		for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) { // another may be sweeping it
			_, err := os.Stat(root)
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("directory of a killed program after the next start: %v", err)
			}
		}
	})
}

func TestDirectoryIsReused(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		root := filepath.Join(dir(t), "server")
		cfg := target.Config{Engine: engine, Dir: root, Template: targettest.TemplateDir(), Timeout: patience}
		for i := range 2 {
			s, err := target.Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			sql := "CREATE TABLE t (i INT)"
			if i == 1 {
				sql = "SELECT COUNT(*) FROM t"
			}
			if _, err := query(t, s, sql); err != nil {
				t.Error(err)
			}
			if _, err := target.Start(t.Context(), cfg); !errors.Is(err, target.ErrBusy) {
				t.Errorf("second server in the directory: %v", err)
			}
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestInitialisationCutShort starts in a directory where a program was killed
// while it initialised the data.
func TestInitialisationCutShort(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		root := filepath.Join(dir(t), "server")
		cfg := target.Config{Engine: engine, Dir: root, Template: targettest.TemplateDir(), Timeout: patience}
		s, err := target.Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		marker := filepath.Join(root, "veildb-target.json")
		b, err := os.ReadFile(marker)
		if err != nil || !strings.Contains(string(b), `"complete":true`) {
			t.Fatalf("marker %s, %v", b, err)
		}
		if err := os.WriteFile(marker, []byte(strings.Replace(string(b), "true", "false", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.DataDir(), "half"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err = target.Start(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		defer s.Stop(t.Context())
		if _, err := os.Stat(filepath.Join(s.DataDir(), "half")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what was left before: %v", err)
		}
		if _, err := query(t, s, "SELECT 1"); err != nil {
			t.Error(err)
		}
	})
}

func TestKillRestart(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		s, err := target.Start(t.Context(), target.Config{Engine: engine, Template: targettest.TemplateDir(), Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Stop(t.Context())
		if _, err := query(t, s, "CREATE TABLE t (i INT)"); err != nil {
			t.Fatal(err)
		}
		if _, err := query(t, s, "INSERT INTO t VALUES (7)"); err != nil {
			t.Fatal(err)
		}
		pids := s.PIDs()
		s.Kill()
		gone(t, pids)
		var asking sync.WaitGroup // others may ask for it meanwhile
		again := make(chan struct{})
		asking.Go(func() {
			for {
				if s.DSN() == "" || s.PID() == 0 {
					t.Error("it has no name or no process")
				}
				select {
				case <-again:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
		err = s.Restart(t.Context())
		close(again)
		asking.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := query(t, s, "SELECT i FROM t"); got != "7" || err != nil {
			t.Errorf("after kill and restart: %q, %v", got, err)
		}
	})
}

// TestLongDirectory has a path no unix socket fits in.
func TestLongDirectory(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		root := filepath.Join(dir(t), strings.Repeat("long", 30))
		s, err := target.Start(t.Context(), target.Config{Engine: engine, Dir: root, Template: targettest.TemplateDir(), Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := query(t, s, "SELECT 1"); err != nil {
			t.Error(err)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Dir(s.Socket())); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("socket directory after stop: %v", err)
		}
	})
}

func TestDetached(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		s, err := target.Start(t.Context(), target.Config{Engine: engine, Detached: true, Template: targettest.TemplateDir(), Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		st, err := target.Load(s.Dir())
		if err != nil {
			t.Fatal(err)
		}
		if !st.Running() || st.PID != s.PID() || st.DSN() != s.DSN() {
			t.Errorf("state %+v of %s", st, s.DSN())
		}
		reused := st
		reused.Start++ // the number now belongs to another process
		reused.Temp = false
		if reused.Running() {
			t.Error("state with another start time: runs")
		}
		if err := reused.Stop(t.Context()); err != nil || !st.Running() {
			t.Errorf("stop with another start time: %v, server runs: %v", err, st.Running())
		}
		pids := s.PIDs()
		if err := st.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		gone(t, pids)
		if _, err := os.Stat(st.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("directory after stop: %v", err)
		}
	})
}

func TestStartRefuses(t *testing.T) {
	foreign := dir(t)
	if err := os.WriteFile(filepath.Join(foreign, "payroll.ods"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(t.TempDir(), "a")
	for _, tc := range []struct {
		name string
		cfg  target.Config
		want error
		root bool // only root must change user
	}{
		{"unknown engine", target.Config{Engine: "oracle"}, target.ErrUnknownEngine, false},
		{"not installed", target.Config{Engine: target.MariaDB, BinDir: dir(t)}, target.ErrNotInstalled, false},
		{"foreign directory", target.Config{Engine: target.MariaDB, Dir: foreign}, target.ErrForeignDir, false},
		{"foreign data directory", target.Config{Engine: target.MariaDB, DataDir: foreign, Dir: filepath.Join(dir(t), "a")}, target.ErrForeignDir, false},
		{"unreachable directory", target.Config{Engine: target.Postgres, Dir: closed}, target.ErrNotPermitted, true},
		{"setting that leads elsewhere", target.Config{Engine: target.MariaDB, Settings: map[string]string{"DataDir": "/var/lib/mysql"}}, target.ErrSetting, false},
		{"setting with a space", target.Config{Engine: target.Postgres, Settings: map[string]string{"a b": "1"}}, target.ErrSetting, false},
		{"unknown setting, MariaDB", target.Config{Engine: target.MariaDB, Settings: map[string]string{"no_such": "1"}, Template: targettest.TemplateDir(), Timeout: patience}, target.ErrStart, false},
		{"unknown setting, PostgreSQL", target.Config{Engine: target.Postgres, Settings: map[string]string{"no_such": "1"}, Template: targettest.TemplateDir(), Timeout: patience}, target.ErrStart, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.root && os.Geteuid() != 0 {
				t.Skip("only root starts the server as another user")
			}
			s, err := target.Start(t.Context(), tc.cfg)
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if s != nil {
				s.Stop(t.Context())
			}
			if tc.want == target.ErrStart && !strings.Contains(err.Error(), "no_such") {
				t.Errorf("error does not quote the log: %v", err)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(foreign, "payroll.ods")); err != nil {
		t.Errorf("foreign file: %v", err)
	}
	if e, err := os.ReadDir(foreign); len(e) != 1 || err != nil {
		t.Errorf("foreign directory holds %v, %v", e, err)
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		root := filepath.Join(dir(t), "server")
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
		defer cancel()
		// No template: initialising takes longer than that.
		_, err := target.Start(ctx, target.Config{Engine: engine, Dir: root})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		if e, err := os.ReadDir(root); len(e) != 0 || err != nil {
			t.Errorf("directory holds %v, %v", e, err)
		}
	})
}

func TestNotInstalledHint(t *testing.T) {
	_, err := target.Find(target.Postgres, t.TempDir())
	var e *target.NotInstalledError
	if !errors.As(err, &e) || !strings.Contains(e.Hint(), "apt-get install postgresql") {
		t.Errorf("got %v", err)
	}
}
