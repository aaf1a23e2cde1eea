package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/keys/keyring"
)

type keyExportOptions struct {
	keyFlags
	format  string
	out     string
	version uint32
	ids     []uint
	filekey string
	size    int
}

func newKeyExportCommand(env *Env) *cobra.Command {
	var o keyExportOptions
	cmd := &cobra.Command{
		Use:   "export [KEYFILE] --format mariadb|edb --out FILE",
		Short: "Write the key file that an engine's own encryption needs",
		Long: `Derive keys from a data key and write them in the form that an engine reads, so
that one hierarchy serves its encryption at rest too. The same key file, data
key version and id always give the same key. FILE is made with mode 0600 and
never replaced.

  mariadb  the file of MariaDB's file_key_management plugin: a line "ID;KEY" with
           a 256-bit key for each id. Id 1 is for system data and logs, 2 for
           temporary files. Without --filekey it is plaintext, as the plugin wants
           it; with --filekey it is encrypted by the passphrase in that file.
  edb      a wrapped key file for EDB Postgres (initdb --copy-key-from): --bytes
           bytes that "veildb key unwrap" gives back.`,
		Example: `  veildb key export ring --format mariadb --out /etc/mysql/keys
  veildb key export ring --format mariadb --ids 1,2,100 --filekey pass --out keys.enc
  veildb key export ring --format edb --out key.bin
  initdb -y --copy-key-from=key.bin --key-unwrap-command='veildb key unwrap /etc/veildb/ring %p' …`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, keyArg(args))
		},
	}
	o.addTo(cmd, "provider")
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "for which engine, `mariadb|edb` (required)")
	f.StringVar(&o.out, "out", "", "`FILE` to make (required)")
	f.Uint32Var(&o.version, "version", 0, "`VERSION` of the data key to derive from; 0 is the current one")
	f.UintSliceVar(&o.ids, "ids", []uint{1, 2}, "key `IDS`, for mariadb")
	f.StringVar(&o.filekey, "filekey", "", "encrypt by the passphrase in `FILE`, for mariadb")
	f.IntVar(&o.size, "bytes", 64, "`LENGTH` of the key in bytes, for edb")
	return cmd
}

func (o keyExportOptions) run(ctx context.Context, env *Env, path string) error {
	usage := func(format string, args ...any) error {
		return usagef("export key", "see: veildb key export --help", format, args...)
	}
	switch {
	case o.format != "mariadb" && o.format != "edb":
		return usage("--format is %q, want mariadb or edb", o.format)
	case o.out == "":
		return usage("no --out given")
	case o.size < 16 || o.size > 4096:
		return usage("--bytes is %d, want 16 to 4096", o.size)
	}
	r, err := o.open(ctx, env, path)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.version == 0 {
		o.version = r.Current()
	}
	var data []byte
	if o.format == "mariadb" {
		data, err = mariadbKeys(r, o.version, o.ids, o.filekey)
	} else {
		data, err = edbKey(r, o.version, o.size)
	}
	if err != nil {
		return err
	}
	defer clear(data)
	if err := writeNew(o.out, data); err != nil {
		return err
	}
	if env.JSON {
		return printJSON(env, map[string]any{"out": o.out, "format": o.format, "data_key_version": o.version})
	}
	fmt.Fprintf(env.Stdout, "%s: %s keys from data key %d\n", o.out, o.format, o.version)
	if o.format == "mariadb" && o.filekey == "" {
		fmt.Fprintln(env.Stdout, "the keys in it are plaintext: keep it off the disk of the data, or use --filekey")
	}
	return nil
}

// edbKey returns size derived bytes, wrapped.
func edbKey(r *keyring.Ring, version uint32, size int) ([]byte, error) {
	key, err := secret.New(size)
	if err != nil {
		return nil, err
	}
	defer key.Close()
	for n, part := 0, 0; n < size; part++ {
		sub, err := r.Subkey(fmt.Sprintf("edb/%d", part), version)
		if err != nil {
			return nil, err
		}
		n += copy(key.Reveal()[n:], sub.Reveal())
		sub.Close()
	}
	return r.WrapForeign(key)
}

