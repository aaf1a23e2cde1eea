package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// TestVolumeConvert encrypts a database and decrypts it again, and runs the
// ways in which both go wrong, each with its exit code.
func TestVolumeConvert(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(code int, words string, args ...string) {
		t.Helper()
		var out, errOut bytes.Buffer
		got := Main(context.Background(), args, strings.NewReader(""), &out, &errOut)
		if got != code || !strings.Contains(errOut.String(), words) {
			t.Errorf("veildb %s\nexit %d, want %d with %q; stderr:\n%s", strings.Join(args, " "), got, code, words, errOut.String())
		}
	}
	convert := func(code int, words, in, out string, more ...string) {
		t.Helper()
		run(code, words, append([]string{"volume", "convert", "--in", file(in), "--out", file(out)}, more...)...)
	}
	t.Setenv(keyEnv, "")
	for _, key := range []string{"ring", "other"} {
		root := make([]byte, 32)
		rand.Read(root)
		if err := os.WriteFile(file(key+".root"), root, 0o600); err != nil {
			t.Fatal(err)
		}
		run(ExitOK, "", "key", "init", file(key), "--provider", "file:"+file(key+".root"))
	}
	db, err := sqlvfs.Open(file("plain.db"), sqlvfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE t(v); INSERT INTO t SELECT 'canary-' || value FROM generate_series(1, 5000)`); err != nil {
		t.Fatal(err)
	}
	convert(ExitBusy, "in use", "plain.db", "enc.db", "--key", file("ring"))
	db.Close()
	convert(ExitOK, "", "plain.db", "enc.db", "--key", file("ring"))
	convert(ExitOK, "", "enc.db", "back.db", "--key", file("ring"), "--decrypt")
	plain, _ := os.ReadFile(file("plain.db"))
	enc, _ := os.ReadFile(file("enc.db"))
	back, _ := os.ReadFile(file("back.db"))
	if len(plain) == 0 || !bytes.Equal(plain, back) {
		t.Errorf("%d bytes there, %d back, or not the same", len(plain), len(back))
	}
	if !bytes.Contains(plain, []byte("canary-")) || bytes.Contains(enc, []byte("canary-")) {
		t.Error("the canary is missing in the plain database or shows in the encrypted one")
	}

	convert(ExitUsage, "exist", "plain.db", "enc.db", "--key", file("ring"))
	run(ExitUsage, "needed", "volume", "convert", "--in", file("plain.db"), "--key", file("ring"))
	convert(ExitUsage, "no such file", "missing.db", "x.db", "--key", file("ring"))
	convert(ExitUsage, "lies in", ".", "x", "--key", file("ring"))
	convert(ExitUsage, "no key file", "plain.db", "x.db")
	convert(ExitUsage, "not encrypted", "plain.db", "x.db", "--key", file("ring"), "--decrypt")
	convert(ExitKey, "is encrypted", "enc.db", "x.db", "--key", file("ring"))
	convert(ExitKey, "", "enc.db", "x.db", "--key", file("other"), "--decrypt")
	convert(ExitUsage, "not a SQLite database", "ring.root", "x.db", "--key", file("ring"))
	enc[100] ^= 1
	if err := os.WriteFile(file("damaged.db"), enc, 0o600); err != nil {
		t.Fatal(err)
	}
	convert(ExitDamaged, "damaged", "damaged.db", "x.db", "--key", file("ring"), "--decrypt")
	if _, err := os.Lstat(file("x.db")); err == nil {
		t.Error("a failed conversion left its target")
	}
}
