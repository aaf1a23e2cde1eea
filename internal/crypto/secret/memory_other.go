//go:build !unix

package secret

import (
	"errors"
	"fmt"
)

func mapRegion(n int) (mem []byte, warning string, err error) {
	return make([]byte, n), "key memory is not protected on this system: it can be swapped and dumped", nil
}

// HardenProcess returns an error that matches errors.ErrUnsupported.
func HardenProcess() error {
	return fmt.Errorf("harden process: %w", errors.ErrUnsupported)
}
