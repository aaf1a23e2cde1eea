//go:build !linux

package disk

import (
	"errors"
	"io/fs"
)

func openUnnamed(string, fs.FileMode) (File, error) { return nil, errors.ErrUnsupported }
func linkUnnamed(File, string) error                { return errors.ErrUnsupported }
