package fuse

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notifyInvalEntry is FUSE_NOTIFY_INVAL_ENTRY of linux/fuse.h.
const notifyInvalEntry = 3

// InvalidateEntry has the kernel ask again for name in the directory with that
// node id, and forget the attributes of its file unless a program has it open.
// It may wait for a request in progress in that directory, so whoever answers
// requests must not call it.
func (c *Conn) InvalidateEntry(dir uint64, name string) error {
	b := invalidation(dir, name)
	for {
		_, err := unix.Write(c.fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOENT): // the kernel does not know of it
			return nil
		}
		return err
	}
}

// invalidation is the message of InvalidateEntry: a header whose error number
// says what it is, the directory, the length of the name, flags, and the name
// with a zero at its end.
func invalidation(dir uint64, name string) []byte {
	type invalEntryOut struct {
		parent     uint64
		namelen, _ uint32
	}
	const size = outHeaderSize + int(unsafe.Sizeof(invalEntryOut{}))
	b := make([]byte, size+len(name)+1)
	*at[outHeader](b) = outHeader{len: uint32(len(b)), errno: notifyInvalEntry}
	*at[invalEntryOut](b[outHeaderSize:]) = invalEntryOut{parent: dir, namelen: uint32(len(name))}
	copy(b[size:], name)
	return b
}
