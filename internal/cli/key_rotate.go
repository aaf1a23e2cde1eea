package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/keys/keyring"
)

func newKeyRotateCommand(env *Env) *cobra.Command {
	var k keyFlags
	var dek bool
	cmd := &cobra.Command{
		Use:   "rotate [KEYFILE]",
		Short: "Make a new key encryption key, or a new data key",
		Long: `Make a new key encryption key, let the root key wrap it, and wrap all data keys
with it. Data stays as it is. With --dek make a new data key instead: new data
uses it, old data keeps its key until it is written anew.

Volumes and gates may run meanwhile; they take up the change by themselves. A
crash at any moment leaves the old generation or the new one.`,
		Example: `  veildb key rotate /etc/veildb/ring
  veildb key rotate ring --dek`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeKey(cmd.Context(), env, k, keyArg(args), func(ctx context.Context, r *keyring.Ring) error {
				if dek {
					return r.RotateDEK(ctx)
				}
				return r.Rotate(ctx)
			})
		},
	}
	k.addTo(cmd, "provider")
	cmd.Flags().BoolVar(&dek, "dek", false, "make a new data key")
	return cmd
}

func newKeyRewrapCommand(env *Env) *cobra.Command {
	var k keyFlags
	var to string
	var commands commandFlags
	var allowReuse bool
	cmd := &cobra.Command{
		Use:   "rewrap [KEYFILE] --provider PROVIDER",
		Short: "Move a key file to another provider or root key",
		Long: `Move the key file to another root key: between files, passphrases and key
managers in any direction. It gets a new key encryption key, which the old root
key has never seen. The new provider must prove that it unwraps what it wraps
before the file is replaced. A root key file that does not exist is made.

The old root key still opens old copies of the key file; destroy those first,
then the root key. A root key that was given up once is refused later.

` + providerHelp,
		Example: `  veildb key rewrap ring --provider passphrase
  veildb key rewrap ring --provider file:/root/new.root
  veildb key rewrap ring --from file:/mnt/usb/moved.root --provider passphrase`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return usagef("rewrap key file", "see: veildb key rewrap --help", "no --provider given")
			}
			p, err := openProvider(env, to, commands)
			if err != nil {
				return err
			}
			return changeKey(cmd.Context(), env, k, keyArg(args), func(ctx context.Context, r *keyring.Ring) error {
				return rewrap(ctx, env, r, p, allowReuse)
			})
		},
	}
	k.addTo(cmd, "from")
	commands.addTo(cmd, "", "for the new provider")
	cmd.Flags().StringVar(&to, "provider", "", "`PROVIDER` of the new root key (required)")
	cmd.Flags().BoolVar(&allowReuse, "allow-reuse", false, "use a root key that was given up before")
	return cmd
}

// rewrap moves r to p, whose root key file is made if there is none.
func rewrap(ctx context.Context, env *Env, r *keyring.Ring, p keyring.Provider, allowReuse bool) error {
	made, err := makeRootFile(p)
	if err != nil {
		return err
	}
	before := r.Generation()
	err = r.Rewrap(ctx, p, allowReuse)
	if err != nil && made != "" && unchanged(ctx, r, before) {
		os.Remove(made) // a moment old, and nothing is wrapped by it
		return err
	}
	if !env.JSON {
		tellRootFile(env, made)
	}
	return err
}

// unchanged reports that the key file of r certainly still has a generation: a
// failed write may have replaced it all the same.
func unchanged(ctx context.Context, r *keyring.Ring, generation uint64) bool {
	_, err := r.Reload(ctx)
	return err == nil && r.Generation() == generation
}

func newKeyAcceptCommand(env *Env) *cobra.Command {
	k := keyFlags{}
	cmd := &cobra.Command{
		Use:   "accept-rollback [KEYFILE]",
		Short: "Make an older key file the newest generation, after a restore",
		Long: `Accept a key file that is older than its record tells, because it was restored
on purpose. Its generation becomes the highest one. Data keys made after it was
copied are not in it: data written under them cannot be read.`,
		Example: `  cp /backup/ring /etc/veildb/ring && veildb key accept-rollback /etc/veildb/ring`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			k.allowRollback = true
			return changeKey(cmd.Context(), env, k, keyArg(args), func(ctx context.Context, r *keyring.Ring) error {
				return r.AcceptRollback(ctx)
			})
		},
	}
	k.addTo(cmd, "provider")
	return cmd
}

// changeKey opens a key file, changes it and tells the result.
func changeKey(ctx context.Context, env *Env, k keyFlags, path string, change func(context.Context, *keyring.Ring) error) error {
	r, err := k.open(ctx, env, path)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := change(ctx, r); err != nil {
		return err
	}
	s := r.Status()
	if env.JSON {
		return printJSON(env, s)
	}
	fmt.Fprintf(env.Stdout, "%s: generation %d, key encryption key %d, data key %d, provider %s\n",
		s.Path, s.Generation, len(s.KEKs), len(s.DEKs), s.Provider)
	return nil
}
