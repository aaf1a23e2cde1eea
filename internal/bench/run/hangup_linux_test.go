package run

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// waiting is a workload and a terminal whose statement gets no reply.
type waiting struct {
	net.Conn
	begun chan struct{}
}

func (waiting) Name() string    { return "waiting" }
func (waiting) Kinds() []string { return []string{"wait"} }
func (w waiting) Terminal(context.Context, *sql.DB, int, uint64) (Terminal, error) {
	return w, nil
}

func (w waiting) Next(context.Context, *Tally) (int, error) {
	close(w.begun)
	_, err := w.Read(make([]byte, 1))
	return 0, err
}

// TestStoppedLoadHangsUp stops a load whose terminal waits for a server.
func TestStoppedLoadHangsUp(t *testing.T) {
	was := patience
	patience = time.Millisecond
	defer func() { patience = was }()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	conn, err := dsn.Dial(t.Context(), "tcp", silent.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := waiting{conn, make(chan struct{})}
	go func() {
		<-w.begun
		cancel()
	}()
	if _, err := Load(ctx, LoadConfig{Workload: w, Terminals: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
