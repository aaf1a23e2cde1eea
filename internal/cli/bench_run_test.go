package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

const interruptedStudy = `
name: interrupted
title: A study to be interrupted
engine: sqlite
baseline: plain
variants: [tde, cols100]
threads: [2]
budget: {default: 6s}
block: 20ms
workloads:
  - {name: oltp_read_only, tables: 1, table_size: 500}
`

// cancelWhen calls cancel once the file at path holds want.
func cancelWhen(ctx context.Context, path, want string, cancel context.CancelFunc) {
	for ctx.Err() == nil {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(want)) {
			cancel()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestBenchIsInterruptedAndResumed(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(interruptedStudy), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"bench", "run", file, "--variants", "tde", "--seed=3", "--out", out}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go cancelWhen(ctx, filepath.Join(out, result.FileName), `"type":"block"`, cancel)
	var stderr bytes.Buffer
	code := Main(ctx, args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
	again := "veildb bench run " + file + " --seed=3 --variants=tde --out " + out
	if code != ExitInterrupted || !strings.Contains(stderr.String(), again) {
		t.Fatalf("interrupted run: exit code %d, stderr %q; want %d and how to go on: %s", code, &stderr, ExitInterrupted, again)
	}
	if _, err := os.Stat(filepath.Join(out, "report.html")); err == nil {
		t.Error("an interrupted run wrote a report as if it were whole")
	}
	before, err := result.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}

	if code := Main(t.Context(), args, strings.NewReader(""), &bytes.Buffer{}, &stderr); code != ExitOK {
		t.Fatalf("resumed run: exit code %d, stderr %q", code, &stderr)
	}
	after, err := result.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.All[result.End](after)) != 1 {
		t.Error("the resumed run has no end record")
	}
	kept, blocks := result.All[result.Block](before), result.All[result.Block](after)
	for i, b := range kept {
		if blocks[i].Start != b.Start {
			t.Fatalf("block %d was rewritten", i)
		}
	}
	seen := map[[2]any]int{}
	for _, b := range blocks {
		seen[[2]any{b.Cell.Variant, b.Quad}]++
	}
	for quad, n := range seen {
		if n != 4 {
			t.Errorf("quad %v has %d blocks, want 4", quad, n)
		}
	}
	if len(seen) == 0 {
		t.Error("no quads recorded")
	}
}
