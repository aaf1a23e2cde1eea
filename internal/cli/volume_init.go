package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// volumeKeyFlag adds --key to a command that opens a volume.
func volumeKeyFlag(cmd *cobra.Command, key *string) {
	cmd.Flags().StringVar(key, "key", "", "`KEYFILE`; "+keyEnv+" names it, too")
}

// namesFlag adds --names to a command that makes a volume.
func namesFlag(cmd *cobra.Command, names *string) {
	cmd.Flags().StringVar(names, "names", string(volume.NamesPlain), "how names are kept, `plain|encrypted`, for the volume's life")
}

// namesOf checks what --names was given.
func namesOf(op, names string) (volume.Names, error) {
	switch n := volume.Names(names); n {
	case volume.NamesPlain, volume.NamesEncrypted:
		return n, nil
	}
	return "", usagef(op, "plain, or encrypted", "--names %q is not known", names)
}

func newVolumeInitCommand(env *Env) *cobra.Command {
	var key, names, backend string
	cmd := &cobra.Command{
		Use:   "init LOWER --key KEYFILE",
		Short: "Make an empty encrypted volume",
		Long: `Make the directory LOWER an encrypted volume. It must be empty or not exist.

LOWER/files will hold the encrypted files, LOWER/.veildb what the volume knows
of itself. The key file should lie elsewhere: whoever copies LOWER must not
copy its keys with it.

Names of files stay as they are, unless --names encrypted hides them, and where
symbolic links lead.

With --backend kernel LOWER becomes a directory that the kernel encrypts, names
included: on ext4 or f2fs with the feature encrypt.`,
		Example: `  veildb key init /etc/veildb/ring --provider file:/etc/veildb/root
  veildb volume init /srv/db.enc --key /etc/veildb/ring`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if kernel, err := isKernel(cmd, "make volume", backend); err != nil {
				return err
			} else if kernel {
				return initKernel(cmd.Context(), env, args[0], key)
			}
			return initVolume(cmd.Context(), env, args[0], key, names)
		},
	}
	volumeKeyFlag(cmd, &key)
	namesFlag(cmd, &names)
	backendFlag(cmd, &backend)
	return cmd
}

func initVolume(ctx context.Context, env *Env, lower, key, names string) error {
	kept, err := namesOf("make volume", names)
	if err != nil {
		return err
	}
	// What is certain to fail should not ask for a passphrase first.
	if entries, err := os.ReadDir(lower); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make volume: %w", err)
	} else if v, err := volume.ViewDir(lower, nil); err == nil && len(entries) > 0 {
		v.Close()
		return fmt.Errorf("make volume: %w: %s is a volume already", volume.ErrNotEmpty, lower)
	}
	ring, err := openKeyring(ctx, env, key)
	if err != nil {
		return err
	}
	defer ring.Close()
	if err := volume.InitDir(lower, ring, volume.Config{Names: kept}); err != nil {
		return err
	}
	v, err := volume.ViewDir(lower, ring)
	if err != nil {
		return err
	}
	defer v.Close()
	c := v.Config()
	if env.JSON {
		return printJSON(env, map[string]any{"lower": lower, "id": fmt.Sprintf("%x", c.ID), "key_version": c.KeyVersion, "names": c.Names})
	}
	fmt.Fprintf(env.Stdout, "%s: volume %x, data key %d, names %s\n", lower, c.ID, c.KeyVersion, c.Names)
	return nil
}
