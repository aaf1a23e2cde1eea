package keyring

import (
	"fmt"
	"os"
	"path/filepath"
)

func decodeAt(path string) (*file, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return decode(data)
}

func prevPath(path string) string { return path + ".prev" }
func lockPath(path string) string { return path + ".lock" }

// strayEndings are what people and programs append to a name when they copy
// or replace a file.
var strayEndings = []string{
	"~", ".tmp", ".temp", ".new", ".bak", ".backup", ".old", ".orig", ".save", ".copy", ".swp",
	".rpmsave", ".rpmnew", ".rpmorig", ".dpkg-old", ".dpkg-new", ".dpkg-dist",
}

// refuseStrays returns ErrStray, with the name, if a file beside path looks
// like another version of it: nobody can know which of the two is meant.
// Temporary files of an interrupted write are no such case; they are never
// read, and the next write removes them.
func refuseStrays(path string) error {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, ending := range strayEndings {
			if name := e.Name(); name == base+ending || name == "."+base+ending || name == "#"+base+"#" {
				return fmt.Errorf("%s: %w", filepath.Join(dir, name), ErrStray)
			}
		}
	}
	return nil
}