// writeNew makes a file of mode 0600, durably; an existing one is refused.
func writeNew(path string, data []byte) error {
	f, err := disk.CreateNew(path, 0o600)
	if err != nil {
		return &Error{Code: createCode(err), Op: "write " + path, Err: err, Hint: "name a file that does not exist"}
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(path)
		return &Error{Op: "write " + path, Err: err}
	}
	return nil
}

func newKeyWrapCommand(env *Env) *cobra.Command {
	var k keyFlags
	cmd := &cobra.Command{
		Use:   "wrap KEYFILE FILE",
		Short: "Wrap the key of another program: standard input to FILE",
		Long: `Read a key, at most 64 KiB, from standard input, wrap it with the current data
key and write it to FILE, replacing it. It is the wrap command of EDB Postgres.`,
		Example: `  initdb -y --key-wrap-command='veildb key wrap /etc/veildb/ring %p' \
            --key-unwrap-command='veildb key unwrap /etc/veildb/ring %p' …`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := k.open(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			key, err := readForeignKey(env.Stdin)
			if err != nil {
				return err
			}
			defer key.Close()
			blob, err := r.WrapForeign(key)
			if err != nil {
				return err
			}
			return disk.AtomicWrite(args[1], blob, 0o600)
		},
	}
	k.addTo(cmd, "provider")
	return cmd
}

func readForeignKey(r io.Reader) (*secret.Bytes, error) {
	var buf bytes.Buffer
	buf.Grow(keyring.MaxForeignKey + bytes.MinRead) // never grows again, so that one wipe is enough
	defer func() { clear(buf.Bytes()) }()
	if _, err := buf.ReadFrom(io.LimitReader(r, keyring.MaxForeignKey+1)); err != nil {
		return nil, fmt.Errorf("read key from standard input: %w", err)
	}
	switch {
	case buf.Len() == 0:
		return nil, usagef("read key from standard input", "see: veildb key wrap --help", "there is none")
	case buf.Len() > keyring.MaxForeignKey:
		return nil, usagef("read key from standard input", "see: veildb key wrap --help", "it is longer than %d bytes", keyring.MaxForeignKey)
	}
	return secret.From(bytes.Clone(buf.Bytes()))
}

func newKeyUnwrapCommand(env *Env) *cobra.Command {
	var k keyFlags
	cmd := &cobra.Command{
		Use:   "unwrap KEYFILE FILE",
		Short: "Unwrap the key of another program: FILE to standard output",
		Long: `Unwrap FILE, which "veildb key wrap" or "veildb key export --format edb" wrote,
and print the key as it is. It is the unwrap command of EDB Postgres.`,
		Example: `  veildb key unwrap /etc/veildb/ring pg_encryption/key.bin | wc -c`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := k.open(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			blob, err := readWrapped(args[1])
			if err != nil {
				return err
			}
			key, err := r.UnwrapForeign(blob)
			if err != nil {
				return err
			}
			defer key.Close()
			_, err = env.Stdout.Write(key.Reveal())
			return err
		},
	}
	k.addTo(cmd, "provider")
	return cmd
}

// readWrapped reads a wrapped key, or as much of a file as shows that it is none.
func readWrapped(path string) ([]byte, error) {
	f, err := disk.OpenRegular(path)
	if err != nil {
		return nil, fmt.Errorf("read wrapped key: %w", err)
	}
	defer f.Close()
	blob, err := io.ReadAll(io.LimitReader(f, 2*keyring.MaxForeignKey))
	if err != nil {
		return nil, fmt.Errorf("read wrapped key: %w", err)
	}
	return blob, nil
}

// createCode is the exit code for a file that cannot be made.
func createCode(err error) int {
	if os.IsExist(err) || os.IsNotExist(err) {
		return ExitUsage
	}
	if os.IsPermission(err) {
		return ExitMissing
	}
	return ExitFailure
}
