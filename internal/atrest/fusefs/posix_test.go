//go:build linux

package fusefs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"
)

// TestPosix runs the conformance tests of another FUSE library.
func TestPosix(t *testing.T) {
	t.Run("names=plain", func(t *testing.T) { posix(t, serveConfig{Key: 1}) })
	t.Run("names=encrypted", func(t *testing.T) { posix(t, serveConfig{Key: 1, HideNames: true}) })
}

func posix(t *testing.T, c serveConfig) {
	m := mountTest(t, c)
	for _, name := range slices.Sorted(maps.Keys(posixtest.All)) {
		if name == "FcntlFlockLocksFile" {
			continue // fails on any Linux file system: a process does not exclude itself
		}
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(m.dir, name)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			posixtest.All[name](t, dir)
		})
	}
}
