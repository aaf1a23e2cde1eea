//go:build unix

package kms_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
	"github.com/veildb/veildb/internal/keys/kms/kmstest"
)

// opensslAES are the wrap and unwrap commands of docs/keys.md.
func opensslAES(pass string) kms.Config {
	return commands(
		"openssl enc -e -aes-256-cbc -pbkdf2 -pass file:"+pass+" -out %p",
		"openssl enc -d -aes-256-cbc -pbkdf2 -pass file:"+pass+" -in %p")
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	pass := putFile(t, filepath.Join(dir, "pass"), "correct horse\n", 0o600)
	other := putFile(t, filepath.Join(dir, "other"), "battery staple\n", 0o600)
	fault := filepath.Join(dir, "fault")
	// The fault file holds what stands before the command.
	broken := func(c kms.Config) kms.Config {
		before := "if test -e " + fault + "; then . " + fault + "; fi; "
		c.WrapCommand, c.UnwrapCommand = before+c.WrapCommand, before+c.UnwrapCommand
		return c
	}
	kmstest.Run(t, kmstest.Subject{
		Open:       func(t *testing.T) keyring.Provider { return open(t, "command", broken(opensslAES(pass))) },
		Other:      func(t *testing.T) keyring.Provider { return open(t, "command", opensslAES(other)) },
		Away:       func(t *testing.T) keyring.Provider { return open(t, "command", opensslAES(pass+".missing")) },
		Denied:     func(t *testing.T) keyring.Provider { return open(t, "command", commands("exit 77", "exit 77")) },
		IgnoresAAD: true,
		Secrets:    []string{"correct horse"},
		Break: func(t *testing.T, f kmstest.Fault) func() {
			text := map[kmstest.Fault]string{
				kmstest.Down: "exit 69", kmstest.Hang: "sleep 1000", kmstest.Refuse: "exit 77",
				kmstest.Garbage: "echo garbage; exit 0",
			}[f]
			putFile(t, fault, text, 0o600)
			return func() { os.Remove(fault) }
		},
	})
}

// TestCommandExamples runs other ways to wrap that docs/keys.md shows.
func TestCommandExamples(t *testing.T) {
	dir := t.TempDir()
	private, public := filepath.Join(dir, "root.pem"), filepath.Join(dir, "root.pub")
	for _, args := range [][]string{
		{"genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072", "-out", private},
		{"pkey", "-in", private, "-pubout", "-out", public},
	} {
		if out, err := exec.Command("openssl", args...).CombinedOutput(); err != nil {
			t.Fatalf("openssl %v: %v: %s", args, err, out)
		}
	}
	for name, c := range map[string]kms.Config{
		"rsa": commands(
			"openssl pkeyutl -encrypt -pubin -inkey "+public+" -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -out %p",
			"openssl pkeyutl -decrypt -inkey "+private+" -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -in %p"),
		"none": commands("-", "-"),
	} {
		p, key := open(t, "command", c), mustRandom(t)
		blob, version, err := p.Wrap(t.Context(), key, nil)
		if err != nil || version != "" {
			t.Fatalf("%s: version %q, %v", name, version, err)
		}
		back, err := p.Unwrap(t.Context(), blob, nil)
		if err != nil || !back.Equal(key) {
			t.Errorf("%s: %v", name, err)
		}
		if leak := kmstest.FindKeyIn(blob, key.Reveal()); (leak != "") != (name == "none") {
			t.Errorf("%s: the key is in the blob as %q", name, leak)
		}
	}
}

// TestCommandEnvironment finds the commands where EDB Postgres looks for them.
func TestCommandEnvironment(t *testing.T) {
	if _, err := kms.Open("command", kms.Config{}); !errors.Is(err, kms.ErrConfig) {
		t.Errorf("no commands: %v, want ErrConfig", err)
	}
	t.Setenv(kms.EnvWrapCommand, "base64 | base64 -w0 | rev >%p")
	t.Setenv(kms.EnvUnwrapCommand, "rev %p | base64 -d | base64 -d")
	p, key := open(t, "command", kms.Config{}), mustRandom(t)
	blob, _, err := p.Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := p.Unwrap(t.Context(), blob, nil); err != nil || !back.Equal(key) {
		t.Errorf("%v", err)
	}
	// Without a wrap command, keys can still be unwrapped.
	t.Setenv(kms.EnvWrapCommand, "")
	p = open(t, "command", kms.Config{})
	if back, err := p.Unwrap(t.Context(), blob, nil); err != nil || !back.Equal(key) {
		t.Errorf("without a wrap command: %v", err)
	}
	if _, _, err := p.Wrap(t.Context(), key, nil); !errors.Is(err, kms.ErrConfig) {
		t.Errorf("wrap without a wrap command: %v, want ErrConfig", err)
	}
}

