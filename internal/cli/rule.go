package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
)

func newRuleCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rule",
		Short: "Rules: which columns are protected, and from whom",
		Long: `Rules say which columns a gate protects and what each account gets of them:

  full        the values
  ciphertext  values that only the account's own client can decrypt
  blocked     nothing; the level of accounts that no list names

  version: 1
  admins: ["security@10.%"]        # may change rules over the protocol
  registrars: [security]           # may bring new master keys
  accounts:
    full: [dba@localhost]
    ciphertext: ["app@10.0.0.0/8"]
  rules:
    - name: cards
      databases: shop              # a name, or a list of them
      tables: [orders, "card_*"]   # * stands for any characters
      columns: ["*"]
      inference: guarded           # or strict, or documented: what conditions may use
      grants: [range, order]       # beside guarded; also like_prefix, group, join
      accounts:                    # in place of those above, for this rule
        full: [auditor]

Where several rules name a column, the strictest of their levels counts. For an
account the most specific entry counts: user and host spelled out, then a
pattern for the host, then the user alone, then a pattern for the user.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRuleListCommand(env), newRuleCheckCommand(env), newRuleImportCommand(env), newRulePublishCommand(env))
	return cmd
}

// nameFlag is --lower-case-table-names.
type nameFlag struct{ setting int }

func (n *nameFlag) addTo(cmd *cobra.Command) {
	cmd.Flags().IntVar(&n.setting, "lower-case-table-names", 1, "`N` is the server's setting of that name: with 0, case counts in names of databases and tables")
}

// readRuleFile reads a file a user named.
func readRuleFile(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{Code: ExitUsage, Op: "read rules", Err: err, Hint: "name a file of rules"}
	}
	return text, nil
}

// readRules reads and compiles a file of rules.
func (n *nameFlag) readRules(path string) (*policy.Set, error) {
	names, err := schema.FromSetting(n.setting)
	if err != nil {
		return nil, err
	}
	text, err := readRuleFile(path)
	if err != nil {
		return nil, err
	}
	set, err := policy.Parse(text, names)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return set, nil
}

func newRuleListCommand(env *Env) *cobra.Command {
	var names nameFlag
	var account string
	cmd := &cobra.Command{
		Use:   "list FILE",
		Short: "Show rules, and what an account gets under each",
		Long: `Show the rules of FILE: what each protects, and which accounts get which level.
With --account, also the level of that account under each rule.`,
		Example: `  veildb rule list rules.yaml
  veildb rule list rules.yaml --account app@10.0.0.7`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := names.readRules(args[0])
			if err != nil {
				return err
			}
			list := listRules(set, account)
			if env.JSON {
				return printJSON(env, map[string]any{"file": args[0], "digest": set.Digest(), "account": account, "rules": list})
			}
			return printRules(env.Stdout, list, account)
		},
	}
	names.addTo(cmd)
	cmd.Flags().StringVar(&account, "account", "", "also show the level of `USER@HOST`, HOST being an address or localhost")
	return cmd
}

// A listedRule is a rule as "rule list" shows it.
type listedRule struct {
	Name        string   `json:"name"`
	Line        int      `json:"line"`
	Enabled     bool     `json:"enabled"`
	Description string   `json:"description,omitempty"`
	Databases   []string `json:"databases"`
	Tables      []string `json:"tables"`
	Columns     []string `json:"columns"`
	Level       string   `json:"level,omitempty"` // of the account asked for
}

func listRules(set *policy.Set, account string) []listedRule {
	user, host, _ := strings.Cut(account, "@")
	view := set.For(user, host)
	list := []listedRule{}
	for _, r := range set.Document().Rules {
		l := listedRule{
			Name: r.Name, Line: r.Line, Enabled: !r.Disabled, Description: r.Description,
			Databases: texts(r.Databases), Tables: texts(r.Tables), Columns: texts(r.Columns),
		}
		if account != "" && l.Enabled {
			l.Level = view.Rule(r.Name).String()
		}
		list = append(list, l)
	}
	return list
}

func texts(entries []policy.Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Text
	}
	return out
}

func printRules(out io.Writer, list []listedRule, account string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	last := "STATE"
	if account != "" {
		last = "LEVEL"
	}
	fmt.Fprintf(w, "RULE\tDATABASES\tTABLES\tCOLUMNS\t%s\n", last)
	for _, r := range list {
		state := "enabled"
		switch {
		case !r.Enabled:
			state = "disabled"
		case account != "":
			state = r.Level
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, strings.Join(r.Databases, ","), strings.Join(r.Tables, ","), strings.Join(r.Columns, ","), state)
	}
	return w.Flush()
}

func newRuleCheckCommand(env *Env) *cobra.Command {
	var names nameFlag
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Tell what is wrong with rules, line by line",
		Long: `Tell what is wrong with rules, line by line, and what is doubtful: rules that
name the same columns. A gate refuses a file that is wrong and keeps the rules it
has; so check a file before putting it in place.

