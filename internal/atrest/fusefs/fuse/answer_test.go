//go:build linux

package fuse

import (
	"errors"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// handlerFunc is a function as a Handler.
type handlerFunc func(r *Request) (int, unix.Errno)

func (f handlerFunc) Handle(r *Request) (int, unix.Errno) { return f(r) }

// TestAnswers checks that a reply is sent before what follows it is done, and
// that one which is left to an Answer is sent by that alone. A socket of messages
// stands for the kernel.
func TestAnswers(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	c := &Conn{fd: pair[0]}
	out := make([]byte, 2*pageSize)
	r := &Request{Reply: out[pageSize:], fd: c.fd}
	// sent returns what the kernel would have got, or -1 if nothing.
	sent := func() (length int, errno int32, unique uint64) {
		b := make([]byte, pageSize)
		n, err := unix.Read(pair[1], b)
		if err == unix.EAGAIN {
			return -1, 0, 0
		}
		if err != nil {
			t.Fatal(err)
		}
		h := *(*outHeader)(unsafe.Pointer(&b[0]))
		return n, h.errno, h.unique
	}
	request := func(unique uint64) {
		m := message(OpFsync, make([]byte, 16))
		if !r.parse(m) {
			t.Fatal("bad message")
		}
		r.Unique = unique
	}

	request(7)
	then := false
	err = c.serve(handlerFunc(func(r *Request) (int, unix.Errno) {
		r.Then = func() error {
			then = true
			if n, errno, unique := sent(); n != outHeaderSize+8 || errno != 0 || unique != 7 {
				t.Errorf("before what follows: %d bytes, error %d, of %d", n, errno, unique)
			}
			return nil
		}
		return 8, 0
	}), r, out)
	if err != nil || !then {
		t.Fatalf("served: %v, followed: %v", err, then)
	}

	request(8)
	var a Answer
	if err := c.serve(handlerFunc(func(r *Request) (int, unix.Errno) { a = r.Later(); return 0, 0 }), r, out); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := sent(); n >= 0 {
		t.Error("a reply was sent that was to come later")
	}
	request(9) // r is of another request by then, and replies at once
	if err := c.serve(handlerFunc(func(*Request) (int, unix.Errno) { return 0, unix.EBADF }), r, out); err != nil {
		t.Fatal(err)
	}
	if n, errno, unique := sent(); n != outHeaderSize || errno != -int32(unix.EBADF) || unique != 9 {
		t.Errorf("%d bytes, error %d, of %d", n, errno, unique)
	}
	if err := a.Give(unix.EIO); err != nil {
		t.Fatal(err)
	}
	if n, errno, unique := sent(); n != outHeaderSize || errno != -int32(unix.EIO) || unique != 8 {
		t.Errorf("answer: %d bytes, error %d, of %d", n, errno, unique)
	}
}

// TestFollowsFailedReply checks that what follows a reply is done though the reply
// could not be sent: others wait for its end.
func TestFollowsFailedReply(t *testing.T) {
	c := &Conn{fd: -1}
	out := make([]byte, 2*pageSize)
	r := &Request{Reply: out[pageSize:], fd: c.fd}
	if !r.parse(message(OpFsync, make([]byte, 16))) {
		t.Fatal("bad message")
	}
	then := false
	err := c.serve(handlerFunc(func(r *Request) (int, unix.Errno) {
		r.Then = func() error { then = true; return nil }
		return 0, 0
	}), r, out)
	if !errors.Is(err, unix.EBADF) || !then {
		t.Errorf("served: %v, followed: %v", err, then)
	}
}
