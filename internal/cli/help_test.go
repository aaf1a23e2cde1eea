package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// visible calls do with each command that help lists and that is ours.
func visible(cmd *cobra.Command, do func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" && c.Name() != "help" {
			do(c)
			visible(c, do)
		}
	}
}

// TestHelp requires of each command what a manual page has.
func TestHelp(t *testing.T) {
	visible(newRoot(&Env{Stdout: io.Discard, Stderr: io.Discard}), func(c *cobra.Command) {
		t.Run(c.CommandPath(), func(t *testing.T) {
			if c.Long == "" {
				t.Error("no description")
			}
			if c.Example == "" && !c.HasSubCommands() {
				t.Error("no example")
			}
			checkOptions(t, docBlock{file: c.CommandPath(), text: c.Example})
			if u := c.UsageString(); !strings.Contains(u, "Exit codes: ") {
				t.Errorf("exit codes are not mentioned:\n%s", u)
			}
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				// The word in backquotes stands for the value, so one value of several cannot.
				if name, _ := pflag.UnquoteUsage(f); f.DefValue != "" && f.Value.Type() == "string" && name == f.DefValue {
					t.Errorf("--%s %s: the only value?", f.Name, name)
				}
			})
		})
	})
}

// TestCompletion asks as the script of a shell does.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"volume convert --names", []string{"plain", "encrypted"}},
		{"volume mount --cache", []string{"auto", "through", "back"}},
		{"bench tpcc run --flavor", []string{"benchbase", "spec", "hammerdb"}},
		{"bench summary --format", summaryFormats},
		{"gate serve --backend-tls", []string{"off", "verify-full", "verify-ca", "skip-verify"}},
		{"bench run", []string{"embedded", "rds-tde"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			var out strings.Builder
			args := append([]string{cobra.ShellCompNoDescRequestCmd}, append(strings.Fields(c.args), "")...)
			if code := Main(t.Context(), args, strings.NewReader(""), &out, io.Discard); code != ExitOK {
				t.Fatalf("exit code %d", code)
			}
			got := strings.Split(out.String(), "\n")
			for _, w := range c.want {
				if !slices.Contains(got, w) {
					t.Errorf("%q is not offered in %q", w, got)
				}
			}
		})
	}
}