Exit codes: 0 the rules can be used, even if there are warnings; 3 they cannot;
2 there is no such file.`,
		Example: `  veildb rule check rules.yaml
  veildb rule check rules.yaml --json | jq '.problems[]'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := names.readRules(args[0])
			var wrong *policy.Error
			if err != nil && !errors.As(err, &wrong) {
				return err
			}
			return printRuleCheck(env, args[0], set, wrong)
		},
	}
	names.addTo(cmd)
	return cmd
}

// printRuleCheck prints the result of a check: set, or what is wrong.
func printRuleCheck(env *Env, path string, set *policy.Set, wrong *policy.Error) error {
	result := struct {
		File     string           `json:"file"`
		OK       bool             `json:"ok"`
		Rules    int              `json:"rules"`
		Digest   string           `json:"digest,omitempty"`
		Problems []policy.Problem `json:"problems"`
		Warnings []policy.Problem `json:"warnings"`
	}{File: path, OK: wrong == nil, Problems: []policy.Problem{}, Warnings: []policy.Problem{}}
	var failed error
	if wrong != nil {
		result.Problems = wrong.Problems
		failed = &Error{Code: ExitCheck, Op: "check " + path, Err: wrong, Hint: "mend these lines, then check again"}
	} else {
		result.Rules, result.Digest = set.Len(), set.Digest()
		result.Warnings = append(result.Warnings, set.Warnings()...)
	}
	if env.JSON {
		if err := printJSON(env, result); err != nil {
			return err
		}
		return failed
	}
	printProblems(env.Stdout, path, "", result.Problems)
	printProblems(env.Stdout, path, "warning: ", result.Warnings)
	if result.OK {
		fmt.Fprintf(env.Stdout, "%s: ok, %s, digest %s\n", path, counted(result.Rules, "rule"), result.Digest)
	}
	return failed
}

// printProblems prints each as FILE:LINE: REASON, as compilers do.
func printProblems(out io.Writer, path, kind string, list []policy.Problem) {
	for _, p := range list {
		if p.Line > 0 {
			fmt.Fprintf(out, "%s:%d: %s%s\n", path, p.Line, kind, p.Reason)
		} else {
			fmt.Fprintf(out, "%s: %s%s\n", path, kind, p.Reason)
		}
	}
}

func newRuleImportCommand(env *Env) *cobra.Command {
	var names nameFlag
	var into string
	cmd := &cobra.Command{
		Use:   "import FILE.json",
		Short: "Turn a cloud service's rule JSON into rules",
		Long: `Read the JSON of column encryption rules of a managed MySQL or distributed SQL
service and print it as rules, or merge it into a file of rules. There, rules of
the same name and the lists of accounts are replaced, admins and registrars are
kept, and comments are lost.

Accounts that no list names are blocked here, whatever the service does with
them; warnings on standard error tell where that may matter.`,
		Example: `  veildb rule import encRule.json > rules.yaml
  veildb rule import encRule.json --into rules.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRuleImport(env, &names, args[0], into)
		},
	}
	names.addTo(cmd)
	cmd.Flags().StringVar(&into, "into", "", "merge into this `FILE` of rules, which is made if it does not exist")
	return cmd
}

func runRuleImport(env *Env, names *nameFlag, path, into string) error {
	text, err := readRuleFile(path)
	if err != nil {
		return err
	}
	in, warnings, err := policy.ParseVendor(text)
	if err == nil {
		_, err = names.compile(in)
	}
	if err != nil {
		return fmt.Errorf("import %s: %w", path, err)
	}
	printProblems(env.Stderr, path, "warning: ", warnings)
	doc, perm := in, fs.FileMode(0o644)
	if into != "" {
		if doc, perm, err = mergeRules(into, in); err != nil {
			return err
		}
	}
	set, err := names.compile(doc)
	if err != nil {
		return fmt.Errorf("import into %s: %w", into, err)
	}
	if into != "" {
		if err := disk.AtomicWrite(into, doc.Encode(), perm); err != nil {
			return fmt.Errorf("write rules: %w", err)
		}
	}
	switch {
	case env.JSON:
		return printJSON(env, map[string]any{"imported": len(in.Rules), "rules": set.Len(), "digest": set.Digest(), "yaml": string(doc.Encode()), "warnings": append([]policy.Problem{}, warnings...)})
	case into == "":
		_, err = env.Stdout.Write(doc.Encode())
	default:
		_, err = fmt.Fprintf(env.Stdout, "%s: %s imported, %d in all\n", into, counted(len(in.Rules), "rule"), len(doc.Rules))
	}
	return err
}

func (n *nameFlag) compile(d *policy.Document) (*policy.Set, error) {
	names, err := schema.FromSetting(n.setting)
	if err != nil {
		return nil, err
	}
	return policy.Compile(d, names)
}

// mergeRules returns the rules of the file into with those of in, and the mode
// to write them with.
func mergeRules(into string, in *policy.Document) (*policy.Document, fs.FileMode, error) {
	info, err := os.Stat(into)
	if errors.Is(err, fs.ErrNotExist) {
		return in, 0o644, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read rules: %w", err)
	}
	text, err := readRuleFile(into)
	if err != nil {
		return nil, 0, err
	}
	doc, err := policy.ParseDocument(text)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", into, err)
	}
	doc.Merge(in)
	return doc, info.Mode().Perm(), nil
}
