package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/inuse/gate"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/lineage"
)

func newGateCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Protect columns of a MySQL or MariaDB server from accounts that may not read them",
		Long: `Protect columns of a MySQL or MariaDB server from accounts that may not read them.

A gate stands between applications and the server. Accounts are the server's own;
the rules say which columns are protected and what each account gets of them. See
docs/gate.md, and veildb rule for the form of the rules.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGateServeCommand(env), newGateCheckCommand(env), newGateExplainCommand(env))
	return cmd
}

// backendOptions are how to reach servers with the gate's own account.
type backendOptions struct {
	backends     []string
	passwordFile string
	tls, ca      string
}

func (o *backendOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.backends, "backend", nil, "`DSN` of the server with the gate's own account, such as mysql://veil@127.0.0.1:3306/ or mysql://veil@/?socket=/run/mysqld/mysqld.sock")
	f.StringVar(&o.passwordFile, "password-file", "", "`FILE` whose first line is the password of that account")
	f.StringVar(&o.tls, "backend-tls", "off", "TLS to the server, `off|verify-full|verify-ca|skip-verify`; verify-ca does not look at its name")
	f.StringVar(&o.ca, "backend-ca", "", "verify the server's certificate with the authorities in `FILE`")
}

// open makes the backends.
func (o *backendOptions) open(op string) (out []*gate.Backend, err error) {
	if len(o.backends) == 0 {
		return nil, usagef(op, "name the server with --backend, such as --backend mysql://veil@127.0.0.1:3306/", "no --backend given")
	}
	password, err := givenPassword(o.passwordFile)
	if err != nil {
		return nil, err
	}
	for _, s := range o.backends {
		d, err := dsn.ParseServer(s)
		if err != nil {
			err = fmt.Errorf("%s: --backend: %w", op, err)
			if errors.Is(err, dsn.ErrSyntax) {
				err = &Error{Err: err, Hint: "name the server as mysql://USER@HOST:PORT/ or mysql://USER@/?socket=PATH"}
			}
			return nil, err
		}
		if d.Dialect() != dsn.MySQL {
			return nil, usagef(op, "a gate is for servers of the MySQL protocol", "--backend must begin with mysql:// or mariadb://")
		}
		b := &gate.Backend{Network: "tcp", Address: fmt.Sprintf("%s:%d", d.Host, d.Port), User: d.User, Password: password}
		if d.Socket != "" {
			// Nobody listens between the two ends of a socket.
			b.Network, b.Address = "unix", d.Socket
			out = append(out, b)
			continue
		}
		if b.TLS, err = clientTLS(op, "--backend-tls", o.tls, o.ca, d.Host); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func newGateCheckCommand(env *Env) *cobra.Command {
	var o backendOptions
	var rules string
	var grants bool
	cmd := &cobra.Command{
		Use:   "check --backend DSN --rules FILE",
		Short: "Tell whether rules and server fit each other",
		Long: `Tell whether rules and server fit each other: whether the tables and columns the
rules spell out exist, which views and tables are protected because of others,
whether the gate's account sees all it must, whether accounts with restrictions
hold privileges they must not have, and whether they can log in around the gate.
Run it where the gate runs: the server tells from which address it comes.

With --grants it prints statements that mend the privileges, to be read by an
administrator and run with the server's own client; nothing is changed.

Exit codes: 0 they do; 3 they do not.`,
		Example: `  veildb gate check --backend mysql://veil@127.0.0.1:3306/ --password-file veil.pw --rules rules.yaml
  veildb gate check --backend mysql://veil@127.0.0.1:3306/ --password-file veil.pw --rules rules.yaml --grants`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			backends, err := o.open("check gate")
			if err != nil {
				return err
			}
			set, err := rulesFor(cmd.Context(), "check gate", rules, backends)
			if err != nil {
				return err
			}
			if grants {
				return printGrants(cmd.Context(), env, backends[0], set)
			}
			return checkGate(cmd.Context(), env, backends, set)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&rules, "rules", "", rulesUsage)
	cmd.Flags().BoolVar(&grants, "grants", false, "print statements that give accounts the privileges they need and no more")
	return cmd
}

// gateCheck is what is found about one server.
type gateCheck struct {
	Backend  string         `json:"backend"`
	Server   string         `json:"server"`
	Findings []gate.Finding `json:"findings"`
}

func checkGate(ctx context.Context, env *Env, backends []*gate.Backend, set *policy.Set) error {
	bad, checks := 0, []gateCheck{}
	for _, b := range backends {
		c, err := b.Connect(ctx)
		if err != nil {
			return gateError("check gate", err)
		}
		cat, err := gate.ReadCatalog(c)
		var accounts *gate.Accounts
		if err == nil && cat.Blind == "" {
			accounts, err = gate.ReadAccounts(c, set)
		}
		c.Close()
		if err != nil {
			return fmt.Errorf("check gate: %w", err)
		}
		check := gateCheck{b.Address, cat.Server.Text, gate.Check(cat, set)}
		if accounts != nil {
			check.Findings = append(check.Findings, accounts.Check()...)
		}
		for _, f := range check.Findings {
			if f.Bad {
				bad++
			}
		}
		checks = append(checks, check)
	}
	if env.JSON {
		if err := json.NewEncoder(env.Stdout).Encode(map[string]any{"ok": bad == 0, "backends": checks}); err != nil {
			return err
		}
	} else {
		printGateChecks(env, checks)
	}
	if bad > 0 {
		return &Error{Code: ExitCheck, Op: "check gate", Err: fmt.Errorf("%d findings mean that something is not protected as the rules say, or cannot be used", bad), Hint: "mend the rules or the grants, and check again"}
	}
	return nil
}

