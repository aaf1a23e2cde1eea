package kms

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/keys/keyring"
)

// Environment variables that stand in for Config.WrapCommand and
// Config.UnwrapCommand; the names are those of EDB Postgres.
const (
	EnvWrapCommand   = "PGDATAKEYWRAPCMD"
	EnvUnwrapCommand = "PGDATAKEYUNWRAPCMD"
)

// noCommand says that keys are not wrapped.
const noCommand = "-"

// defaultTimeout is how long one call of a key manager may take.
const defaultTimeout = 30 * time.Second

// Command is a root key that two shell commands use. The contract is that of
// EDB Postgres: the wrap command reads the key on standard input and writes the
// wrapped key to the file %p; the unwrap command reads the file %p and writes
// the key, and nothing else, to standard output. %% is a percent sign; a command
// "-" leaves the key as it is. %p is an absolute path in a private directory and
// is quoted as its place in the command needs.
//
// The commands are not kept in the key file: whoever can write that file could
// otherwise run commands. They run with sh -c in a session of their own, so they
// cannot ask on the terminal, in the working directory and with the environment
// of this process. Additional data is not bound; the key check values of a
// keyring tell a key that is another's.
//
// An exit status of 65 (EX_DATAERR) is understood as damage, 69, 75, 126 and 127
// as unreachable, 77 (EX_NOPERM) as denied. Any other failure to unwrap says
// nothing about its cause, so a fresh key is wrapped and unwrapped: if that
// works, the root key is the wrong one, else the key manager is unreachable.
type Command struct {
	wrap, unwrap string
	timeout      time.Duration
}

