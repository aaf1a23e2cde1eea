package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestChangedFlags writes options so that they mean the same when given again.
func TestChangedFlags(t *testing.T) {
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }}
	cmd.Flags().StringArray("arm", nil, "")
	cmd.Flags().StringSlice("variants", nil, "")
	cmd.Flags().IntSlice("threads", nil, "")
	cmd.Flags().Bool("quick", false, "")
	cmd.Flags().String("out", "", "")
	cmd.SetArgs([]string{"--quick", "--arm", "plain=mysql://a@b/c", "--arm", "tde=x,y z", "--variants", "a,b", "--threads", "1,2", "--out", "d"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	want := " --arm=plain=mysql://a@b/c --arm='tde=x,y z' --quick --threads=1,2 --variants=a,b"
	if got := changedFlags(cmd, "out"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
