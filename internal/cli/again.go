package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// changedFlags writes the options that were given to cmd, but for some, as they
// would be given again: each with a blank before it.
func changedFlags(cmd *cobra.Command, but ...string) string {
	var b strings.Builder
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(but, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if s, ok := f.Value.(pflag.SliceValue); ok {
			if values = s.GetSlice(); f.Value.Type() != "stringArray" { // whose values may hold commas
				values = []string{strings.Join(values, ",")}
			}
		}
		for _, value := range values {
			b.WriteString(" --" + f.Name)
			if value != f.NoOptDefVal {
				b.WriteString("=" + shellWord(value))
			}
		}
	})
	return b.String()
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// shellWord writes s so that a shell reads it as one word.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
