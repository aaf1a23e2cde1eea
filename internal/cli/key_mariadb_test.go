package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mariadbd runs statements in a server in bootstrap mode, which ends with them.
func mariadbd(t *testing.T, dir, keys, filekey, statements string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := []string{
		"--no-defaults", "--bootstrap", "--datadir=" + filepath.Join(dir, "data"), "--innodb-log-file-size=4M",
		"--plugin-load-add=file_key_management", "--file-key-management-filename=" + keys, "--innodb-encrypt-log=ON",
	}
	if filekey != "" {
		args = append(args, "--file-key-management-filekey=FILE:"+filekey)
	}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	cmd := exec.CommandContext(ctx, "mariadbd", args...)
	cmd.Stdin = strings.NewReader(statements)
	out, _ := cmd.CombinedOutput() // what it did is seen in files
	return string(out)
}

// TestMariadbKeys lets a real server encrypt a table with exported keys: it
// reads the table with the same export made again, and not with other keys.
func TestMariadbKeys(t *testing.T) {
	if _, err := exec.LookPath("mariadbd"); err != nil {
		t.Skip("mariadbd is not installed: the export was not tried (make test installs it)")
	}
	for name, filekey := range map[string]string{"plaintext": "", "encrypted": "filekey"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			veildb := func(args ...string) {
				t.Helper()
				var out bytes.Buffer
				if code := Main(t.Context(), args, strings.NewReader(""), &out, &out); code != 0 {
					t.Fatalf("veildb %v: exit code %d: %s", args, code, &out)
				}
			}
			if err := os.WriteFile(at("filekey"), []byte("words in a file\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(at("data"), 0o700); err != nil {
				t.Fatal(err)
			}
			export := func(ring, out string) string {
				args := []string{"key", "export", at(ring), "--format", "mariadb", "--ids", "1,2,100", "--version", "1", "--out", at(out)}
				if filekey != "" {
					args = append(args, "--filekey", at(filekey))
				}
				veildb(args...)
				return at(out)
			}
			server := func(keys, sql string) string {
				if filekey != "" {
					return mariadbd(t, dir, keys, at(filekey), sql)
				}
				return mariadbd(t, dir, keys, "", sql)
			}
			veildb("key", "init", at("ring"), "--provider", "file:"+at("root"))
			veildb("key", "init", at("other"), "--provider", "file:"+at("root"))

			log := server(export("ring", "keys"), "CREATE DATABASE d;\nCREATE TABLE d.t (a VARCHAR(100)) ENGINE=InnoDB ENCRYPTED=YES ENCRYPTION_KEY_ID=100;\n"+
				"INSERT INTO d.t VALUES ('canary in a coal mine');\nCREATE TABLE d.plain (a VARCHAR(100)) ENGINE=InnoDB ENCRYPTED=NO;\nINSERT INTO d.plain VALUES ('canary in the open');\n")
			found := map[string]bool{}
			for _, table := range []string{"t", "plain"} {
				data, err := os.ReadFile(at("data/d/" + table + ".ibd"))
				if err != nil {
					t.Fatalf("%v\n%s", err, log)
				}
				found[table] = bytes.Contains(data, []byte("canary"))
			}
			if found["t"] || !found["plain"] {
				t.Errorf("canary in the encrypted table file: %v, in the plain one: %v", found["t"], found["plain"])
			}

			veildb("key", "rotate", at("ring"))
			read := func(keys, out string) string {
				log := server(keys, "SELECT a FROM d.t INTO OUTFILE '"+at(out)+"';\n")
				data, err := os.ReadFile(at(out))
				if err != nil {
					return log
				}
				return string(data)
			}
			if got := read(export("ring", "again"), "out"); got != "canary in a coal mine\n" {
				t.Errorf("read with the same keys: %s", got)
			}
			if got := read(export("other", "wrong"), "none"); strings.Contains(got, "canary in a coal mine") {
				t.Error("read with other keys")
			}
		})
	}
}
