// Command veildb makes stock databases confidential and measures what that
// costs.
package main

import (
	"context"
	"os"

	"github.com/veildb/veildb/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Args(os.Args), os.Stdin, os.Stdout, os.Stderr))
}
