package disk

import "os"

// linkNew moves a file without replacing one: link fails if newPath exists.
// Between the two steps both names exist, which loses nothing.
func linkNew(oldPath, newPath string) error {
	if err := os.Link(oldPath, newPath); err != nil {
		return err
	}
	return os.Remove(oldPath)
}
