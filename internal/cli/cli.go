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
	"regexp"
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
	err := misnamed(root, args)
	if err == nil {
		err = interrupted(ctx, root.ExecuteContext(ctx))
	}
	if err != nil {
		printError(env, err)
	}
	code, _ := exitCode(err)
	return code
}

// misnamed refuses to show help for a command that is not there: --help would
// show that of the whole program, and report success.
func misnamed(root *cobra.Command, args []string) error {
	if !slices.Contains(args, "--help") && !slices.Contains(args, "-h") {
		return nil
	}
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if c, _, err := root.Find(args); err == nil && c == root && !strings.HasPrefix(a, "__") {
			return unknownCommand(root, a)
		}
		return nil
	}
	return nil
}

// interrupted makes an error that nothing else explains an interruption if ctx
// has ended: drivers and servers each have words of their own for it.
func interrupted(ctx context.Context, err error) error {
	if code, _ := exitCode(err); err == nil || ctx.Err() == nil || code != ExitFailure {
		return err
	}
	return &Error{Code: ExitInterrupted, Err: fmt.Errorf("interrupted: %w", err), Hint: "run the same command again"}
}

func newRoot(env *Env) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:           "veildb",
		Short:         "Make the databases you run confidential, and measure what that costs",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			if showVersion {
				return printVersion(env)
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.PersistentFlags().BoolVar(&env.JSON, "json", env.JSON, "print results and errors as JSON")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		text := strconvNoise.ReplaceAllString(err.Error(), "$1")
		return usagef("parse options", "see: "+cmd.CommandPath()+" --help", "%s", text)
	})
	for _, c := range topCommands() {
		root.AddCommand(c(env))
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	strict(root)
	argErrors(root)
	addHelp(root)
	return root
}

// strconvNoise is what strconv says around the reason.
var strconvNoise = regexp.MustCompile(`strconv\.\w+: parsing ".*": (invalid syntax|value out of range)$`)

// unknownCommand names a command that is not there, and what may be meant.
func unknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	hint := "see: " + cmd.CommandPath() + " --help"
	if like := cmd.SuggestionsFor(name); len(like) > 0 {
		hint = "do you mean: " + cmd.CommandPath() + " " + like[0]
	}
	return usagef("run "+cmd.CommandPath(), hint, "unknown command %q", name)
}

// strict makes commands that only group others refuse a name that is none of
// them, where cobra would print the help and report success.
func strict(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch {
		case c.Name() == "help":
			run := c.Run
			c.RunE, c.Run = func(cmd *cobra.Command, args []string) error {
				if found, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return unknownCommand(found, rest[0])
				}
				run(cmd, args)
				return nil
			}, nil
		case !c.Runnable() && c.HasSubCommands():
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return unknownCommand(cmd, args[0])
				}
				return cmd.Help()
			}
		}
	}
}

// argErrors makes wrong arguments a usage error in cmd and below.
func argErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if e := (*Error)(nil); err == nil || errors.As(err, &e) {
				return err
			}
			if cmd.HasSubCommands() && strings.HasPrefix(err.Error(), "unknown command") {
				return unknownCommand(cmd, args[0])
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
