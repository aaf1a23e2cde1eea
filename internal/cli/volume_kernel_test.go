package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fscrypt/fscrypttest"
)

// TestKernelScripts runs testdata/kernel/*.txtar. Beside what TestScripts gives
// them, they find in
//
//	$FS, $PLAIN                     an ext4 file system with and without the feature encrypt
//	$IMAGE                          the file that the first is in
//	spoil-config TEXT DIR           gives the directory another configuration
func TestKernelScripts(t *testing.T) {
	fscrypttest.Need(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/kernel", RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			fs := fscrypttest.New(t, 600)
			env.Setenv("IMAGE", fs.Image)
			env.Setenv("FS", fs.Dir)
			for dir, n := filepath.Dir(fs.Dir), 0; n < 2; dir, n = filepath.Dir(dir), n+1 {
				if err := os.Chmod(dir, 0o755); err != nil { // other users come here, too
					return err
				}
			}
			env.Setenv("PLAIN", fscrypttest.New(t, 16, "-O", "^encrypt").Dir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"spoil-config": func(ts *testscript.TestScript, _ bool, args []string) {
				if err := unix.Setxattr(args[1], "user.veildb.kernel", []byte(args[0]), 0); err != nil {
					ts.Fatalf("%v", err)
				}
			},
		},
	})
}
