//go:build !linux

package run

import "runtime"

func niceness() int { return 0 }

// FilesystemOf names the file system that holds path where the system tells.
func FilesystemOf(string) (string, error) { return "a file system of " + runtime.GOOS, nil }
