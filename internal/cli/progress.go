package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A progress shows how far a long job is: a bar that redraws itself on a
// terminal, a plain line now and then elsewhere. It is not safe for
// concurrent use.
type progress struct {
	w        io.Writer
	terminal bool
	started  time.Time
	shown    time.Time
	ended    bool // the whole job was shown done
	width    int  // of the line on the terminal, in characters
	now      func() time.Time
	columns  func() int // of the terminal, at this moment
}

// How often a line is drawn.
const (
	redrawEvery = 200 * time.Millisecond
	lineEvery   = 10 * time.Second
)

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, terminal: isTerminal(w), now: time.Now, columns: func() int { return terminalWidth(w) }}
	p.started = p.now()
	return p
}

// isTerminal reports whether w is a terminal that can redraw a line.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}

// update shows that fraction of the job (0 to 1, negative if nobody knows) is
// done. label says what is going on; detail, which may be empty, how it goes.
func (p *progress) update(fraction float64, label, detail string) {
	now := p.now()
	every := lineEvery
	if p.terminal {
		every = redrawEvery
	}
	ended := fraction >= 1 && !p.ended // which is shown once, whatever was shown when
	if now.Sub(p.shown) < every && !ended {
		return
	}
	p.shown, p.ended = now, p.ended || ended
	p.draw(fraction, label, detail)
}

func (p *progress) draw(fraction float64, label, detail string) {
	known := fraction >= 0
	fraction = min(max(fraction, 0), 1)
	line := label
	if known {
		line = fmt.Sprintf("%3.0f %%  %s", fraction*100, label)
	}
	if eta := p.eta(fraction); eta > 0 {
		line += fmt.Sprintf("  %s to go", eta)
	}
	if detail != "" {
		line += "  " + detail
	}
	if !p.terminal {
		fmt.Fprintln(p.w, line)
		return
	}
	// A line as wide as the terminal, or wider, would begin a new one: the next
	// would then be drawn below it and not over it.
	room := max(p.columns()-1, 0)
	if bar := bar(fraction); known && len([]rune(bar+line)) <= room {
		line = bar + line
	}
	text := []rune(line)
	text = text[:min(len(text), room)]
	fmt.Fprint(p.w, "\r", string(text), strings.Repeat(" ", max(min(p.width, room)-len(text), 0)))
	p.width = len(text)
}

// bar draws fraction, with a blank behind it.
func bar(fraction float64) string {
	const cells = 24
	full := int(fraction * cells)
	return "[" + strings.Repeat("█", full) + strings.Repeat("░", cells-full) + "] "
}

// eta extrapolates the time to go from what is done.
func (p *progress) eta(fraction float64) time.Duration {
	spent := p.now().Sub(p.started)
	if fraction < 0.01 || spent < time.Second {
		return 0
	}
	return (time.Duration(float64(spent)/fraction) - spent).Round(time.Second)
}

// clear wipes the bar so that other text can be written.
func (p *progress) clear() {
	if p.terminal && p.width > 0 {
		fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.width), "\r")
		p.width = 0
	}
}
