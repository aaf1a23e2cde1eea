package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// A mount in the background is this program once more, in the foreground. It
// keeps the terminal until it serves, since opening a key may ask for a
// passphrase; then it says so on a pipe and parts with the terminal.

// A verdict is what the child says on the pipe, as JSON: a zero Code, or why it
// could not mount.
type verdict struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// runBackground starts the child and waits for its verdict.
func (o *mountOptions) runBackground(cmd *cobra.Command, env *Env) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start mount: %w", err)
	}
	defer r.Close()
	args := []string{"volume", "mount", o.lower, o.mountpoint, "--ready-fd=3", "--cache=" + o.cache,
		"--allow-other=" + strconv.FormatBool(o.allowOther), "--read-only=" + strconv.FormatBool(o.readOnly),
		"--no-cipher=" + strconv.FormatBool(o.noCipher), "--threads=" + strconv.Itoa(o.threads)}
	if o.key != "" {
		args = append(args, "--key="+o.key)
	}
	if o.log != "" {
		args = append(args, "--log="+o.log)
	}
	child := exec.CommandContext(cmd.Context(), self, args...)
	// Its own name, should it be mount.veildb, means something else.
	child.Args[0] = "veildb"
	child.Cancel = func() error { return child.Process.Signal(unix.SIGTERM) } // killed, it would leave a dead mount
	child.Stdin, child.Stderr, child.ExtraFiles = env.Stdin, env.Stderr, []*os.File{w}
	if err := child.Start(); err != nil {
		w.Close()
		return fmt.Errorf("start mount: %w", err)
	}
	w.Close()
	said, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("start mount: %w", err)
	}
	var v verdict
	switch err := json.Unmarshal(said, &v); {
	case err != nil:
		return fmt.Errorf("start mount: it ended before it served: %w", errors.Join(child.Wait(), cmd.Context().Err()))
	case v.Code != ExitOK:
		child.Wait()
		return &Error{Code: v.Code, Err: errors.New(v.Message), Hint: v.Hint}
	}
	if env.JSON {
		return printJSON(env, map[string]any{"volume": o.lower, "mountpoint": o.mountpoint, "pid": child.Process.Pid})
	}
	return child.Process.Release()
}

// tellFailure says on the pipe fd why the mount does not serve, and keeps the
// child from saying it once more.
func tellFailure(env *Env, fd int, err error) {
	code, hint := exitCode(err)
	pipe := os.NewFile(uintptr(fd), "ready")
	json.NewEncoder(pipe).Encode(verdict{code, err.Error(), hint})
	pipe.Close()
	env.Stderr = io.Discard
}

// detach parts with the terminal and says on the pipe fd that the mount serves.
func detach(fd int) error {
	if _, err := unix.Setsid(); err != nil {
		return fmt.Errorf("part with terminal: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("part with terminal: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("part with terminal: %w", err)
	}
	defer null.Close()
	for std := range 3 {
		if err := unix.Dup3(int(null.Fd()), std, 0); err != nil {
			return fmt.Errorf("part with terminal: %w", err)
		}
	}
	pipe := os.NewFile(uintptr(fd), "ready")
	defer pipe.Close()
	if err := json.NewEncoder(pipe).Encode(verdict{}); err != nil {
		return fmt.Errorf("say that the mount serves: %w", err)
	}
	return nil
}
