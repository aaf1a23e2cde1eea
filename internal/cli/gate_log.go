package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/inuse/gate"
)

// An auditLog writes events as lines of JSON.
type auditLog struct {
	path   string
	failed atomic.Int64 // lines that could not be written

	mu    sync.Mutex
	out   io.Writer
	own   *os.File
	buf   []byte      // lines not yet written
	timer *time.Timer // writes them soon; nil: nothing waits for it
}

// Of results with ciphertext and of conditions, which come by the thousand, a line
// may wait so long or until there are so many bytes of them. All others are
// written at once.
const (
	auditDelay  = 100 * time.Millisecond
	auditBuffer = 32 << 10
)

// openAudit opens the log at path, or takes std if there is none.
func openAudit(path string, std io.Writer) (*auditLog, error) {
	a := &auditLog{path: path, out: std}
	if err := a.reopen(); err != nil {
		return nil, usagef("open audit log", "name a file that can be written", "%w", err)
	}
	return a, nil
}

// reopen opens the file anew, which may have been moved away. On an error the one
// open before goes on.
func (a *auditLog) reopen() error {
	if a.path == "" {
		return nil
	}
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flush()
	if a.own != nil {
		a.own.Close()
	}
	a.out, a.own = f, f
	return nil
}

func (a *auditLog) write(e gate.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.buf = append(e.AppendJSON(a.buf), '\n')
	switch {
	case e.Kind != "ciphertext" && e.Kind != "condition" || len(a.buf) >= auditBuffer:
		a.flush()
	case a.timer == nil:
		a.timer = time.AfterFunc(auditDelay, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.flush()
		})
	}
}

// flush writes what waits. The caller holds the lock.
func (a *auditLog) flush() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if len(a.buf) == 0 {
		return
	}
	if _, err := a.out.Write(a.buf); err != nil {
		a.failed.Add(int64(bytes.Count(a.buf, []byte{'\n'})))
	}
	a.buf = a.buf[:0]
}

func (a *auditLog) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flush()
	if a.own != nil {
		a.own.Close()
	}
}

// A gateHealth is the answer of /healthz.
type gateHealth struct {
	OK       bool                `json:"ok"`
	Draining bool                `json:"draining"`
	Backends []gate.BackendStats `json:"backends"`
	Version  uint64              `json:"rules_version"`
	Digest   string              `json:"rules_digest"`
	Trouble  string              `json:"rules_trouble,omitempty"`
}

func healthOf(s gate.Stats) gateHealth {
	h := gateHealth{OK: s.Ready(), Draining: s.Draining, Backends: s.Backends, Version: s.RulesVersion, Digest: s.RulesDigest}
	if s.RulesTrouble != nil {
		h.Trouble = s.RulesTrouble.Error()
	}
	return h
}

// serveMetrics answers /metrics and /healthz at addr until ctx ends. A gate that
// hands over may hold the address for a moment, so it is asked for some times.
func serveMetrics(ctx context.Context, wg *sync.WaitGroup, addr string, srv *gate.Server, audit *auditLog) error {
	var ln net.Listener
	var err error
	for try := 0; ; try++ {
		if ln, err = net.Listen("tcp", addr); err == nil {
			break
		}
		if try == 20 {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		srv.Stats().WriteMetrics(w)
		fmt.Fprintf(w, "# HELP veildb_gate_audit_failures_total Lines of the audit log that could not be written.\n"+
			"# TYPE veildb_gate_audit_failures_total counter\nveildb_gate_audit_failures_total %d\n", audit.failed.Load())
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		h := healthOf(srv.Stats())
		w.Header().Set("Content-Type", "application/json")
		if !h.OK {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		json.NewEncoder(w).Encode(h)
	})
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	wg.Go(func() { h.Serve(ln) })
	context.AfterFunc(ctx, func() { h.Close() })
	return nil
}