// TestCommandPaths runs from several working directories, with temporary
// directories that a shell would misread, and with %p in each kind of quotes.
func TestCommandPaths(t *testing.T) {
	base, key := t.TempDir(), mustRandom(t)
	odd := []string{"plain", "two words", `quote'quote`, `quote"quote`, "100%p%%", "new\nline", `back\slash`, "dollar$HOME`id`", "-dash", "semi;colon&", "ünïcode"}
	forms := map[string]kms.Config{
		"bare":          commands("tr a-z n-za-m | base64 -w0 | rev >%p", "rev <%p | base64 -d | tr n-za-m a-z"),
		"single quotes": commands("base64 -w0 | rev >'%p'", "rev <'%p' | base64 -d"),
		"double quotes": commands(`base64 -w0 | rev >"%p"`, `rev <"%p" | base64 -d`),
		"mixed":         commands(`f="%p"; base64 -w0 | rev >"$f"`, `f='%p'; printf '%%s' 'a"b' "c'd" >/dev/null; rev <"$f" | base64 -d`),
	}
	for _, cwd := range []string{"/", base} {
		t.Chdir(cwd)
		for _, name := range odd {
			tmp := filepath.Join(base, name)
			if err := os.MkdirAll(tmp, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", tmp)
			for form, c := range forms {
				p := open(t, "command", c)
				blob, _, err := p.Wrap(t.Context(), key, nil)
				if err != nil {
					t.Errorf("%s in %q, from %s: %v", form, name, cwd, err)
					continue
				}
				if back, err := p.Unwrap(t.Context(), blob, nil); err != nil || !back.Equal(key) {
					t.Errorf("%s in %q, from %s: %v", form, name, cwd, err)
				}
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("in %q: files stay behind: %v %v", name, left, err)
			}
		}
	}
	t.Setenv("TMPDIR", filepath.Join(base, "two words"))
	if _, _, err := open(t, "command", commands(`x="$(cat >%p)"`, "cat %p")).Wrap(t.Context(), key, nil); !errors.Is(err, kms.ErrConfig) {
		t.Errorf("nested quotes with an odd path: %v, want ErrConfig", err)
	}
	// A relative TMPDIR still gives an absolute %p, and a private directory.
	t.Chdir(base)
	t.Setenv("TMPDIR", "plain")
	c := commands(`cd / && stat -c %%a "$(dirname %p)" >`+base+`/mode && base64 -w0 | rev >%p`, `cd / && rev %p | base64 -d`)
	p := open(t, "command", c)
	blob, _, err := p.Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := p.Unwrap(t.Context(), blob, nil); err != nil || !back.Equal(key) {
		t.Errorf("relative TMPDIR: %v", err)
	}
	if mode, err := os.ReadFile(filepath.Join(base, "mode")); err != nil || string(mode) != "700\n" {
		t.Errorf("mode of the directory of %%p is %q, %v", mode, err)
	}
}

func TestCommandPlaceholders(t *testing.T) {
	for _, bad := range []string{"cat %f", "cat %", "date +%Y"} {
		if p, err := kms.Open("command", commands("-", bad)); !errors.Is(err, kms.ErrConfig) || p != nil {
			t.Errorf("%q: %v, want ErrConfig", bad, err)
		}
	}
}

// TestCommandErrors tells what a failing command did: its status and its
// standard error, and never a key.
func TestCommandErrors(t *testing.T) {
	key := mustRandom(t)
	good := open(t, "command", commands("base64 -w0 | rev >%p", "rev %p | base64 -d"))
	blob, _, err := good.Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	decode := "rev %p | base64 -d"
	wrap := "base64 -w0 | rev >%p"
	for name, tc := range map[string]struct {
		unwrap   string
		want     error
		code     int
		contains string
	}{
		"fails here":       {"echo no such thing >&2; exit 3", keyring.ErrUnreachable, 3, "exit status 3, saying: no such thing"},
		"not found":        {"/nonexistent/command %p", keyring.ErrUnreachable, 127, "127"},
		"data error":       {"exit 65", keyring.ErrCorrupt, 65, ""},
		"unavailable":      {"exit 69", keyring.ErrUnreachable, 69, ""},
		"no permission":    {"exit 77", keyring.ErrDenied, 77, ""},
		"key on stderr":    {decode + " >&2; exit 1", keyring.ErrUnreachable, 1, ""},
		"key on stdout":    {decode + "; exit 1", keyring.ErrUnreachable, 1, ""},
		"key on both":      {decode + "; " + decode + " >&2; exit 1", keyring.ErrUnreachable, 1, "withheld"},
		"hex on both":      {decode + "; " + decode + " | od -An -vtx1 | tr -d ' \\n' >&2; exit 1", keyring.ErrUnreachable, 1, "withheld"},
		"base64 on both":   {decode + "; " + decode + " | base64 >&2; exit 1", keyring.ErrUnreachable, 1, "withheld"},
		"control bytes":    {`printf 'a\033[31mb\nc\001' >&2; exit 3`, keyring.ErrUnreachable, 3, "saying: a [31mb c"},
		"long stderr":      {`yes message | head -c 100000 >&2; exit 3`, keyring.ErrUnreachable, 3, "saying: … "},
		"killed":           {"kill -9 $$", keyring.ErrUnreachable, -1, "killed"},
		"prints nothing":   {"true", keyring.ErrWrongKey, 0, "0 bytes"},
		"prints for ever":  {"yes", keyring.ErrWrongKey, 0, "4097 bytes"},
		"asks on terminal": {"read x </dev/tty", keyring.ErrUnreachable, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, "command", commands(wrap, tc.unwrap))
			got, err := p.Unwrap(t.Context(), blob, nil)
			if got != nil || !errors.Is(err, tc.want) || !strings.Contains(fmt.Sprint(err), tc.contains) {
				t.Fatalf("key %v, error %v; want %v with %q", got, err, tc.want, tc.contains)
			}
			var failed *kms.CommandError
			if errors.As(err, &failed) != (tc.code != 0) || tc.code != 0 && failed.ExitCode != tc.code {
				t.Errorf("%#v, want exit status %d", failed, tc.code)
			}
			if enc := kmstest.FindKeyIn([]byte(err.Error()), key.Reveal()); enc != "" || len(err.Error()) > 1500 {
				t.Errorf("the error is too long or holds the key as %q: %v", enc, err)
			}
		})
	}
}

