package disk

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
)

const tempSuffix = ".tmp"

// TempName returns a fresh name for a temporary file in the directory of path,
// ".BASE.RANDOM.tmp". Strays recognises it.
func TempName(path string) string {
	dir, base := filepath.Split(path)
	return filepath.Join(dir, "."+base+"."+rand.Text()+tempSuffix)
}

// Strays lists temporary files that interrupted writes of path left behind.
// A write in progress in another process is listed too.
func Strays(path string) ([]string, error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var strays []string
	for _, e := range entries {
		random, ok := strings.CutPrefix(e.Name(), "."+base+".")
		random, ok2 := strings.CutSuffix(random, tempSuffix)
		if ok && ok2 && len(random) == len(rand.Text()) && !strings.Contains(random, ".") {
			strays = append(strays, filepath.Join(dir, e.Name()))
		}
	}
	return strays, nil
}
