//go:build !unix

package disk

import (
	"errors"
	"os"
)

func flock(*os.File) error       { return errors.ErrUnsupported }
func flockShared(*os.File) error { return errors.ErrUnsupported }
func flockWait(*os.File) error   { return errors.ErrUnsupported }
func funlock(*os.File)           {}
