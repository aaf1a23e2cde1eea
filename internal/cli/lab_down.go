package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/bench/target"
)

func newLabDownCommand(env *Env) *cobra.Command {
	var o labOptions
	var all bool
	cmd := &cobra.Command{
		Use:   "down [ENGINE]",
		Short: "Stop a server; its data go unless they are in a --dir",
		Long: `Stop a server, named by its engine, by --name or by --dir. What it stored is
deleted, unless it was started with --dir.`,
		Example: `  veildb lab down mariadb
  veildb lab down --all`,
		Args:      labArgs(cobra.MaximumNArgs(1)),
		ValidArgs: target.Engines(),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && (len(args) > 0 || o.name != "" || o.dir != ""):
				return usagef("stop lab server", "give --all alone, or name one server", "--all and one server are both named")
			case all:
				return labDownAll(cmd.Context(), env)
			}
			engine := ""
			if len(args) == 1 {
				engine = args[0]
			}
			if engine == "" && o.name == "" && o.dir == "" {
				return usagef("stop lab server", "see: veildb lab list", "which one? name an engine, --name, --dir or --all")
			}
			dir, err := o.place(engine)
			if err != nil {
				return err
			}
			down, err := labDown(cmd.Context(), dir)
			if err != nil {
				return err
			}
			return printDown(env, []labStopped{down})
		},
	}
	o.addFlags(cmd, "the directory that the server was started with")
	cmd.Flags().BoolVar(&all, "all", false, "stop all servers that are not in a --dir")
	return cmd
}

// labStopped is a server that was stopped, in JSON.
type labStopped struct {
	Name       string `json:"name"`
	Engine     string `json:"engine"`
	Dir        string `json:"dir"`
	WasRunning bool   `json:"was_running"` // false: it had ended by itself
}

func labDown(ctx context.Context, dir string) (labStopped, error) {
	st, err := target.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return labStopped{}, usagef("stop lab server", "see: veildb lab list", "there is none in %s", dir)
	}
	if err != nil {
		return labStopped{}, err
	}
	down := labStopped{Name: filepath.Base(st.Dir), Engine: st.Engine, Dir: dir, WasRunning: st.Running()}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := st.Stop(ctx); err != nil {
		return down, fmt.Errorf("stop lab server: %w", err)
	}
	if base, err := labDir(); err == nil && filepath.Dir(dir) == base {
		if err := os.RemoveAll(dir); err != nil {
			return down, fmt.Errorf("remove lab server: %w", err)
		}
		os.Remove(base) // if that was the last
	}
	return down, nil
}

func labDownAll(ctx context.Context, env *Env) error {
	states, err := labStates()
	if err != nil {
		return err
	}
	stopped := []labStopped{}
	var errs []error
	for _, st := range states {
		down, err := labDown(ctx, st.Dir)
		if err == nil {
			stopped = append(stopped, down)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, printDown(env, stopped))...)
}

func printDown(env *Env, stopped []labStopped) error {
	if env.JSON {
		return json.NewEncoder(env.Stdout).Encode(map[string]any{"stopped": stopped})
	}
	for _, s := range stopped {
		what := "stopped"
		if !s.WasRunning {
			what = "was not running any more"
		}
		fmt.Fprintf(env.Stderr, "%s in %s %s\n", s.Engine, s.Dir, what)
	}
	return nil
}
