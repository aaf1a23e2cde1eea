package run

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/veildb/veildb/internal/bench/result"
)

// SelfCPU is the processor time this process has used, in seconds, its
// garbage collection included.
func SelfCPU() (float64, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read own processor time: %w", err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, nil
}

// EmbeddedCPU accounts for an engine inside this process: everything is the
// engine's.
func EmbeddedCPU() (result.CPU, error) {
	s, err := SelfCPU()
	return result.CPU{Engine: s}, err
}

// userHz is the unit of processor time in /proc, the same on all Linux
// architectures Go runs on.
const userHz = 100

// A clock is the time of the whole machine's processors, in seconds. It is
// zero where /proc/stat does not exist: then no steal or foreign load is seen.
type clock struct{ busy, steal, total float64 }

func readClock() clock {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return clock{}
	}
	return parseClock(b)
}

// parseClock reads the first line of /proc/stat: user, nice, system, idle,
// iowait, irq, softirq, steal; guest time is already in user and nice.
func parseClock(stat []byte) clock {
	line, _, _ := strings.Cut(string(stat), "\n")
	f := strings.Fields(line)
	var c clock
	if len(f) < 9 || f[0] != "cpu" {
		return c
	}
	for i, s := range f[1:9] {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return clock{}
		}
		v := float64(n) / userHz
		c.total += v
		switch i {
		case 3, 4: // idle, waiting for a disk
		case 7:
			c.steal += v
		default:
			c.busy += v
		}
	}
	return c
}

// since returns what share of the machine, in percent, was stolen and was used
// by others than the ours seconds given.
func (c clock) since(before clock, ours float64) (stealPct, foreignPct float64) {
	total := c.total - before.total
	if total <= 0 {
		return 0, 0
	}
	return 100 * (c.steal - before.steal) / total, max(0, 100*(c.busy-before.busy-ours)/total)
}
