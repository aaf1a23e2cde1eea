package kms_test

import (
	"fmt"
	"os"
	"testing"
)

// What builds with other providers need before the first test, and after the
// last.
var (
	beforeAll []func(dir string) error
	afterAll  []func()
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "veildb-kms-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, before := range beforeAll {
		if err := before(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	defer func() {
		for _, after := range afterAll {
			after()
		}
	}()
	return m.Run()
}