// printGrants prints the statements of --grants.
func printGrants(ctx context.Context, env *Env, b *gate.Backend, set *policy.Set) error {
	const op = "check gate"
	c, err := b.Connect(ctx)
	if err != nil {
		return gateError(op, err)
	}
	defer c.Close()
	accounts, err := gate.ReadAccounts(c, set)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return accounts.WriteGrants(env.Stdout)
}

func printGateChecks(env *Env, checks []gateCheck) {
	for _, c := range checks {
		fmt.Fprintf(env.Stdout, "%s: %s\n", c.Backend, c.Server)
		for _, f := range c.Findings {
			mark := "note"
			if f.Bad {
				mark = "BAD"
			}
			if f.Rule != "" {
				f.Reason = fmt.Sprintf("rule %s, line %d: %s", f.Rule, f.Line, f.Reason)
			}
			fmt.Fprintf(env.Stdout, "  %-5s %s\n", mark, f.Reason)
		}
	}
}

func newGateExplainCommand(env *Env) *cobra.Command {
	var o backendOptions
	var rules, account, statement, database string
	cmd := &cobra.Command{
		Use:   "explain --backend DSN --rules FILE --account USER@HOST --statement SQL",
		Short: "Show what an account would get for a statement, column by column",
		Long: `Show what an account would get for a statement, column by column, and why: a tree
says on which columns of tables each column of the result depends, and which rules
those are under. The statement is prepared on the server, with the gate's own
account, and not run.`,
		Example: `  veildb gate explain --backend mysql://veil@127.0.0.1:3306/shop --rules rules.yaml \
      --account app@10.0.0.7 --statement 'SELECT id, card_number FROM orders'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			backends, err := o.open("explain statement")
			if err != nil {
				return err
			}
			set, err := rulesFor(cmd.Context(), "explain statement", rules, backends)
			if err != nil {
				return err
			}
			if account == "" || statement == "" {
				return usagef("explain statement", "see: veildb gate explain --help", "--account and --statement are required")
			}
			if database == "" {
				d, _ := dsn.ParseServer(o.backends[0])
				database = d.Database
			}
			user, host, _ := strings.Cut(account, "@")
			e, err := gate.Explain(cmd.Context(), backends[0], set.For(user, host), database, []byte(statement))
			if err != nil {
				return gateError("explain statement", err)
			}
			return printExplanation(env, e)
		},
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&rules, "rules", "", rulesUsage)
	f.StringVar(&account, "account", "", "`USER@HOST` of the account, HOST being the address it comes from")
	f.StringVar(&statement, "statement", "", "the `SQL`")
	f.StringVar(&database, "database", "", "the session's `DATABASE` (default: that of the first --backend)")
	return cmd
}

func printExplanation(env *Env, e *gate.Explanation) error {
	if env.JSON {
		return json.NewEncoder(env.Stdout).Encode(e)
	}
	if !e.Allowed {
		_, err := fmt.Fprintf(env.Stdout, "level %s: refused: %s (%s)\n", e.Level, e.Reason, e.Rule)
		return err
	}
	fmt.Fprintf(env.Stdout, "level %s: allowed\n", e.Level)
	if len(e.Columns) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COLUMN\tFROM\tGETS\tRULE")
	for _, c := range e.Columns {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Name, c.Source, c.Level, c.Rule)
	}
	if err := w.Flush(); err != nil || e.Tree == nil || !e.Touches {
		return err
	}
	fmt.Fprintln(env.Stdout)
	printNode(env.Stdout, e.Tree, "", "")
	return nil
}

// printNode prints a tree of reasons: first leads the line of n, rest those
// below it.
func printNode(w io.Writer, n *lineage.Node, first, rest string) {
	fmt.Fprint(w, first, n.Text)
	if len(n.Labels) > 0 {
		fmt.Fprintf(w, "  [%s]", strings.Join(n.Labels, ", "))
	}
	fmt.Fprintln(w)
	for i, kid := range n.Kids {
		if i < len(n.Kids)-1 {
			printNode(w, kid, rest+"├─ ", rest+"│  ")
		} else {
			printNode(w, kid, rest+"└─ ", rest+"   ")
		}
	}
}

// gateError adds what to do where the server is not there.
func gateError(op string, err error) error {
	if errors.Is(err, gate.ErrStatement) {
		return &Error{Code: ExitUsage, Op: op, Err: err, Hint: "run it with the server's own client to see what is wrong"}
	}
	if errors.Is(err, wire.ErrInsecure) {
		return &Error{Code: ExitMissing, Op: op, Err: err, Hint: "have TLS to the server: --backend-tls verify-full --backend-ca FILE"}
	}
	return &Error{Code: ExitMissing, Op: op, Err: err, Hint: "does the server run, and may the account of --backend log in?"}
}
