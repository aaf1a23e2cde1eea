package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// isTerminalInput reports whether someone can be asked.
func isTerminalInput(env *Env) bool {
	in, ok := env.Stdin.(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

// ask reads a secret from the terminal, or else one line of standard input. It
// gives up when ctx is done, and then leaves the terminal as it was: nobody
// else would make it show again what is typed.
func ask(ctx context.Context, env *Env, prompt string) (*secret.Bytes, error) {
	read := func() (*secret.Bytes, error) { return readLine(env.Stdin) }
	if isTerminalInput(env) {
		fd := int(env.Stdin.(*os.File).Fd())
		before, err := term.GetState(fd)
		if err != nil {
			return nil, fmt.Errorf("read from terminal: %w", err)
		}
		defer fmt.Fprintln(env.Stderr)
		defer term.Restore(fd, before)
		fmt.Fprint(env.Stderr, prompt)
		read = func() (*secret.Bytes, error) {
			b, err := term.ReadPassword(fd)
			if err != nil {
				return nil, fmt.Errorf("read from terminal: %w", err)
			}
			return secret.From(b)
		}
	}
	type answer struct {
		secret *secret.Bytes
		err    error
	}
	got := make(chan answer, 1)
	go func() {
		s, err := read()
		got <- answer{s, err}
	}()
	select {
	case a := <-got:
		return a.secret, a.err
	case <-ctx.Done():
		return nil, ctx.Err() // the reader stays behind; the program is about to end
	}
}

// askPassphrase reads a passphrase, a new one twice if there is a terminal.
func askPassphrase(ctx context.Context, env *Env, isNew bool) (*secret.Bytes, error) {
	if !isNew || !isTerminalInput(env) {
		return ask(ctx, env, "Passphrase: ")
	}
	first, err := ask(ctx, env, "New passphrase: ")
	if err != nil {
		return nil, err
	}
	again, err := ask(ctx, env, "Again: ")
	if err != nil {
		first.Close()
		return nil, err
	}
	defer again.Close()
	if !first.Equal(again) {
		first.Close()
		return nil, usagef("read passphrase", "nothing was changed; try again", "the two are not the same")
	}
	return first, nil
}

// readLine reads a line, byte by byte, so that the next reader gets the next.
func readLine(r io.Reader) (*secret.Bytes, error) {
	var line []byte
	defer func() { clear(line[:cap(line)]) }()
	line = make([]byte, 0, 4096)
	for one := make([]byte, 1); len(line) < cap(line); {
		n, err := r.Read(one)
		if n == 1 && one[0] != '\n' {
			line = append(line, one[0])
			continue
		}
		if n == 1 || err == io.EOF && len(line) > 0 {
			return secret.From(line)
		}
		if err == io.EOF {
			return nil, &Error{Code: ExitKey, Op: "read secret", Err: errors.New("standard input is at its end"),
				Hint: "give it as a line of standard input, or on a terminal"}
		}
		if err != nil {
			return nil, fmt.Errorf("read secret: %w", err)
		}
	}
	return nil, usagef("read secret", "give it in one line", "a line of %d bytes or more", cap(line))
}
