package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/gate"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
)

// sharedTable begins the name of rules, and of a registry, that are in a table.
const sharedTable = "table:"

const rulesUsage = "`FILE` of the rules, or table:NAME for a table of the server in the database " + gate.SharedDatabase

// rulesSource is where --rules says that the rules are.
func rulesSource(op, rules string, backends []*gate.Backend) (policy.Source, error) {
	if rules == "" {
		return nil, usagef(op, "name the file with --rules", "no --rules given")
	}
	name, table := strings.CutPrefix(rules, sharedTable)
	if !table {
		return &policy.File{Path: rules, Replace: disk.AtomicWrite}, nil
	}
	if err := gate.CheckTableName(name); err != nil {
		return nil, usagef(op, "write --rules table:NAME", "%w", err)
	}
	return &gate.SharedTable{Name: name, Backends: backends}, nil
}

// rulesFor reads rules for the server of a backend.
func rulesFor(ctx context.Context, op, rules string, backends []*gate.Backend) (*policy.Set, error) {
	source, err := rulesSource(op, rules, backends)
	if err != nil {
		return nil, err
	}
	store, err := policy.NewStore(ctx, source, schema.IgnoreCase)
	if err != nil {
		return nil, rulesError(op, err)
	}
	return store.Current().Set, nil
}

// rulesError says what to do about rules that cannot be read.
func rulesError(op string, err error) error {
	switch {
	case errors.Is(err, policy.ErrRule):
		return fmt.Errorf("%s: %w", op, err)
	case errors.Is(err, gate.ErrNoBackend):
		return &Error{Code: ExitMissing, Op: op, Err: err, Hint: "does the server run, and may the account of --backend log in?"}
	case errors.Is(err, gate.ErrSharedTable):
		return &Error{Code: ExitMissing, Op: op, Err: err, Hint: "put rules there with: veildb rule publish"}
	}
	return &Error{Code: ExitUsage, Op: op, Err: err, Hint: "name a file of rules, or table:NAME"}
}

func newRulePublishCommand(env *Env) *cobra.Command {
	var o backendOptions
	var names nameFlag
	var table string
	cmd := &cobra.Command{
		Use:   "publish FILE",
		Short: "Put rules into a table that many gates share",
		Long: `Put rules into a table that many gates share, as the version that counts from now
on. Older ones stay in the table. The account of --backend is an administrator's:
it needs CREATE and INSERT on the database ` + gate.SharedDatabase + `, the gates' own account
SELECT, which it has, and INSERT only if rules may come over the protocol. Beside
the table NAME there is NAME_meks, which remembers the master keys of clients; the
gates' account needs INSERT on it to take new ones. NAME_kept is empty unless gates
run with --share-keys, for which their account needs INSERT and DELETE on it.

Gates take the rules over within --rules-interval. Rules that are wrong are refused
here; a gate that finds wrong ones all the same keeps those it has.`,
		Example: `  veildb rule publish rules.yaml --backend mysql://root@10.0.0.2:3306/ --password-file root.pw --table rules
  veildb gate serve --rules table:rules …`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "publish rules"
			backends, err := o.open(op)
			if err != nil {
				return err
			}
			if err := gate.CheckTableName(table); err != nil {
				return usagef(op, "write --table NAME", "%w", err)
			}
			set, err := names.readRules(args[0])
			if err != nil {
				return err
			}
			text, err := readRuleFile(args[0])
			if err != nil {
				return err
			}
			version, err := (&gate.SharedTable{Name: table, Backends: backends}).Publish(cmd.Context(), text)
			if err != nil {
				return gateError(op, err)
			}
			keys := &gate.SharedTable{Name: gate.RegistryTable(table), Backends: backends}
			if err := keys.Found(cmd.Context(), encdb.NewRegistryState()); err != nil {
				return gateError(op, err)
			}
			if err := (&gate.KeptTable{Name: gate.KeptTableName(table), Backends: backends}).Found(cmd.Context()); err != nil {
				return gateError(op, err)
			}
			if env.JSON {
				return printJSON(env, map[string]any{"table": table, "version": version, "digest": set.Digest(), "rules": set.Len()})
			}
			_, err = fmt.Fprintf(env.Stdout, "table %s: version %d, %s, digest %s\n", table, version, counted(set.Len(), "rule"), set.Digest())
			return err
		},
	}
	o.addFlags(cmd)
	cmd.Flags().Lookup("backend").Usage = "`DSN` of the server with an administrator's account, such as mysql://root@127.0.0.1:3306/"
	names.addTo(cmd)
	cmd.Flags().StringVar(&table, "table", "rules", "`NAME` of the table")
	return cmd
}
