// Package cli is the command line: one file per command, and the only place
// where the products meet.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Env is what a command may touch of the outside: its streams.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	JSON   bool // --json: errors as JSON on Stderr
}

// Main runs the command line args and returns the exit code. It cancels the
// command's context on the first SIGINT or SIGTERM; a second one kills.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	env := &Env{Stdin: stdin, Stdout: stdout, Stderr: stderr}
	env.JSON = slices.Contains(args, "--json") // also for errors in the options themselves
	root := newRoot(env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		printError(env, err)
	}
	code, _ := exitCode(err)
	return code
}

func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:           "veildb",
		Short:         "Make the databases you run confidential, and measure what that costs",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("run veildb", "see: veildb help", "unknown command %q", args[0])
			}
			return cmd.Help()
		},
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.PersistentFlags().BoolVar(&env.JSON, "json", env.JSON, "print results and errors as JSON")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("parse options", "see: "+cmd.CommandPath()+" --help", "%w", err)
	})
	for _, c := range topCommands() {
		root.AddCommand(c(env))
	}
	argErrors(root)
	return root
}

// argErrors makes wrong arguments a usage error in cmd and below.
func argErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if e := (*Error)(nil); err == nil || errors.As(err, &e) {
				return err
			}
			return usagef("run "+cmd.CommandPath(), "see: "+cmd.CommandPath()+" --help", "%w", err)
		}
	}
	for _, c := range cmd.Commands() {
		argErrors(c)
	}
}

// printError writes err as one line and its hint as a second, or as JSON.
func printError(env *Env, err error) {
	code, hint := exitCode(err)
	msg := strings.ReplaceAll(err.Error(), "\n", "; ")
	if env.JSON {
		type body struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Hint    string `json:"hint,omitempty"`
		}
		json.NewEncoder(env.Stderr).Encode(map[string]body{"error": {code, msg, hint}})
		return
	}
	fmt.Fprintf(env.Stderr, "veildb: %s\n", msg)
	if hint != "" {
		fmt.Fprintln(env.Stderr, hint)
	}
}
