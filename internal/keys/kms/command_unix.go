//go:build unix

package kms

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// run runs one key command and returns its standard output, or nil if it was
// given the key: the output of a wrap command is thrown away unread. Keys go
// through pipes between locked memory and the command, never through the heap.
// Errors: ErrConfig, *CommandError.
func (p *Command) run(ctx context.Context, what, command, path string, key *secret.Bytes) (*secret.Bytes, error) {
	line, err := substitute(command, path)
	if err != nil {
		return nil, err
	}
	callers := ctx
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var stderr tail
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Stderr = &stderr

	var out *secret.Bytes
	if key != nil {
		err = runWithInput(cmd, key)
	} else {
		out, err = runForOutput(ctx, cmd)
	}
	if err == nil {
		return out, nil
	}
	defer out.Close()
	e := &CommandError{What: what, ExitCode: -1}
	for _, s := range []*secret.Bytes{key, out} {
		if s != nil && e.Stderr == "" {
			e.Stderr = foreign(stderr.buf, s.Reveal())
		}
	}
	if key == nil && out == nil {
		e.Stderr = foreign(stderr.buf)
	}
	var exit *exec.ExitError
	switch {
	case callers.Err() != nil:
		e.Err = context.Cause(callers)
	case ctx.Err() != nil:
		e.Timeout = p.timeout
	case errors.As(err, &exit) && exit.Exited():
		e.ExitCode = exit.ExitCode()
	default:
		e.Err = err
	}
	return nil, e
}

// runWithInput runs cmd with the key on its standard input. The key is in the
// pipe before the command starts: a pipe holds at least a page.
func runWithInput(cmd *exec.Cmd, key *secret.Bytes) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = w.Write(key.Reveal())
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	cmd.Stdin = r
	return cmd.Run()
}

// runForOutput runs cmd and returns what it wrote to standard output; on error
// too, if there is any.
func runForOutput(ctx context.Context, cmd *exec.Cmd) (*secret.Bytes, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	// A descendant that outlives the command may keep the pipe open.
	stop := context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	out, err := readKey(r)
	if err == nil && out.Len() > maxPlaintext {
		cmd.Cancel() // it may never end; the caller refuses the length
		cmd.Wait()
		return out, nil
	}
	return out, errors.Join(err, cmd.Wait())
}
