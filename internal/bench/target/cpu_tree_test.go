package target

import (
	"io"
	"os/exec"
	"testing"
)

// The time of a child must be in the sum at every moment: while it lives, while
// it ends, and when it has been waited for.
func TestTreeCPUNeverFalls(t *testing.T) {
	cmd := exec.Command("sh", "-c", `
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			(n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done)
		done
		exec >&-; read wait`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	burnt := make(chan struct{})
	go func() { io.Copy(io.Discard, out); close(burnt) }()

	// A child counts to the nanosecond while it lives and in whole ticks, user
	// and system, afterwards.
	const rounding = 2.0 / ticksPerSecond
	last := 0.0
	for reads, done := 0, false; !done; reads++ {
		select {
		case <-burnt:
			done = true
		default:
		}
		sum, err := TreeCPU(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if sum < last-rounding {
			t.Fatalf("reading %d: CPU time fell from %v to %v", reads, last, sum)
		}
		last = max(last, sum)
	}
	if last < 0.1 {
		t.Errorf("the children's time is not in the sum: %v", last)
	}
}
