package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// awaitReady polls until the server takes sessions on every address it was
// asked to listen on, its process ends, or ctx does.
func (s *Server) awaitReady(ctx context.Context) error {
	addrs := [][2]string{{"unix", s.Socket()}}
	if s.Addr() != "" {
		addrs = append(addrs, [2]string{"tcp", s.Addr()})
	}
	last := errors.New("no answer")
	for wait := 5 * time.Millisecond; ; wait = min(wait*3/2, 200*time.Millisecond) {
		for len(addrs) > 0 {
			if last = s.probe(ctx, addrs[0]); last != nil {
				break
			}
			addrs = addrs[1:]
		}
		if len(addrs) == 0 {
			return nil
		}
		select {
		case <-s.process().done:
			return fmt.Errorf("it ended (%s)", s.process().outcome())
		case <-ctx.Done():
			return fmt.Errorf("%w; last answer: %w", ctx.Err(), last)
		case <-time.After(wait):
		}
	}
}

func (s *Server) probe(ctx context.Context, addr [2]string) error {
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.DialContext(ctx, addr[0], addr[1])
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	return s.eng.probe(c, s)
}

const tailSize = 1500 // bytes of log quoted in errors

// tailBuffer keeps the last tailSize bytes written to it.
type tailBuffer struct{ b []byte }

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - tailSize; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string { return printable(t.b) }

// tailFile is the end of the file at path, as one printable line.
func tailFile(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "(none)"
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.Size() > tailSize {
		f.Seek(-tailSize, io.SeekEnd)
	}
	b, _ := io.ReadAll(io.LimitReader(f, tailSize))
	if len(b) == 0 {
		return "(empty)"
	}
	return printable(complaints(b))
}

// complaints keeps of a log the lines in which a server calls something an
// error, and the whole log if there are none.
func complaints(log []byte) []byte {
	var kept [][]byte
	for _, line := range bytes.Split(log, []byte{'\n'}) {
		for _, word := range []string{"[ERROR]", "ERROR:", "FATAL:", "PANIC:"} {
			if bytes.Contains(line, []byte(word)) {
				kept = append(kept, line)
				break
			}
		}
	}
	if len(kept) == 0 {
		return log
	}
	return bytes.Join(kept, []byte{'\n'})
}

// printable replaces what would break a one-line message.
func printable(b []byte) string {
	b = bytes.TrimSpace(b)
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ReplaceAll(string(b), "\n", " | "))
}
