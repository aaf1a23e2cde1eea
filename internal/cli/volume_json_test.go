//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestVolumeJSON has each command speak to programs: all that it says, on
// either stream, is JSON, and lists are never null.
func TestVolumeJSON(t *testing.T) {
	dir, veildb := newMount(t)
	err := errors.Join(os.WriteFile(filepath.Join(dir, "mnt/f"), make([]byte, 100_000), 0o600),
		os.Link(filepath.Join(dir, "lower/files/f"), filepath.Join(dir, "outside")), veildb("key", "rotate", "ring", "--dek"),
		os.Mkdir(filepath.Join(dir, "plain"), 0o700), os.Symlink("/etc", filepath.Join(dir, "plain/out")))
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{ExitOK, []string{"status", "mnt"}},
		{ExitOK, []string{"scan", "lower"}},
		{ExitCheck, []string{"rekey", "mnt"}}, // f has a name outside
		{ExitBusy, []string{"audit", "lower", "--write", "manifest"}},
		{ExitUsage, []string{"rekey", "mnt", "--throttle", "99999999999999999"}},
		{ExitUsage, []string{"convert", "--in", "plain", "--out", "new", "--throttle", "99999999999999999"}},
		{ExitOK, []string{"convert", "--in", "plain", "--out", "new"}},
		{ExitOK, []string{"umount", "mnt"}},
		{ExitCheck, []string{"rekey", "lower"}},
		{ExitOK, []string{"audit", "lower", "--write", "manifest"}},
		{ExitOK, []string{"audit", "lower", "--verify", "manifest"}},
		{ExitOK, []string{"check", "lower", "--read"}},
		{ExitUsage, []string{"status", "none"}},
	} {
		cmd := exec.Command(exe, append([]string{"--json", "volume"}, c.args...)...)
		cmd.Args[0], cmd.Dir, cmd.Env = "veildb", dir, append(os.Environ(), keyEnv+"=ring")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); exitCodeOf(err) != c.code {
			t.Errorf("%q: %v; want exit code %d\n%s", c.args, err, c.code, &errs)
		}
		for _, b := range []*bytes.Buffer{&out, &errs} {
			text := b.String()
			for dec := json.NewDecoder(b); ; {
				var v map[string]any
				if err := dec.Decode(&v); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Errorf("%q: %v in %q", c.args, err, text)
					break
				}
				for name, field := range v {
					if field == nil {
						t.Errorf("%q: %s is null", c.args, name)
					}
				}
			}
		}
	}
}
