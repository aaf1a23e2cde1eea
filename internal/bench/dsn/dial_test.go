package dsn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// dialed returns the two ends of a connection of each kind.
func dialed(t *testing.T, network string) (ours, theirs net.Conn) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ours, err = Dial(t.Context(), network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

func TestDial(t *testing.T) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, ours, theirs net.Conn)
	}{
		{"much both ways", testMuch},
		{"end of the peer", func(t *testing.T, ours, theirs net.Conn) {
			theirs.Write([]byte("ab"))
			theirs.Close()
			if b, err := io.ReadAll(ours); string(b) != "ab" || err != nil {
				t.Errorf("read %q, %v", b, err)
			}
			var op *net.OpError
			var err error
			for err == nil { // a TCP peer may take the first
				_, err = ours.Write([]byte("c"))
			}
			if !errors.As(err, &op) || op.Timeout() {
				t.Errorf("write: %v", err)
			}
		}},
		{"close", func(t *testing.T, ours, _ net.Conn) {
			err := waiting(t, ours, func() { ours.Close() })
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("read: %v", err)
			}
			if _, err := ours.Write([]byte("a")); !errors.Is(err, net.ErrClosed) {
				t.Errorf("write: %v", err)
			}
			if err := ours.Close(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("close: %v", err)
			}
		}},
		{"deadline past", func(t *testing.T, ours, _ net.Conn) {
			err := waiting(t, ours, func() { ours.SetDeadline(time.Unix(1, 0)) })
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read: %v", err)
			}
			if _, err := ours.Write([]byte("a")); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("write: %v", err)
			}
		}},
		{"deadline ahead", func(t *testing.T, ours, _ net.Conn) {
			err := waiting(t, ours, func() { ours.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) })
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read: %v", err)
			}
		}},
		{"deadline withdrawn", func(t *testing.T, ours, theirs net.Conn) {
			ours.SetDeadline(time.Now().Add(time.Hour))
			ours.SetDeadline(time.Time{})
			err := waiting(t, ours, func() { theirs.Write([]byte("a")) })
			if err != nil {
				t.Errorf("read: %v", err)
			}
		}},
		{"garbage collected meanwhile", func(t *testing.T, ours, theirs net.Conn) {
			err := waiting(t, ours, func() {
				for range 5 {
					runtime.GC()
				}
				theirs.Write([]byte("a"))
			})
			if err != nil {
				t.Errorf("read: %v", err)
			}
		}},
	} {
		for _, network := range []string{"unix", "tcp"} {
			t.Run(tt.name+"/"+network, func(t *testing.T) {
				ours, theirs := dialed(t, network)
				tt.test(t, ours, theirs)
			})
		}
	}
}

// waiting returns the error of a read from c that began before event, as far as
// can be told.
func waiting(t *testing.T, c net.Conn, event func()) error {
	t.Helper()
	began, result := make(chan struct{}), make(chan error, 1)
	go func() {
		close(began)
		_, err := c.Read(make([]byte, 1))
		result <- err
	}()
	<-began
	time.Sleep(5 * time.Millisecond)
	event()
	select {
	case err := <-result:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the read has not ended")
		return nil
	}
}

// testMuch sends more than sockets hold in both directions at once.
func testMuch(t *testing.T, ours, theirs net.Conn) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	var wg sync.WaitGroup
	for _, c := range []net.Conn{ours, theirs} {
		wg.Go(func() {
			if n, err := c.Write(data); n != len(data) || err != nil {
				t.Errorf("wrote %d, %v", n, err)
			}
		})
		wg.Go(func() {
			got := make([]byte, len(data))
			if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, data) {
				t.Errorf("read something else, %v", err)
			}
		})
	}
	wg.Wait()
}

// TestDialShares opens connections until each processor could wait for one.
func TestDialShares(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("connections are ordinary ones")
	}
	before := runtime.GOMAXPROCS(0)
	var all []net.Conn
	for range 20 {
		c, _ := dialed(t, "unix")
		all = append(all, c)
		if n := runtime.GOMAXPROCS(0); n <= len(all) {
			t.Errorf("GOMAXPROCS is %d with %d open", n, len(all))
		}
	}
	for _, c := range all {
		c.Close()
	}
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("GOMAXPROCS is %d, was %d", n, before)
	}
}
