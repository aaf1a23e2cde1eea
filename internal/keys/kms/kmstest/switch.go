package kmstest

import (
	"net"
	"net/http"
	"sync"
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

// UnusedAddress returns a loopback address where nothing listens.
func UnusedAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
