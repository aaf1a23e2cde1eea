package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
)

// keyEnv names the variable that stands in for --key and KEYFILE.
const keyEnv = "VEILDB_KEY"

// providerHelp is part of the help of commands that take a provider.
const providerHelp = `Providers:
  file:PATH                   32 random bytes in a file of mode 0600
  passphrase                  asked for on the terminal, or a line of standard input
  passphrase-file:PATH        the first kilobyte of a file of mode 0600
  passphrase-credential:NAME  a credential of the systemd unit (LoadCredential=)
  command                     the shell commands --key-wrap-command and
                              --key-unwrap-command, as EDB Postgres has them
  vault:URL#KEY               a transit key of HashiCorp Vault or OpenBao
  aws:ARN  gcp:NAME  azure:URL  alicloud:ID
                              a key of a cloud (build with -tags cloudkms)
  pkcs11:URI                  an AES key of a token (build with -tags pkcs11)
docs/keys.md shows each of them at work.`

// newKeyCommand is "veildb key".
func newKeyCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Key files: make, look at, rotate, move to another key manager",
		Long: `A key file holds the keys of encrypted databases, wrapped by a root key that
stays with a provider: a file, a passphrase, a key manager.

  root key (provider)  wraps  key encryption key  wraps  data keys

It keeps every version of every key and counts its generations. KEYFILE.prev is
the generation before, KEYFILE.lock the lock of those who write. Both are safe
to copy; what must not be lost is the root key. The other files of a
database can be restored with any later generation of its key file.

Where no KEYFILE is given, ` + keyEnv + ` names it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	for _, c := range []func(*Env) *cobra.Command{
		newKeyInitCommand, newKeyStatusCommand, newKeyCheckCommand,
		newKeyRotateCommand, newKeyRewrapCommand, newKeyAcceptCommand,
		newKeyExportCommand, newKeyWrapCommand, newKeyUnwrapCommand,
	} {
		cmd.AddCommand(c(env))
	}
	return cmd
}

// keyFlags are the options of commands that open a key file.
type keyFlags struct {
	provider      string // where the root key is now, instead of what the file says
	record        string
	allowRollback bool
	commands      commandFlags
}

// commandFlags are the options of provider "command".
type commandFlags struct{ wrap, unwrap string }

func (c *commandFlags) addTo(cmd *cobra.Command, prefix, what string) {
	f := cmd.Flags()
	f.StringVar(&c.wrap, prefix+"key-wrap-command", "", "`COMMAND` that writes the key on its input, wrapped, to file %p ("+what+"; or "+kms.EnvWrapCommand+")")
	f.StringVar(&c.unwrap, prefix+"key-unwrap-command", "", "`COMMAND` that prints the key in file %p ("+what+"; or "+kms.EnvUnwrapCommand+")")
}

func (k *keyFlags) addTo(cmd *cobra.Command, provider string) {
	f := cmd.Flags()
	f.StringVar(&k.provider, provider, "", "`PROVIDER` that has the root key now, instead of the one the key file names")
	f.StringVar(&k.record, "record", "", "generation record `FILE`, instead of the one the key file names")
	f.BoolVar(&k.allowRollback, "allow-rollback", false, "open a key file that is older than its record tells")
	if provider == "from" {
		k.commands.addTo(cmd, "from-", "for the provider that has the root key now")
	} else {
		k.commands.addTo(cmd, "", "for provider command")
	}
}

// openKeyring opens the key file at path, or the one that the environment
// names if path is "". The caller closes it.
func openKeyring(ctx context.Context, env *Env, path string) (*keyring.Ring, error) {
	return keyFlags{}.open(ctx, env, path)
}

func (k keyFlags) open(ctx context.Context, env *Env, path string) (*keyring.Ring, error) {
	path, err := keyPath(path)
	if err != nil {
		return nil, err
	}
	if err := harden(); err != nil {
		return nil, fmt.Errorf("open key file: %w", err)
	}
	r, err := keyring.Open(ctx, path, k.options(env))
	if errors.Is(err, keyring.ErrMissing) {
		if _, statErr := os.Stat(path + ".prev"); statErr == nil {
			return nil, &Error{Err: err, Hint: "the generation before it is " + path + ".prev; if the key file is really lost, copy that one to its place"}
		}
	}
	return r, err
}

func (k keyFlags) options(env *Env) keyring.Options {
	return keyring.Options{
		Record: k.record, AllowRollback: k.allowRollback,
		Provider: func(ctx context.Context, uri string) (keyring.Provider, error) {
			if k.provider != "" {
				uri = k.provider
			}
			return openProvider(env, uri, k.commands)
		},
	}
}

// harden keeps keys out of core dumps, where the system can.
func harden() error {
	if err := secret.HardenProcess(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// keyPath returns path or, if it is "", what the environment names.
func keyPath(path string) (string, error) {
	if path == "" {
		path = os.Getenv(keyEnv)
	}
	if path == "" {
		return "", usagef("find key file", "give KEYFILE or --key KEYFILE, or set "+keyEnv+"; make one with: veildb key init KEYFILE --provider file:PATH", "no key file given")
	}
	return path, nil
}

// keyArg returns the KEYFILE of a command that takes at most one.
func keyArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// openProvider makes the provider of a URI; relative paths become absolute,
// since the URI is kept in the key file.
func openProvider(env *Env, uri string, commands commandFlags) (keyring.Provider, error) {
	scheme, path, found := strings.Cut(uri, ":")
	if found && scheme == "file" && path == "" {
		return nil, usagef("use key provider", "name one, such as file:/root/veildb.root", "file: names no file")
	}
	if (scheme == "file" || scheme == "passphrase-file") && path != "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		uri = scheme + ":" + abs
	}
	return kms.Open(uri, kms.Config{
		Passphrase: func(ctx context.Context, isNew bool) (*secret.Bytes, error) {
			return askPassphrase(ctx, env, isNew)
		},
		PIN: func(ctx context.Context, token string) (*secret.Bytes, error) {
			return ask(ctx, env, "PIN of token "+strings.TrimSpace(token)+": ")
		},
		WrapCommand: commands.wrap, UnwrapCommand: commands.unwrap,
	})
}

// printJSON writes v to standard output as one JSON document.
func printJSON(env *Env, v any) error {
	w := bufio.NewWriter(env.Stdout)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return w.Flush()
}
