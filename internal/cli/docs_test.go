package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

// A docBlock is a fenced block of shell commands in a document.
type docBlock struct {
	file string
	long bool // takes long, or needs what a test cannot give: options are checked only
	text string
}

// docBlocks reads the blocks fenced as "sh" in a Markdown file.
func docBlocks(t *testing.T, path string) []docBlock {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []docBlock
	var open *docBlock
	for line := range strings.Lines(string(data)) {
		switch fence := strings.TrimSpace(line); {
		case open != nil && fence == "```":
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line
		case fence == "```sh" || fence == "```sh long":
			open = &docBlock{file: filepath.Base(path), long: strings.HasSuffix(fence, "long")}
		}
	}
	return blocks
}

func docFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	return append(files, "../../README.md")
}

// TestDocumentedCommands runs what the documents tell people to type, one
// document after the other, each in a directory of its own. Commands that take
// long are only checked for options that exist.
func TestDocumentedCommands(t *testing.T) {
	for _, path := range docFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			script := "set -e\n"
			for _, b := range docBlocks(t, path) {
				checkOptions(t, b)
				if !b.long && !strings.Contains(b.text, "make ") {
					script += b.text
				}
			}
			runDocScript(t, script)
		})
	}
}

// shellWords finds the words of a line of shell, with their quotes.
var shellWords = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)

// checkOptions parses each veildb command of b without running it.
func checkOptions(t *testing.T, b docBlock) {
	t.Helper()
	text := strings.ReplaceAll(b.text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		line, _, _ = strings.Cut(line, " | ")
		fields := shellWords.FindAllString(line, -1)
		if len(fields) == 0 || fields[0] != "veildb" {
			continue
		}
		root := newRoot(&Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
		cmd, rest, err := root.Find(fields[1:])
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("%s: %q: %v", b.file, strings.TrimSpace(line), err)
		}
	}
}

// runDocScript runs script where documents expect to be: veildb in the path, a
// database app.db at hand.
func runDocScript(t *testing.T, script string) {
	t.Helper()
	if !strings.Contains(script, "veildb ") {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	// The test binary is veildb when it is called so; see TestMain.
	if err := os.Symlink(exe, filepath.Join(bin, "veildb")); err != nil {
		t.Fatal(err)
	}
	db, err := sqlvfs.Open(filepath.Join(dir, "app.db"), sqlvfs.Options{JournalMode: "delete"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'hello')"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// Paths under /tmp in documents are fine for people; tests keep to dir.
	script = strings.ReplaceAll(script, "/tmp/", dir+"/")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+dir, "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("documented commands fail: %v\n%s\n%s", err, script, out)
	}
}
