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
	backend      string
	kernel       bool // --out is to be encrypted by the kernel
	names        string
	decrypt      bool
	throttle     int64 // MB/s
	workers      int
	fromDisk     bool
}

func newVolumeConvertCommand(env *Env) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert --in PATH --out PATH [--key KEYFILE] [--decrypt]",
		Short: "Encrypt a directory or a SQLite database, or the reverse",
		Long: `Copy a directory into a new encrypted volume, or a SQLite database into its
encrypted form; with --decrypt back. What is read stays, and is yours to remove.

A directory: owner, mode, times, links, attributes and holes are kept; sockets
are left out. Every byte is read back and compared. No program may have the
directory in use: a server that runs on it is found and refused. The new volume
cannot be mounted, and the new plain directory does not appear, before it is
complete and on disk; the same command goes on after an interruption, of
whatever kind. What links lead to outside of the directory is not converted; a
note names each. With --backend kernel the new directory is one that the kernel
encrypts; with --decrypt either kind is read.

A SQLite database: the new file holds the same bytes as the database does after
what its log or journal still held was put into it. It appears under its name
when it is complete, on disk and compared with the source; an interrupted run
leaves nothing. The source is locked meanwhile.`,
		Example: `  veildb volume convert --in /var/lib/mysql --out /srv/mysql.enc --key ring
  veildb volume convert --in /srv/mysql.enc --out /var/lib/mysql --key ring --decrypt
  veildb volume convert --in app.db --out app.enc.db --key ring`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.kernel, err = isKernel(cmd, "convert", o.backend); err != nil {
				return err
			}
			return o.run(cmd.Context(), env)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.in, "in", "", "directory or database to read, a `PATH`")
	f.StringVar(&o.out, "out", "", "`PATH` to make; it must not exist, or be an empty directory")
	f.BoolVar(&o.decrypt, "decrypt", false, "make a plain copy of an encrypted one")
	f.Int64Var(&o.throttle, "throttle", 0, "read a directory at `MB` a second at most; 0 does not limit")
	f.IntVar(&o.workers, "workers", 0, "`N` files or parts of files of a directory at once; 0 suits the machine")
	f.BoolVar(&o.fromDisk, "verify-disk", false, "read back from the disk, not from the system's cache: slower")
	f.StringVar(&o.names, "names", "", "how a new volume keeps names, `plain|encrypted` (default: plain)")
	volumeKeyFlag(cmd, &o.key)
	backendFlag(cmd, &o.backend)
	return cmd
}

func (o *convertOptions) run(ctx context.Context, env *Env) error {
	const op, help = "convert", "see: veildb volume convert --help"
	if o.in == "" || o.out == "" {
		return usagef(op, help, "--in and --out are both needed")
	}
	if o.throttle > maxThrottle {
		return usagef(op, help, "--throttle %d is more than %d", o.throttle, maxThrottle)
	}
	if o.throttle < 0 || o.workers < 0 {
		return usagef(op, help, "--throttle and --workers must not be negative")
	}
	if err := o.checkNames(); err != nil {
		return err
	}
	switch fi, err := os.Stat(o.in); {
	case errors.Is(err, fs.ErrNotExist):
		return usagef(op, help, "%w", err)
	case err != nil:
		return &Error{Op: op, Err: err}
	case fi.IsDir():
		return o.runDirectory(ctx, env)
	case o.kernel:
		return usagef(op, help, "--backend kernel is for directories")
	}
	if o.names != "" {
		return usagef(op, help, "--names is for directories; %s is a file", o.in)
	}
	return o.runDatabase(ctx, env)
}

// checkNames refuses --names where it says nothing.
func (o *convertOptions) checkNames() error {
	if o.names == "" {
		return nil
	}
	if o.decrypt {
		return usagef("convert", "leave it out: a plain directory has plain names", "--names does not go with --decrypt")
	}
	_, err := namesOf("convert", o.names)
	return err
}

func (o *convertOptions) runDatabase(ctx context.Context, env *Env) error {
	ring, err := openKeyring(ctx, env, o.key)
	if err != nil {
		return err
	}
	defer ring.Close()
	p := env.progress()
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
	if err != nil {
		return err
	}
	if env.JSON {
		return printJSON(env, map[string]any{"in": o.in, "out": o.out, "encrypted": !o.decrypt})
	}
	what := "encrypted"
	if o.decrypt {
		what = "decrypted"
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %s, every byte compared\n", o.out, what)
	return err
}
