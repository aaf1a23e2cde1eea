// Package volumetest holds the tests of encrypted volumes under stock database
// servers: crashes, lost and torn writes, full disks, backups. Everything is
// reached as a user does: volumes by the command line, servers by SQL.
//
// Without options the tests are a small selection that takes seconds. The long
// form is scripts/test-volume.sh, see docs/volume-tests.md.
package volumetest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/veildb/veildb/internal/cli"
)

var (
	cycles   = flag.Int("cycles", 0, "crash cycles of each engine and cache mode; 0 is the small selection")
	states   = flag.Int("states", 0, "lower states to rebuild of each engine and cache mode")
	seed     = flag.Uint64("seed", 0, "of everything drawn by chance; 0 draws one")
	baseDir  = flag.String("dir", "", "`directory` on the lower file system; the default is the system's for temporary files")
	pgBin    = flag.String("pg-bin", "", "`directory` of the programs of the PostgreSQL to test; the default is the newest installed")
	control  = flag.Bool("control", false, "use plain directories instead of volumes: what fails then is not the volumes' fault")
	longForm = flag.Bool("long", false, "also run what takes minutes")
)

// programEnv makes the test binary answer as veildb.
const programEnv = "VEILDB_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if config := os.Getenv(recorderEnv); config != "" {
		if err := serveRecorder(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(m.Run())
}
