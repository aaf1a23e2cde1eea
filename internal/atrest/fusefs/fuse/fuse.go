// Package fuse speaks the kernel's file system protocol: it mounts, reads
// requests, has them handled and writes the replies.
//
// A loop is one thread that reads a request, handles it and writes the reply,
// with no hand-over between threads: on a path where a database waits for one
// small write and one fsync a transaction, waking another thread costs more
// than the work. For the same reason a loop waits for requests in a raw system
// call, which the Go scheduler does not see; see wait_linux.go for how it stays
// out of the garbage collector's way.
//
// The layouts and numbers in proto.go are those of linux/fuse.h, protocol 7.31
// and later (Linux 5.4).
package fuse

import "errors"

// Errors that tell why a mount point cannot be used.
var (
	ErrNotMounted   = errors.New("not mounted")
	ErrMounted      = errors.New("already mounted")
	ErrBusy         = errors.New("file system is in use")
	ErrNoHelper     = errors.New("fusermount3 is not installed")
	ErrNoDevice     = errors.New("the kernel offers no FUSE")
	ErrNotPermitted = errors.New("not permitted to mount")
	ErrProtocol     = errors.New("kernel speaks another FUSE protocol")
)