func openCommand(c Config) (*Command, error) {
	p := &Command{
		wrap:    cmp.Or(c.WrapCommand, os.Getenv(EnvWrapCommand)),
		unwrap:  cmp.Or(c.UnwrapCommand, os.Getenv(EnvUnwrapCommand)),
		timeout: cmp.Or(c.Timeout, defaultTimeout),
	}
	if p.unwrap == "" {
		return nil, fmt.Errorf("no unwrap command, nor %s in the environment: %w", EnvUnwrapCommand, ErrConfig)
	}
	for _, command := range []string{p.wrap, p.unwrap} {
		if _, err := substitute(command, "/"); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// URI implements keyring.Provider.
func (p *Command) URI() string { return "command" }

// Wrap implements keyring.Provider. A command does not tell the version of its
// root key. Errors: keyring.ErrUnreachable, keyring.ErrDenied, ErrConfig.
func (p *Command) Wrap(ctx context.Context, plaintext *secret.Bytes, _ []byte) ([]byte, string, error) {
	wrapped, err := p.runWrap(ctx, plaintext)
	if err != nil {
		return nil, "", err
	}
	blob, err := sealRemote(kindCommand, "", wrapped)
	return blob, "", err
}

func (p *Command) runWrap(ctx context.Context, plaintext *secret.Bytes) ([]byte, error) {
	switch {
	case p.wrap == "":
		return nil, fmt.Errorf("no wrap command, nor %s in the environment: %w", EnvWrapCommand, ErrConfig)
	case plaintext.Len() == 0 || plaintext.Len() > maxPlaintext:
		return nil, fmt.Errorf("key of %d bytes: want 1 to %d", plaintext.Len(), maxPlaintext)
	case p.wrap == noCommand:
		return bytes.Clone(plaintext.Reveal()), nil
	}
	dir, err := os.MkdirTemp("", "veildb-wrap-")
	if err != nil {
		return nil, fmt.Errorf("run wrap command: %w", err)
	}
	defer os.RemoveAll(dir)
	path, err := filepath.Abs(filepath.Join(dir, "wrapped"))
	if err != nil {
		return nil, err
	}
	if _, err := p.run(ctx, "wrap", p.wrap, path, plaintext); err != nil {
		return nil, err
	}
	wrapped, err := readWrapped(path)
	if err != nil {
		return nil, fmt.Errorf("wrap command succeeded: %w: %w", err, keyring.ErrUnreachable)
	}
	if plaintext.Len() >= 16 && leaks(wrapped, plaintext.Reveal()) {
		return nil, fmt.Errorf("the wrap command wrote the key in plaintext; use %q if that is meant: %w", noCommand, ErrConfig)
	}
	return wrapped, nil
}

func readWrapped(path string) ([]byte, error) {
	fi, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, errors.New("but wrote no file %p")
	case !fi.Mode().IsRegular() || fi.Size() == 0 || fi.Size() > maxBlob/2:
		return nil, fmt.Errorf("but %%p is not a file of 1 to %d bytes", maxBlob/2)
	}
	return os.ReadFile(path)
}

// Unwrap implements keyring.Provider. Errors: keyring.ErrWrongKey,
// keyring.ErrCorrupt, keyring.ErrUnreachable, keyring.ErrDenied.
func (p *Command) Unwrap(ctx context.Context, blob, _ []byte) (*secret.Bytes, error) {
	wrapped, err := openNamed(kindCommand, "", blob)
	if err != nil {
		return nil, err
	}
	key, err := p.runUnwrap(ctx, wrapped)
	var failed *CommandError
	if !errors.As(err, &failed) || failed.cause() != nil {
		return key, err
	}
	if p.probe(ctx) {
		return nil, fmt.Errorf("%w; it does unwrap a key that was wrapped just now: %w", err, keyring.ErrWrongKey)
	}
	return nil, fmt.Errorf("%w: %w", err, keyring.ErrUnreachable)
}

func (p *Command) runUnwrap(ctx context.Context, wrapped []byte) (*secret.Bytes, error) {
	if p.unwrap == noCommand {
		return secret.From(bytes.Clone(wrapped))
	}
	dir, err := os.MkdirTemp("", "veildb-unwrap-")
	if err != nil {
		return nil, fmt.Errorf("run unwrap command: %w", err)
	}
	defer os.RemoveAll(dir)
	path, err := filepath.Abs(filepath.Join(dir, "wrapped"))
	if err == nil {
		err = os.WriteFile(path, wrapped, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("run unwrap command: %w", err)
	}
	key, err := p.run(ctx, "unwrap", p.unwrap, path, nil)
	if err == nil && (key.Len() == 0 || key.Len() > maxPlaintext) {
		err = fmt.Errorf("unwrap command printed %d bytes, want 1 to %d: %w", key.Len(), maxPlaintext, keyring.ErrWrongKey)
	}
	if err != nil {
		key.Close()
		return nil, err
	}
	return key, nil
}

// probe reports whether a fresh key comes back from the commands.
func (p *Command) probe(ctx context.Context) bool {
	fresh, err := secret.Random(32)
	if err != nil {
		return false
	}
	defer fresh.Close()
	wrapped, err := p.runWrap(ctx, fresh)
	if err != nil {
		return false
	}
	back, err := p.runUnwrap(ctx, wrapped)
	if err != nil {
		return false
	}
	defer back.Close()
	return back.Equal(fresh)
}

// A CommandError tells how a key command failed. It matches
// keyring.ErrUnreachable, keyring.ErrDenied or keyring.ErrCorrupt where the exit
// status tells so.
type CommandError struct {
	What     string        // "wrap" or "unwrap"
	ExitCode int           // -1 if it did not exit by itself
	Timeout  time.Duration // of the command, if that was exceeded
	Stderr   string        // its last part, one printable line, no key in it
	Err      error         // why it did not run or end, or nil
}

func (e *CommandError) Error() string {
	what := e.What + " command"
	switch {
	case e.Timeout > 0:
		what += fmt.Sprintf(" did not end within %v", e.Timeout)
	case e.Err != nil:
		what += ": " + e.Err.Error()
	default:
		what += fmt.Sprintf(" ended with exit status %d", e.ExitCode)
	}
	if e.Stderr != "" {
		what += ", saying: " + e.Stderr
	}
	if cause := e.cause(); cause != nil {
		what += ": " + cause.Error()
	}
	return what
}

// cause returns the sentinel that the failure tells, or nil.
func (e *CommandError) cause() error {
	switch {
	case e.Timeout > 0 || e.Err != nil:
		return keyring.ErrUnreachable
	case e.What == "wrap" && e.ExitCode != 77:
		return keyring.ErrUnreachable
	}
	switch e.ExitCode {
	case 65:
		return keyring.ErrCorrupt
	case 77:
		return keyring.ErrDenied
	case 69, 75, 126, 127:
		return keyring.ErrUnreachable
	}
	return nil
}

// Unwrap lets errors.Is and errors.As see the causes.
func (e *CommandError) Unwrap() []error {
	var causes []error
	for _, err := range []error{e.cause(), e.Err} {
		if err != nil {
			causes = append(causes, err)
		}
	}
	return causes
}

// tail is a writer that keeps the last bytes.
type tail struct{ buf []byte }

const maxTail = 8 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - maxTail; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

// readKey reads r to its end into a secret of at most maxPlaintext+1 bytes; a
// longer stream is left unread.
func readKey(r io.Reader) (*secret.Bytes, error) {
	buf, err := secret.New(maxPlaintext + 1)
	if err != nil {
		return nil, err
	}
	defer buf.Close()
	n, err := io.ReadFull(r, buf.Reveal())
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	key, err := secret.New(n)
	if err != nil {
		return nil, err
	}
	copy(key.Reveal(), buf.Reveal())
	return key, nil
}
