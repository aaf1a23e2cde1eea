//go:build !unix

package cli

import "os"

// windowColumns is not implemented here: 0, unknown.
func windowColumns(*os.File) int { return 0 }
