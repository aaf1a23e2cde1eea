//go:build linux

package fusefs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// The tests mount in another process, as users do: a program that waits for a
// file system of its own can stop the garbage collector and with it the file
// system.

// serveEnv holds a serveConfig for a test binary that is to serve.
const serveEnv = "VEILDB_TEST_FUSEFS"

type serveConfig struct {
	Lower, Mountpoint string
	Key               byte // of all bytes of the key; 0 means no cipher
	Version           uint32
	WriteBack         bool
	ReadOnly          bool
	HideNames         bool
	Lost              string
	Loops             int
	Collect           bool   // collect garbage all the time
	Files             uint64 // limit of open files, if not 0
}

func TestMain(m *testing.M) {
	if cfg := os.Getenv(serveEnv); cfg != "" {
		if err := serve(cfg); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(sqliteEnv); path != "" {
		if err := sqliteWorker(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve mounts and serves until SIGTERM.
func serve(cfg string) error {
	var c serveConfig
	if err := json.Unmarshal([]byte(cfg), &c); err != nil {
		return err
	}
	if c.Files > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: c.Files, Max: c.Files}); err != nil {
			return err
		}
	}
	root, err := os.Open(c.Lower)
	if err != nil {
		return err
	}
	o := Options{Source: c.Lower, AllowOther: true, ReadOnly: c.ReadOnly, Lost: c.Lost, Loops: c.Loops, Log: func(err error) { fmt.Println("log", err) }}
	if c.WriteBack {
		o.Cache = WriteBack
	}
	if c.HideNames {
		o.Names = volume.NamesEncrypted
	}
	if c.Key != 0 {
		o.Keys = testKeys(c.Key, max(c.Version, 1))
	}
	s, err := Mount(root, c.Mountpoint, o)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM)
	go func() { // the test has died: leave nothing behind
		io.Copy(io.Discard, os.Stdin)
		unix.Unmount(c.Mountpoint, unix.MNT_DETACH)
		os.Exit(1)
	}()
	fmt.Println("ready")
	for collected := 0; c.Collect; collected++ {
		select {
		case <-stop:
			return s.Unmount()
		default:
			runtime.GC()
		}
		if collected == 20 {
			fmt.Println("log collected", collected)
		}
	}
	for {
		select {
		case <-stop:
			if err := s.Unmount(); err != nil {
				fmt.Println("log", err)
			}
		case <-s.Done():
			st := s.Stats()
			fmt.Printf("log synced %d, %d ahead\n", st.Syncs, st.SyncsAhead)
			return s.Wait()
		}
	}
}

// constKeys has one key, of one version.
type constKeys struct {
	version uint32
	key     *secret.Bytes
}

func testKeys(b byte, version uint32) constKeys {
	key, err := secret.From(bytes.Repeat([]byte{b}, 32))
	if err != nil {
		panic(err)
	}
	return constKeys{version, key}
}

func (k constKeys) Current() uint32 { return k.version }

func (k constKeys) DEK(version uint32) (*secret.Bytes, error) {
	if version != k.version {
		return nil, errors.New("no such key version")
	}
	return k.key, nil
}

// A mounted is a mount that a process of its own serves.
type mounted struct {
	serveConfig
	dir string // the mount point
	cmd *exec.Cmd

	mu   sync.Mutex
	logs []string // what the server told its log
	done chan struct{}
}

// mountTest mounts a new volume until the end of the test.
func mountTest(t testing.TB, c serveConfig) *mounted {
	t.Helper()
	if c.Lower == "" {
		c.Lower = tempDir(t)
	}
	if c.Mountpoint == "" {
		c.Mountpoint = tempDir(t)
	}
	m := &mounted{serveConfig: c, dir: c.Mountpoint}
	if err := m.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.stop(t)
		if t.Failed() {
			t.Logf("the server's log: %q", m.log())
		}
	})
	return m
}

// tempDir is a directory that every user can reach.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fusefs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// start has a new process serve m. An error of the server is returned as such.
func (m *mounted) start() error {
	cfg, err := json.Marshal(m.serveConfig)
	if err != nil {
		return err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"="+string(cfg))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if _, err := cmd.StdinPipe(); err != nil { // open as long as we live
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		cmd.Wait()
		return errors.New(strings.TrimPrefix(lines.Text(), "error "))
	}
	m.cmd, m.done = cmd, make(chan struct{})
	go func() {
		defer close(m.done)
		for lines.Scan() {
			m.mu.Lock()
			m.logs = append(m.logs, strings.TrimPrefix(lines.Text(), "log "))
			m.mu.Unlock()
		}
	}()
	return nil
}

// log returns what the server's log was told.
func (m *mounted) log() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.logs...)
}

// stop unmounts m cleanly.
func (m *mounted) stop(t testing.TB) {
	t.Helper()
	if m.cmd == nil {
		return
	}
	cmd := m.cmd
	m.cmd = nil
	eventually(t, "unmount", func() bool {
		cmd.Process.Signal(unix.SIGTERM)
		select {
		case <-m.done:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	})
	if err := cmd.Wait(); err != nil {
		t.Errorf("server: %v; its log: %q", err, m.log())
	}
}

// kill ends the server as a crash would.
func (m *mounted) kill(t testing.TB) {
	t.Helper()
	m.cmd.Process.Kill()
	<-m.done
	m.cmd.Wait()
	m.cmd = nil
	t.Cleanup(func() { fuse.Recover(m.dir) })
}

// remount has a new server serve m.
func (m *mounted) remount(t testing.TB) {
	t.Helper()
	if err := m.start(); err != nil {
		t.Fatalf("mount again: %v", err)
	}
}

// eventually waits until ok holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func TestMountServes(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1})
	path := filepath.Join(m.dir, "f")
	want := []byte("the quick brown fox jumps over the lazy dog")
	if err := os.WriteFile(path, want, 0o640); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
	lower, err := os.ReadFile(filepath.Join(m.Lower, "f"))
	if err != nil || bytes.Contains(lower, want[:10]) {
		t.Errorf("lower file: %v, holds content: %v", err, bytes.Contains(lower, want[:10]))
	}
}

// TestReadAhead: who reads a file from front to back is not held up by each request.
func TestReadAhead(t *testing.T) {
	m := mountTest(t, serveConfig{Key: 1})
	e, ok, err := fuse.Find(m.dir)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	b, err := os.ReadFile(filepath.Join("/sys/class/bdi", e.Device, "read_ahead_kb"))
	if err != nil || strings.TrimSpace(string(b)) != "512" {
		t.Errorf("reads ahead %q KiB, %v", b, err)
	}
}
