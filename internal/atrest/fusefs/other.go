//go:build !linux

package fusefs
