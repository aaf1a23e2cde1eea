package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/keys/keyring"
)

func newKeyStatusCommand(env *Env) *cobra.Command {
	var k keyFlags
	cmd := &cobra.Command{
		Use:   "status [KEYFILE]",
		Short: "Show what a key file says, without any key",
		Long: `Show provider, generation, versions, the last rotation and the next one due.

No key is unwrapped, so this works while the key manager is away; and nothing is
proved, except that the file is whole. "veildb key check" proves the rest.`,
		Example: `  veildb key status /etc/veildb/ring
  veildb key status ring --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := keyPath(keyArg(args))
			if err != nil {
				return err
			}
			s, err := keyring.ReadStatus(path, k.options(env))
			if err != nil {
				return err
			}
			if env.JSON {
				return printJSON(env, s)
			}
			return printKeyStatus(env.Stdout, s)
		},
	}
	cmd.Flags().StringVar(&k.record, "record", "", "generation record `FILE`, instead of the one the key file names")
	return cmd
}

func printKeyStatus(out io.Writer, s *keyring.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	row("key file", "%s", s.Path)
	row("id", "%s", s.ID)
	row("generation", "%d of %s (%s)", s.Generation, s.Written.UTC().Format(time.RFC3339), s.Format)
	row("provider", "%s since %s", s.Provider, day(s.RootSince))
	if s.RootKeyVersion != "" {
		row("root key", "%s", s.RootKeyVersion)
	}
	key := func(name string, versions []keyring.KeyInfo) {
		last := versions[len(versions)-1]
		row(name, "version %d of %s (check %s)", last.Version, day(last.Created), last.Check)
	}
	key("key encryption key", s.KEKs)
	key("data key", s.DEKs)
	row("last rotation", "%s", day(s.LastRotation))
	if s.NextDue != nil {
		row("next rotation due", "%s", day(*s.NextDue))
	}
	if s.Record != "" {
		row("generation record", "%s: %d", s.Record, s.RecordGeneration)
	}
	if s.PrevGeneration > 0 {
		row("previous generation", "%d", s.PrevGeneration)
	}
	for _, warning := range s.Warnings {
		row("warning", "%s", warning)
	}
	return w.Flush()
}

func newKeyCheckCommand(env *Env) *cobra.Command {
	var k keyFlags
	cmd := &cobra.Command{
		Use:   "check [KEYFILE]",
		Short: "Prove that a key file opens and its provider wraps and unwraps",
		Long: `Open the key file, unwrap every key in it, wrap and unwrap a random key with the
provider, and look at the generation record and the files around. Run it before
anything depends on the key file, and from a timer.

Exit codes: 0 all hold; 3 the file opens, and a check does not hold; 4 wrong key
or key manager unreachable; 5 damaged, altered, or older than the record tells.`,
		Example: `  veildb key check /etc/veildb/ring
  veildb key check ring --json | jq '.checks[] | select(.ok | not)'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runKeyCheck(cmd.Context(), env, k, keyArg(args))
		},
	}
	k.addTo(cmd, "provider")
	return cmd
}

func runKeyCheck(ctx context.Context, env *Env, k keyFlags, path string) error {
	r, err := k.open(ctx, env, path)
	if err != nil {
		return err
	}
	defer r.Close()
	type check struct {
		Name  string `json:"name"`
		OK    bool   `json:"ok"`
		Error string `json:"error,omitempty"`
	}
	var checks []check
	var failed error
	for _, f := range r.Check(ctx) {
		c := check{Name: f.Name, OK: f.Err == nil}
		if f.Err != nil {
			c.Error = f.Err.Error()
			if failed == nil {
				failed = &Error{Code: ExitCheck, Op: "check that " + f.Name, Err: f.Err}
			}
		}
		checks = append(checks, c)
	}
	s := r.Status()
	if env.JSON {
		if err := printJSON(env, map[string]any{"path": s.Path, "generation": s.Generation, "checks": checks, "warnings": s.Warnings}); err != nil {
			return err
		}
		return failed
	}
	for _, c := range checks {
		if c.OK {
			fmt.Fprintf(env.Stdout, "ok    %s\n", c.Name)
		} else {
			fmt.Fprintf(env.Stdout, "FAIL  %s: %s\n", c.Name, c.Error)
		}
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(env.Stdout, "warning: %s\n", w)
	}
	return failed
}
