package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
)

type keyInitOptions struct {
	provider   string
	record     string
	rotateDays int
	commands   commandFlags
}

func newKeyInitCommand(env *Env) *cobra.Command {
	var o keyInitOptions
	cmd := &cobra.Command{
		Use:   "init KEYFILE --provider PROVIDER",
		Short: "Make a key file",
		Long: `Make a key file with one data key. The provider must prove that it unwraps what
it wraps before anything is written; an existing file is never replaced.

With provider file:PATH the root key is made too if PATH does not exist. Keep a
copy of it in a safe place: without it no data can be read.

With --record FILE the generation of the key file is written to FILE each time
it changes, and an older key file is refused. FILE belongs on another disk or
host than the key file.

` + providerHelp,
		Example: `  veildb key init /etc/veildb/ring --provider file:/root/veildb.root
  veildb key init ring --provider passphrase
  veildb key init ring --provider passphrase-credential:veildb --rotate-days 90
  veildb key init ring --provider file:root --record /mnt/other/ring.generation
  veildb key init ring --provider vault:https://vault.example.com:8200/transit#veildb
  veildb key init ring --provider command \
      --key-wrap-command 'openssl enc -e -aes-256-cbc -pbkdf2 -pass file:/root/pass -out %p' \
      --key-unwrap-command 'openssl enc -d -aes-256-cbc -pbkdf2 -pass file:/root/pass -in %p'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, keyArg(args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.provider, "provider", "", "`PROVIDER` of the root key (required)")
	f.StringVar(&o.record, "record", "", "also record the generation in `FILE`")
	f.IntVar(&o.rotateDays, "rotate-days", 0, "call a rotation due after this many `DAYS`")
	o.commands.addTo(cmd, "", "for provider command")
	return cmd
}

func (o keyInitOptions) run(ctx context.Context, env *Env, path string) error {
	path, err := keyPath(path)
	if err != nil {
		return err
	}
	if o.provider == "" {
		return usagef("make key file", "see: veildb key init --help", "no --provider given")
	}
	if o.rotateDays < 0 {
		return usagef("make key file", "see: veildb key init --help", "--rotate-days %d is negative", o.rotateDays)
	}
	if o.record != "" {
		if o.record, err = filepath.Abs(o.record); err != nil {
			return err
		}
	}
	p, err := openProvider(env, o.provider, o.commands)
	if err != nil {
		return err
	}
	made := ""
	if _, err := os.Lstat(path); err != nil { // else Init refuses
		if made, err = makeRootFile(p); err != nil {
			return err
		}
	}
	r, err := keyring.Init(ctx, path, p, keyring.InitOptions{Record: o.record, RotateDays: o.rotateDays}, keyFlags{commands: o.commands}.options(env))
	if err != nil {
		if made != "" {
			os.Remove(made) // a moment old, and nothing is wrapped by it
		}
		return err
	}
	defer r.Close()
	if env.JSON {
		return printJSON(env, r.Status())
	}
	tellRootFile(env, made)
	fmt.Fprintf(env.Stdout, "key file made: %s (id %s, provider %s)\n", r.Path(), r.ID(), p.URI())
	return nil
}

// makeRootFile makes the root key file that p needs, if there is none, and
// returns its name.
func makeRootFile(p keyring.Provider) (made string, err error) {
	path, isFile := strings.CutPrefix(p.URI(), "file:")
	if !isFile {
		return "", nil
	}
	err = kms.CreateFile(path)
	if errors.Is(err, fs.ErrExist) {
		return "", nil
	}
	return path, err
}

func tellRootFile(env *Env, made string) {
	if made != "" {
		fmt.Fprintf(env.Stdout, "root key made: %s (keep a copy in a safe place: without it no data can be read)\n", made)
	}
}
