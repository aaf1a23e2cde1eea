package fuse

import (
	"bytes"
	"unsafe"
)

const (
	headerSize    = int(unsafe.Sizeof(Header{}))
	outHeaderSize = int(unsafe.Sizeof(outHeader{}))
	ioInSize      = int(unsafe.Sizeof(IoIn{}))
)

// A Request is what the kernel asks. It and everything it points to are valid
// until its handler returns.
type Request struct {
	*Header
	args []byte

	// Reply is where the handler puts the payload of its reply: at least as
	// many bytes as the request may ask for, starting at a page.
	Reply []byte

	// Then, if a handler sets it, is called once the reply is sent, by the same
	// thread. An error ends service.
	Then func() error

	fd    int  // of the connection
	later bool // whoever handled it replies later
}

// Later leaves it to the Answer that it returns to reply to r: what the handler
// returns is not sent.
func (r *Request) Later() Answer {
	r.later = true
	return Answer{r.fd, r.Unique}
}

// parse makes r the request in b, which begins at a multiple of 8. It reports
// whether b is one whole request.
func (r *Request) parse(b []byte) bool {
	if len(b) < headerSize {
		return false
	}
	h := (*Header)(unsafe.Pointer(unsafe.SliceData(b)))
	ext := int(h.ExtLen) * 8
	if uint64(h.Len) != uint64(len(b)) || ext > len(b)-headerSize {
		return false
	}
	r.Header, r.args, r.Then, r.later = h, b[headerSize:len(b)-ext], nil, false
	return true
}

// In returns the argument structure of r and what follows it, or false if r is
// too short for one.
func In[T any](r *Request) (*T, []byte, bool) {
	var zero T
	n := int(unsafe.Sizeof(zero))
	if len(r.args) < n {
		return nil, nil, false
	}
	return (*T)(unsafe.Pointer(unsafe.SliceData(r.args))), r.args[n:], true
}

// Rest returns the arguments of a request without a structure.
func (r *Request) Rest() []byte { return r.args }

// Name returns the string at the start of b, which a zero ends, and what
// follows it.
func Name(b []byte) (name string, rest []byte, ok bool) {
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		return "", nil, false
	}
	return string(b[:i]), b[i+1:], true
}

// Out returns a zero T at the start of the reply, and its length.
func Out[T any](r *Request) (*T, int) {
	return at[T](r.Reply), int(unsafe.Sizeof(*new(T)))
}

// at returns a zero T at the start of b.
func at[T any](b []byte) *T {
	var zero T
	_ = b[unsafe.Sizeof(zero)-1]
	p := (*T)(unsafe.Pointer(unsafe.SliceData(b)))
	*p = zero
	return p
}

// Forgets calls f for each node of a FORGET or BATCH_FORGET request. It
// reports whether r was well formed.
func Forgets(r *Request, f func(ForgetOne)) bool {
	if r.Opcode == OpForget {
		in, _, ok := In[ForgetIn](r)
		if ok {
			f(ForgetOne{r.NodeID, in.Nlookup})
		}
		return ok
	}
	in, rest, ok := In[BatchForgetIn](r)
	const size = int(unsafe.Sizeof(ForgetOne{}))
	if !ok || uint64(in.Count)*uint64(size) > uint64(len(rest)) {
		return false
	}
	for _, one := range unsafe.Slice((*ForgetOne)(unsafe.Pointer(unsafe.SliceData(rest))), in.Count) {
		f(one)
	}
	return true
}

const (
	entrySize  = int(unsafe.Sizeof(EntryOut{}))
	direntSize = int(unsafe.Sizeof(Dirent{}))
)

// DirentLen returns what an entry of that name takes in a reply.
func DirentLen(name int, plus bool) int {
	n := (direntSize + name + 7) &^ 7
	if plus {
		n += entrySize
	}
	return n
}

// AppendDirent puts an entry at b[n:], which must have room for it, and returns
// where the next one goes. For READDIRPLUS, entry is what the kernel is to know
// about it.
func AppendDirent(b []byte, n int, d Dirent, name []byte, entry *EntryOut) int {
	end := n + DirentLen(len(name), entry != nil)
	clear(b[n:end])
	if entry != nil {
		*at[EntryOut](b[n:]) = *entry
		n += entrySize
	}
	d.Namelen = uint32(len(name))
	*at[Dirent](b[n:]) = d
	copy(b[n+direntSize:], name)
	return end
}

// OutAt returns a zero T at offset off of the reply, and its length.
func OutAt[T any](r *Request, off int) (*T, int) {
	return at[T](r.Reply[off:]), int(unsafe.Sizeof(*new(T)))
}
