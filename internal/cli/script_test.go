package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary answer to the name veildb, so that scripts run
// the real command line.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"veildb":   veildbMain,
		helperName: veildbMain,
	})
}

func veildbMain() { os.Exit(Main(context.Background(), Args(os.Args), os.Stdin, os.Stdout, os.Stderr)) }

// TestScripts runs testdata/*.txtar, one behaviour each. Beside the commands of
// testscript they have
//
//	exits CODE PROGRAM ARG...   like exec, for an exact exit code
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, Setup: stopLabs,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// stopLabs takes down the servers of a script that failed before it did so.
func stopLabs(env *testscript.Env) error {
	env.Defer(func() {
		dirs, _ := filepath.Glob(filepath.Join(env.WorkDir, "lab*"))
		for _, dir := range dirs {
			if out, err := exec.Command("veildb", "lab", "down", "--dir", dir).CombinedOutput(); err != nil && env.T().Verbose() {
				env.T().Log(dir, string(out)) // most are down already
			}
		}
	})
	return nil
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %q: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d of %q, want %s", got, args[1:], args[0])
	}
}
