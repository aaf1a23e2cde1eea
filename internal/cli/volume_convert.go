package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
)

type convertOptions struct {
	in, out, key string
	decrypt      bool
}

func newVolumeConvertCommand(env *Env) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert --in FILE --out FILE [--key KEYFILE] [--decrypt]",
		Short: "Encrypt a plain SQLite database, or the reverse",
		Long: `Copy a SQLite database into its encrypted form, or with --decrypt back.

The new file holds the same bytes as the database does after what its log or
journal still held was put into it. It appears under its name when it is
complete, on disk and compared with the source; an interrupted run leaves
nothing. The source is locked meanwhile, stays, and is yours to remove.`,
		Example: `  veildb volume convert --in app.db --out app.enc.db --key ring
  veildb volume convert --in app.enc.db --out app.db --key ring --decrypt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	f := cmd.Flags()
	f.StringVar(&o.in, "in", "", "database `FILE` to read")
	f.StringVar(&o.out, "out", "", "`FILE` to make; it must not exist")
	f.StringVar(&o.key, "key", "", "`KEYFILE`; "+keyEnv+" names it, too")
	f.BoolVar(&o.decrypt, "decrypt", false, "make a plain database from an encrypted one")
	return cmd
}

func (o *convertOptions) run(ctx context.Context, env *Env) error {
	const op, help = "convert database", "see: veildb volume convert --help"
	if o.in == "" || o.out == "" {
		return usagef(op, help, "--in and --out are both needed")
	}
	switch fi, err := os.Stat(o.in); {
	case errors.Is(err, fs.ErrNotExist):
		return usagef(op, help, "%w", err)
	case err != nil:
		return &Error{Op: op, Err: err}
	case fi.IsDir():
		return &Error{Code: ExitMissing, Op: op, Err: fmt.Errorf("%s is a directory", o.in),
			Hint: "only a SQLite database file can be converted by this version; name the file"}
	}
	ring, err := openKeyring(ctx, env, o.key)
	if err != nil {
		return err
	}
	defer ring.Close()
	p := newProgress(env.Stderr)
	c := sqlvfs.Conversion{Source: o.in, Target: o.out, Progress: func(done, total int64) {
		label := "write"
		if done > total/2 {
			label = "compare"
		}
		p.update(float64(done)/float64(total), label, fmt.Sprintf("%d MiB", total>>21))
	}}
	if o.decrypt {
		c.SourceKeys = ring
	} else {
		c.TargetKeys = ring
	}
	err = c.Run(ctx)
	p.clear()
	if errors.Is(err, fs.ErrExist) {
		return usagef("", "name a file that does not exist; nothing was changed", "%w", err)
	}
	if err == nil && env.JSON {
		return printJSON(env, map[string]any{"in": o.in, "out": o.out, "encrypted": !o.decrypt})
	}
	return err
}
