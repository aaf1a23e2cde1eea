package fuse

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	pageSize = 4096
	// MaxIO is the largest READ or WRITE, in bytes; the kernel allows 256 pages.
	MaxIO = 1 << 20
)

// A Handler serves requests, several at once.
type Handler interface {
	// Handle returns the length of the payload it put into r.Reply, or an
	// error number. Requests without a reply ignore both.
	Handle(r *Request) (n int, errno unix.Errno)
}

// A Conn is the connection to the kernel behind one mount point. Serve is
// called once.
type Conn struct {
	fd     int
	path   string // mount point
	helper bool   // fusermount3 mounted it
	caps   uint64
}

// Capabilities returns what was agreed on; valid after Init.
func (c *Conn) Capabilities() uint64 { return c.caps }

// Init waits for the kernel's first request and agrees on the protocol.
// Capabilities that the kernel does not offer are left out.
func (c *Conn) Init(capabilities uint64) error {
	in, err := alloc(4 * pageSize)
	if err != nil {
		return err
	}
	defer unix.Munmap(in)
	out, err := alloc(2 * pageSize)
	if err != nil {
		return err
	}
	defer unix.Munmap(out)
	n, err := c.readInit(in)
	if err != nil {
		return fmt.Errorf("begin session: %w", err)
	}
	r := Request{Reply: out[pageSize:]}
	if !r.parse(in[:n]) || r.Opcode != opInit {
		return fmt.Errorf("begin session: %w", ErrProtocol)
	}
	size, errno := c.negotiate(&r, capabilities)
	if err := c.reply(out, r.Unique, size, errno); err != nil {
		return fmt.Errorf("begin session: %w", err)
	}
	if errno != 0 {
		return fmt.Errorf("begin session: %w", ErrProtocol)
	}
	setReadAhead(c.path)
	return nil
}

func (c *Conn) readInit(b []byte) (int, error) {
	for {
		n, err := unix.Read(c.fd, b)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// negotiate answers the INIT request r.
func (c *Conn) negotiate(r *Request, want uint64) (int, unix.Errno) {
	const minor = 31
	if len(r.args) < 16 { // before Flags2
		return 0, unix.EPROTO
	}
	var in initIn
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&in)), unsafe.Sizeof(in)), r.args)
	if in.Major != 7 || in.Minor < minor {
		return 0, unix.EPROTO
	}
	offered := uint64(in.Flags)
	if offered&capInitExt != 0 {
		offered |= uint64(in.Flags2) << 32
	}
	c.caps = offered & (want | capInitExt)
	out, n := Out[initOut](r)
	*out = initOut{
		Major: 7, Minor: min(in.Minor, 45),
		MaxReadahead:  max(in.MaxReadahead, MaxIO),
		Flags:         uint32(c.caps),
		Flags2:        uint32(c.caps >> 32),
		MaxBackground: 128, CongestionThreshold: 96,
		MaxWrite: MaxIO, TimeGran: 1,
		MaxPages: MaxIO / pageSize,
	}
	return n, 0
}

// Serve handles requests until the file system is unmounted or the connection
// aborted, on up to loops threads. cpu, if not nil, says on which CPU this process
// is best as long as it is little busy; it is asked again from time to time.
func (c *Conn) Serve(h Handler, loops int, cpu func() (n int, ok bool)) error {
	stop, err := interruptReads()
	if err != nil {
		return err
	}
	defer stop()
	// A loop that waits in a raw system call keeps its share of GOMAXPROCS;
	// the rest of the program needs its own.
	old := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(old, loops+1))
	defer runtime.GOMAXPROCS(old)
	crew := newCrew(loops)
	errs := make([]error, loops)
	var wg sync.WaitGroup
	if home := newHome(cpu); home != nil {
		wg.Go(func() { home.keep(crew.over) })
	}
	for i := range loops {
		wg.Go(func() {
			errs[i] = c.loop(h, crew)
			crew.dismiss()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// loop serves with buffers outside the heap.
func (c *Conn) loop(h Handler, crew *crew) error {
	// The data of a WRITE starts at a page, as does that of a READ's reply.
	inBuf, err := alloc(MaxIO + 3*pageSize)
	if err != nil {
		return err
	}
	defer unix.Munmap(inBuf)
	in := inBuf[pageSize-headerSize-ioInSize:]
	out, err := alloc(pageSize + MaxIO + pageSize)
	if err != nil {
		return err
	}
	defer unix.Munmap(out)
	r := Request{Reply: out[pageSize:], fd: c.fd}
	w := waiter{fd: c.fd}
	m := newMember()
	for crew.join(&m) {
		n, errno := w.read(in)
		crew.leave()
		switch errno {
		case 0:
		case unix.ENOENT, unix.EAGAIN: // the request was withdrawn
			continue
		case unix.ENODEV: // unmounted
			return nil
		default:
			return fmt.Errorf("read request: %w", errno)
		}
		if !r.parse(in[:n]) {
			return fmt.Errorf("read request: %w", ErrProtocol)
		}
		if err := c.serve(h, &r, out); err != nil {
			return err
		}
	}
	return nil
}

// serve handles one request. out[pageSize:] is r.Reply.
func (c *Conn) serve(h Handler, r *Request, out []byte) error {
	switch r.Opcode {
	case OpForget, OpBatchForget:
		h.Handle(r)
		return nil
	case opInterrupt: // whoever waits for a reply gets it soon: ask for no more
		return c.reply(out, r.Unique, 0, unix.ENOSYS)
	case opDestroy:
		return c.reply(out, r.Unique, 0, 0)
	}
	n, errno := h.Handle(r)
	var err error
	if !r.later {
		err = c.reply(out, r.Unique, n, errno)
	}
	if r.Then != nil { // also after a failure: others may wait for it
		err = errors.Join(err, r.Then())
	}
	return err
}

// reply sends an error, or the n bytes at out[pageSize:].
func (c *Conn) reply(out []byte, unique uint64, n int, errno unix.Errno) error {
	if errno != 0 {
		n = 0
	}
	start := pageSize - outHeaderSize
	*at[outHeader](out[start:]) = outHeader{len: uint32(outHeaderSize + n), errno: -int32(errno), unique: unique}
	return send(c.fd, out[start:pageSize+n])
}

// An Answer is a reply without payload that is due to a request.
type Answer struct {
	fd     int
	unique uint64
}

// Give sends it. Each is given once.
func (a Answer) Give(errno unix.Errno) error {
	h := outHeader{len: uint32(outHeaderSize), errno: -int32(errno), unique: a.unique}
	return send(a.fd, unsafe.Slice((*byte)(unsafe.Pointer(&h)), outHeaderSize))
}

// send writes the reply b.
func send(fd int, b []byte) error {
	for {
		_, e := rawWrite(fd, b)
		switch e {
		case 0, unix.ENOENT: // the request was withdrawn
			return nil
		case unix.EINTR:
			continue
		case unix.ENODEV: // unmounted; the next read says so, too
			return nil
		}
		return fmt.Errorf("write reply: %w", e)
	}
}

// alloc returns n bytes outside the heap, aligned to a page, that are not
// dumped: they see content in plain.
func alloc(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("allocate buffer: %w", err)
	}
	unix.Madvise(b, unix.MADV_DONTDUMP)
	return b, nil
}
