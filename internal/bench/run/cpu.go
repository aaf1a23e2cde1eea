package run

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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

// ProcessTreeCPU is the processor time, in seconds, that the processes with
// these ids and all their living descendants have used, together with the
// children they have waited for. A process that has ended counts no more, so
// take differences only while the roots live. Linux only; a root that does not
// exist is an error.
func ProcessTreeCPU(pids ...int) (float64, error) {
	procs, err := readProcesses()
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	children := map[int][]int{}
	for pid, p := range procs {
		children[p.parent] = append(children[p.parent], pid)
	}
	var ticks uint64
	seen := map[int]bool{}
	var walk func(pid int)
	walk = func(pid int) {
		if seen[pid] {
			return
		}
		seen[pid] = true
		ticks += procs[pid].ticks
		for _, c := range children[pid] {
			walk(c)
		}
	}
	for _, pid := range pids {
		if _, ok := procs[pid]; !ok {
			return 0, fmt.Errorf("read processor time: no process %d", pid)
		}
		walk(pid)
	}
	return float64(ticks) / userHz, nil
}

// userHz is the unit of processor time in /proc, the same on all Linux
// architectures Go runs on.
const userHz = 100

type process struct {
	parent int
	ticks  uint64
}

func readProcesses() (map[int]process, error) {
	dir, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	procs := map[int]process{}
	for _, e := range dir {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it ended meanwhile
		}
		if err != nil {
			return nil, err
		}
		p, err := parseProcess(stat)
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, err)
		}
		procs[pid] = p
	}
	return procs, nil
}

// parseProcess reads parent, utime, stime, cutime and cstime (fields 4 and 14
// to 17 of /proc/PID/stat). The name before them may hold anything, so fields
// are counted from its closing parenthesis.
func parseProcess(stat []byte) (process, error) {
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 15 {
		return process{}, errors.New("short stat line")
	}
	parent, err := strconv.Atoi(f[1])
	if err != nil {
		return process{}, fmt.Errorf("parent: %w", err)
	}
	p := process{parent: parent}
	for _, s := range f[11:15] {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return process{}, fmt.Errorf("processor time: %w", err)
		}
		p.ticks += uint64(max(n, 0))
	}
	return p, nil
}

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
