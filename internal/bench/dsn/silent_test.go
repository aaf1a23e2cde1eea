package dsn

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// TestSilentServer connects to something that accepts and says nothing, as a
// server of another kind does that waits for us to begin.
func TestSilentServer(t *testing.T) {
	defer func(d time.Duration) { connectTimeout = d }(connectTimeout)
	connectTimeout = 100 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	for _, scheme := range []string{"mysql", "postgres"} {
		d, err := Parse(scheme + "://user@" + l.Addr().String() + "/db")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Open(t.Context(), Options{}); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: error %v, want ErrNoAnswer", scheme, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.Open(ctx, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, interrupted: error %v, want context.Canceled", scheme, err)
		}
	}
}
