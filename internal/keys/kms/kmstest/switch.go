package kmstest

import (
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/sys/unix"
)

// A Switch stands before the handler of an HTTP key manager and breaks it.
type Switch struct {
	Handler http.Handler

	// Refuse answers that a request is not allowed.
	Refuse http.HandlerFunc

	mu     sync.Mutex
	broken bool
	fault  Fault
	mended chan struct{} // closed when the fault is mended
}

// Break makes a fault until mend is called.
func (s *Switch) Break(f Fault) (mend func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken, s.fault, s.mended = true, f, make(chan struct{})
	mended := s.mended
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.broken = false
		close(mended)
	}
}

// ServeHTTP implements http.Handler.
func (s *Switch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	broken, fault, mended := s.broken, s.fault, s.mended
	s.mu.Unlock()
	switch {
	case !broken:
		s.Handler.ServeHTTP(w, r)
	case fault == Hang:
		select {
		case <-r.Context().Done():
		case <-mended:
		}
		panic(http.ErrAbortHandler)
	case fault == Garbage:
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<html><h1>Welcome to the guest network"))
	case fault == Refuse:
		s.Refuse(w, r)
	default:
		panic(http.ErrAbortHandler) // closes the connection
	}
}

// UnusedAddress returns a loopback address where nothing listens, nor will while
// this process lives.
func UnusedAddress() (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", err
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return "", err
	}
	return fmt.Sprint("127.0.0.1:", sa.(*unix.SockaddrInet4).Port), nil
}