func TestWrapCommandErrors(t *testing.T) {
	key := mustRandom(t)
	for name, tc := range map[string]struct {
		wrap string
		want error
	}{
		"fails":            {"cat >&2; exit 1", keyring.ErrUnreachable},
		"no file":          {"cat >/dev/null", keyring.ErrUnreachable},
		"empty file":       {"cat >/dev/null; : >%p", keyring.ErrUnreachable},
		"huge file":        {"cat >/dev/null; head -c 1000000 /dev/zero >%p", keyring.ErrUnreachable},
		"link":             {"cat >/dev/null; ln -s /etc/passwd %p", keyring.ErrUnreachable},
		"directory":        {"cat >/dev/null; mkdir %p", keyring.ErrUnreachable},
		"plaintext":        {"cat >%p", kms.ErrConfig},
		"plaintext base64": {"base64 >%p", kms.ErrConfig},
		"plaintext hex":    {"od -An -vtx1 | tr -d ' \\n' >%p", kms.ErrConfig},
		"denied":           {"exit 77", keyring.ErrDenied},
	} {
		blob, _, err := open(t, "command", commands(tc.wrap, "cat %p")).Wrap(t.Context(), key, nil)
		if blob != nil || !errors.Is(err, tc.want) {
			t.Errorf("%s: %d bytes, %v; want %v", name, len(blob), err, tc.want)
		}
		if err != nil && kmstest.FindKeyIn([]byte(err.Error()), key.Reveal()) != "" {
			t.Errorf("%s: the error holds the key: %v", name, err)
		}
	}
}

// TestCommandTimeout expects a command that runs too long to be killed with all
// its children.
func TestCommandTimeout(t *testing.T) {
	key, dir := mustRandom(t), t.TempDir()
	blob, _, err := open(t, "command", commands("-", "-")).Wrap(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	pids := filepath.Join(dir, "pids")
	c := commands("-", "sleep 1000 & echo $! >"+pids+"; (trap '' TERM; sleep 1000) & echo $! >>"+pids+"; echo $$ >>"+pids+"; wait")
	var text []byte
	for c.Timeout = 250 * time.Millisecond; len(strings.Fields(string(text))) != 3; c.Timeout *= 2 {
		if c.Timeout > time.Minute { // in which even a busy machine starts two children
			t.Fatalf("%q, %v", text, err)
		}
		os.Remove(pids)
		_, err = open(t, "command", c).Unwrap(t.Context(), blob, nil)
		var failed *kms.CommandError
		if !errors.Is(err, keyring.ErrUnreachable) || !errors.As(err, &failed) || failed.Timeout != c.Timeout {
			t.Fatalf("%v, want a timeout that is ErrUnreachable", err)
		}
		text, err = os.ReadFile(pids)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		for range 500 { // it may still be a zombie that nobody has reaped
			if syscall.Kill(pid, 0) != nil || zombie(pid) {
				pid = 0
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if pid != 0 {
			t.Errorf("process %d of the command still runs", pid)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, "command", c).Unwrap(ctx, blob, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want context.Canceled", err)
	}
}

func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(text, []byte(") Z "))
}

// FuzzSubstitute lets a real shell read what comes out.
func FuzzSubstitute(f *testing.F) {
	for _, s := range []string{"a", "a b", `it's`, `"x"`, "$(id)", "`id`", "a\nb", `\`, "%p", "é", "*", "~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if strings.ContainsRune(path, 0) || path == "" || len(path) > 1000 {
			return
		}
		for _, command := range []string{"printf %%s %p", "printf %%s '%p'", `printf %%s "%p"`, `printf %%s "a"'b'\"%p | tail -c +4`} {
			line, err := kms.Substitute(command, path)
			if err != nil {
				t.Fatalf("%q with %q: %v", command, path, err)
			}
			out, err := exec.Command("/bin/sh", "-c", line).Output()
			if err != nil || string(out) != path {
				t.Errorf("%q with %q gave %q, %v", command, path, out, err)
			}
		}
	})
}
