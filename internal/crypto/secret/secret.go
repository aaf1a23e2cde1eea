// Package secret holds key bytes outside the Go heap, in memory that is not
// swapped, not dumped, not printed, and wiped when it is closed.
package secret

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// MaxSize is the largest secret, in bytes.
const MaxSize = 1 << 20

// ErrSize means a secret of that many bytes cannot be made.
var ErrSize = errors.New("size of secret out of range")

const redacted = "[secret]"

// leakGrace is how long the memory of a Bytes that nobody closed and nobody
// can reach is kept. A view from Reveal does not keep its Bytes reachable, so
// wiping at once could turn a forgotten Close into a cipher with a wrong key. In
// nanoseconds; the collector asks at any time, also while a test sets it.
var leakGrace atomic.Int64

func init() { leakGrace.Store(int64(time.Minute)) }

// Bytes is a secret of fixed length. It prints as [secret] under every verb, in
// JSON, in text and in slog; Reveal is the only way to read it.
//
// A Bytes may be read from several goroutines at once. Close it exactly when no
// view from Reveal is in use any more.
type Bytes struct {
	s *state // a pointer, so that printing a copy of Bytes prints an address
}

type state struct {
	first   *byte // not a slice: fmt follows a pointer to a struct and prints its slices
	n       int
	closed  atomic.Bool
	cleanup runtime.Cleanup
}

// New returns a secret of n zero bytes, 0 to MaxSize. It returns ErrSize, or an
// error when the system has no memory; memory that cannot be locked is used all
// the same (see Warning).
func New(n int) (*Bytes, error) {
	if n < 0 || n > MaxSize {
		return nil, fmt.Errorf("allocate secret of %d bytes: %w", n, ErrSize)
	}
	slot, err := pool.alloc(n)
	if err != nil {
		return nil, fmt.Errorf("allocate secret: %w", err)
	}
	b := &Bytes{s: &state{first: &slot[0], n: n}}
	b.s.cleanup = runtime.AddCleanup(b, freeLeaked, slot)
	return b, nil
}

func freeLeaked(slot []byte) {
	time.AfterFunc(time.Duration(leakGrace.Load()), func() { pool.free(slot) })
}

// From moves b into a new secret: it copies b and wipes it, also on error.
func From(b []byte) (*Bytes, error) {
	defer clear(b)
	s, err := New(len(b))
	if err != nil {
		return nil, err
	}
	copy(s.Reveal(), b)
	return s, nil
}

// Random returns a secret of n random bytes.
func Random(n int) (*Bytes, error) {
	b, err := New(n)
	if err != nil {
		return nil, err
	}
	rand.Read(b.Reveal()) // never fails, see crypto/rand
	return b, nil
}

// Clone returns an independent copy.
func (b *Bytes) Clone() (*Bytes, error) {
	c, err := New(b.Len())
	if err != nil {
		return nil, err
	}
	copy(c.Reveal(), b.Reveal())
	return c, nil
}

// Reveal returns the bytes themselves, not a copy. The view may be written, is
// valid until Close and must not be kept longer: the memory is used again.
// Reveal panics after Close.
func (b *Bytes) Reveal() []byte {
	if b.s.closed.Load() {
		panic("secret: internal error: reveal after close")
	}
	return unsafe.Slice(b.s.first, b.s.n)
}

// Len returns the length in bytes, also after Close.
func (b *Bytes) Len() int { return b.s.n }

// Equal reports, in time that depends on the lengths only, whether b and o hold
// the same bytes.
func (b *Bytes) Equal(o *Bytes) bool {
	return subtle.ConstantTimeCompare(b.Reveal(), o.Reveal()) == 1
}

// Close wipes the secret and gives its memory back. Closing twice, or closing
// nil, does nothing. The error is always nil; it is there for io.Closer.
func (b *Bytes) Close() error {
	if b == nil || b.s.closed.Swap(true) {
		return nil
	}
	b.s.cleanup.Stop()
	pool.free(unsafe.Slice(b.s.first, 1<<slotClass(b.s.n)))
	return nil
}

// The methods below have value receivers so that a copy of a Bytes redacts too.

// Format implements fmt.Formatter: [secret] under every verb.
func (Bytes) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }

// String implements fmt.Stringer.
func (Bytes) String() string { return redacted }

// GoString implements fmt.GoStringer.
func (Bytes) GoString() string { return redacted }

// MarshalJSON implements json.Marshaler.
func (Bytes) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText implements encoding.TextMarshaler.
func (Bytes) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements slog.LogValuer.
func (Bytes) LogValue() slog.Value { return slog.StringValue(redacted) }
