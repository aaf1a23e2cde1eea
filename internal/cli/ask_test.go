package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestAskEndsWithContext interrupts a question that nobody answers.
func TestAskEndsWithContext(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := askPassphrase(ctx, &Env{Stdin: in, Stderr: io.Discard}, true); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestAskTakesLines asks twice: each question takes a line and no more.
func TestAskTakesLines(t *testing.T) {
	env := &Env{Stdin: strings.NewReader("first\nsecond"), Stderr: io.Discard}
	for _, want := range []string{"first", "second"} {
		got, err := ask(t.Context(), env, "")
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Reveal()) != want {
			t.Errorf("got %q, want %q", got.Reveal(), want)
		}
		got.Close()
	}
	if _, err := ask(t.Context(), env, ""); exitOf(err) != ExitKey {
		t.Errorf("at the end: error %v, want exit code %d", err, ExitKey)
	}
}

func exitOf(err error) int {
	code, _ := exitCode(err)
	return code
}
