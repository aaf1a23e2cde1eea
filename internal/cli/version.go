package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/crypto/aesxts"
)

// version is the release; the module version wins where the build has one.
const version = "0.1.0-dev"

func newVersionCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version, the revision it was built from, the Go version, and which code
encrypts on this processor. With --json, one object.`,
		Example: "  veildb version --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return printVersion(env) },
	}
}

func printVersion(env *Env) error {
	v, rev := version, ""
	if bi, ok := debug.ReadBuildInfo(); ok {
		for _, s := range bi.Settings {
			if s.Key == "vcs.revision" {
				rev = s.Value
			}
		}
	}
	if env.JSON {
		return json.NewEncoder(env.Stdout).Encode(map[string]string{
			"version": v, "revision": rev, "go": runtime.Version(),
			"platform": runtime.GOOS + "/" + runtime.GOARCH,
			"aes_xts":  aesxts.Implementations()[0],
		})
	}
	fmt.Fprintf(env.Stdout, "veildb %s %s/%s %s, AES-XTS %s\n", v, runtime.GOOS, runtime.GOARCH, runtime.Version(), aesxts.Implementations()[0])
	return nil
}
