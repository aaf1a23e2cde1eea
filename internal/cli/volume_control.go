package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// The process that serves a mount listens on a socket in the volume's private
// directory, which only its owner can reach. A request is one line of JSON, and
// so is each message of the answer; the last one has no Progress. Whoever hangs
// up gives up what was asked for.
const controlName = "control"

// What can be asked of a mount.
const (
	askStatus = "status"
	askRekey  = "rekey"
)

type controlRequest struct {
	Do   string `json:"do"`
	Rate int64  `json:"rate,omitempty"` // bytes a second, of rekey
}

type controlMessage struct {
	Progress json.RawMessage `json:"progress,omitempty"`
	Note     string          `json:"note,omitempty"` // with Progress
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *verdict        `json:"error,omitempty"`
}

// A controlHandler answers a request. It may call progress before it returns.
type controlHandler func(ctx context.Context, r controlRequest, progress func(v any, note string)) (result any, err error)

// A controlServer answers requests until it is closed.
type controlServer struct {
	l      net.Listener
	dir    *os.File
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// serveControl listens in the private directory dir of a volume whose lock the
// caller holds.
func serveControl(ctx context.Context, dir string, handle controlHandler) (*controlServer, error) {
	// A socket's path has 107 bytes at most; that of an open directory is short.
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("listen for commands: %w", err)
	}
	err = os.Remove(filepath.Join(dir, controlName)) // of one that was killed
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		var l net.Listener
		if l, err = net.Listen("unix", controlPath(d)); err == nil {
			// The directory keeps others out; a copy of it might not.
			if err = os.Chmod(controlPath(d), 0o600); err != nil {
				l.Close()
			}
		}
		if err == nil {
			ctx, cancel := context.WithCancel(ctx)
			s := &controlServer{l: l, dir: d, cancel: cancel}
			s.wg.Go(func() { s.accept(ctx, handle) })
			return s, nil
		}
	}
	d.Close()
	return nil, fmt.Errorf("listen for commands: %w", err)
}

func controlPath(dir *os.File) string {
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + controlName
}

// Close ends what is being answered, and waits for it.
func (s *controlServer) Close() error {
	s.cancel()
	err := s.l.Close()
	s.wg.Wait()
	return errors.Join(err, s.dir.Close())
}

func (s *controlServer) accept(ctx context.Context, handle controlHandler) {
	for {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			defer c.Close()
			serveRequest(ctx, c, handle)
		})
	}
}

// serveRequest answers the one request of a connection.
func serveRequest(ctx context.Context, c net.Conn, handle controlHandler) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Now()) })()
	in := bufio.NewReader(io.LimitReader(c, 4096))
	line, err := in.ReadBytes('\n')
	var r controlRequest
	if err != nil || json.Unmarshal(line, &r) != nil {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer c.SetReadDeadline(time.Now()) // ends the goroutine below
	wg.Go(func() {
		in.ReadByte() // until the other end hangs up
		cancel()
	})
	out := json.NewEncoder(c)
	result, err := handle(ctx, r, func(v any, note string) {
		if data, err := json.Marshal(v); err == nil {
			out.Encode(controlMessage{Progress: data, Note: note})
		}
	})
	var m controlMessage
	if err == nil {
		m.Result, err = json.Marshal(result)
	}
	if err != nil {
		code, hint := exitCode(err)
		m = controlMessage{Error: &verdict{Code: code, Message: err.Error(), Hint: hint}}
	}
	out.Encode(m)
}

// errNoMount is a volume that no mount answers for.
var errNoMount = errors.New("volume is not mounted by this program here")

// wentAway is the error of what a mount did when it ended.
func wentAway(op string, err error) error {
	return &Error{Code: ExitInterrupted, Op: op, Err: fmt.Errorf("the mount went away: %w", err), Hint: "run the same command again"}
}

// askMount sends r to the mount of the volume lower, calls progress for what it
// says meanwhile, and decodes the result. The error matches errNoMount if there
// is none.
func askMount(ctx context.Context, lower string, r controlRequest, result any, progress func(data []byte, note string)) error {
	d, err := os.Open(filepath.Join(lower, ".veildb"))
	if err != nil {
		return err
	}
	defer d.Close()
	c, err := net.Dial("unix", controlPath(d))
	if errors.Is(err, syscall.EAGAIN) { // too many wait already
		return silentError("ask mount", lower)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if err := json.NewEncoder(c).Encode(r); err != nil {
		return fmt.Errorf("ask mount: %w", err)
	}
	in := bufio.NewReader(c)
	for {
		m, err := nextMessage(ctx, c, in, lower, r.Do != askStatus)
		if err != nil {
			return err
		}
		switch {
		case m.Error != nil:
			return &Error{Code: m.Error.Code, Err: errors.New(m.Error.Message), Hint: m.Error.Hint}
		case m.Result != nil:
			return json.Unmarshal(m.Result, result)
		case progress != nil:
			progress(m.Progress, m.Note)
		}
	}
}

// errSilent is a mount whose process runs, or is stopped, and does not answer.
var errSilent = errors.New("it does not answer")

// A mount may say nothing for so long before it counts as silent. Whether it was
// stopped is seen sooner.
const (
	patience  = 5 * time.Second
	stopCheck = time.Second
)

// nextMessage reads what the mount of lower says next. One that is at work may
// have nothing to say for long, if it still tells its status.
func nextMessage(ctx context.Context, c net.Conn, in *bufio.Reader, lower string, working bool) (m controlMessage, err error) {
	var line []byte
	for silent := stopCheck; ; silent += stopCheck {
		c.SetReadDeadline(time.Now().Add(stopCheck))
		part, err := in.ReadBytes('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			if err := json.Unmarshal(line, &m); err != nil {
				return m, wentAway("ask mount", err)
			}
			return m, nil
		case ctx.Err() != nil:
			return m, fmt.Errorf("ask mount: %w", ctx.Err())
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return m, wentAway("ask mount", err)
		case processState(volume.ReadHolder(lower).PID) == stopped || !working && silent >= patience:
			return m, silentError("ask mount", lower)
		case silent < patience:
			continue
		}
		silent = 0
		if err := askMount(ctx, lower, controlRequest{Do: askStatus}, new(mountStatus), nil); errors.Is(err, errSilent) {
			return m, err
		}
	}
}

// silentError matches errSilent and says what to do about the process that holds
// the volume lower.
func silentError(op, lower string) error {
	h := volume.ReadHolder(lower)
	if h.PID == 0 {
		return &Error{Code: ExitBusy, Op: op, Err: fmt.Errorf("the mount of %s: %w", lower, errSilent), Hint: "see what the process that serves it does, or end it"}
	}
	e := &Error{Code: ExitBusy, Op: op, Err: fmt.Errorf("process %d, %s: %w", h.PID, h.Purpose, errSilent),
		Hint: fmt.Sprintf("it may wait for the disk below; to give it up: kill -KILL %d, then mount again", h.PID)}
	if processState(h.PID) == stopped {
		e.Err = fmt.Errorf("process %d, %s, is stopped: %w", h.PID, h.Purpose, errSilent)
		e.Hint = fmt.Sprintf("have it go on: kill -CONT %d; or give it up: kill -KILL %d, then mount again", h.PID, h.PID)
	}
	return e
}

const stopped = "T" // by a signal

// processState is the letter of the state of a process, see proc(5); empty if
// there is none.
func processState(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// "pid (name) state ...", and the name may hold anything.
	state := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
	return string(state[:min(1, len(state))])
}
