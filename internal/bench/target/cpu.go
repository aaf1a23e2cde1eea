package target

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, the unit of times in /proc/PID/stat; it is 100 on
// every architecture Linux and Go share.
const ticksPerSecond = 100

// A procStat is what we need of /proc/PID/stat; see proc(5).
type procStat struct {
	ppid          int
	state         byte
	childrenTicks uint64 // user and system time of children waited for
	start         uint64 // ticks after boot
}

func readStat(pid int) (procStat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, err
	}
	return parseStat(b)
}

// parseStat reads the fields after the command name, which is in parentheses
// and may itself hold spaces and parentheses.
func parseStat(b []byte) (procStat, error) {
	end := bytes.LastIndexByte(b, ')')
	f := bytes.Fields(b[end+1:])
	if end < 0 || len(f) < 20 || len(f[0]) != 1 {
		return procStat{}, fmt.Errorf("parse process status: %d fields", len(f))
	}
	num := func(i int) uint64 { // i counts from 1 in the whole line, as proc(5) does
		n, _ := strconv.ParseUint(string(f[i-3]), 10, 64)
		return n
	}
	return procStat{
		ppid: int(num(4)), state: f[0][0],
		childrenTicks: num(16) + num(17), start: num(22),
	}, nil
}

// TreeCPU is the processor time in seconds, user and system, that process pid
// and the processes below it have used, those that have ended and been waited
// for included. Living processes count to the nanosecond, ended ones to 10 ms.
// Error: ErrGone if pid has ended.
func TreeCPU(pid int) (float64, error) {
	// The time of a process that ends while the tree is read is neither its
	// own any more nor yet its parent's in what was read, or it is both. So the
	// tree must be the same after the reading as before. One that never stands
	// still is taken as it was read last.
	const tries = 20
	if _, err := readStat(pid); errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, ErrGone)
	} else if err != nil {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, err)
	}
	var sum float64
	before := processTree(pid)
	for range tries {
		var err error
		if sum, err = treeTime(before); err != nil {
			return 0, err
		}
		after := processTree(pid)
		if slices.Equal(before, after) {
			break
		}
		before = after
	}
	return sum, nil
}

// treeTime adds up the time of the processes of a tree and of their ended
// children. Only the first must be alive.
func treeTime(tree []treeProcess) (float64, error) {
	var sum float64
	for i, p := range tree {
		t, err := processCPU(p.pid)
		switch {
		case err == nil:
			sum += t + float64(p.childrenTicks)/ticksPerSecond
		case i == 0:
			return 0, err
		}
	}
	return sum, nil
}

// processCPU reads the process's CPU-time clock, whose identifier the kernel
// derives from the process number (clock_getcpuclockid(3)).
func processCPU(pid int) (float64, error) {
	const schedClock = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|schedClock, &ts); errors.Is(err, unix.EINVAL) {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, ErrGone)
	} else if err != nil {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, err)
	}
	return float64(ts.Nano()) / 1e9, nil
}

// A treeProcess is a process of a tree. Two readings of a tree between which a
// process ended or began differ.
type treeProcess struct {
	pid           int
	childrenTicks uint64
}

// processTree is pid, whether it lives or not, and every living process below
// it, parents first.
func processTree(pid int) []treeProcess {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return []treeProcess{{pid: pid}}
	}
	ticks := map[int]uint64{}
	children := map[int][]int{}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, err := readStat(n); err == nil {
			ticks[n] = st.childrenTicks
			children[st.ppid] = append(children[st.ppid], n)
		}
	}
	tree := []treeProcess{{pid, ticks[pid]}}
	for i := 0; i < len(tree); i++ {
		for _, c := range children[tree[i].pid] {
			tree = append(tree, treeProcess{c, ticks[c]})
		}
	}
	return tree
}

// treePIDs is the processes of processTree.
func treePIDs(pid int) []int {
	var pids []int
	for _, p := range processTree(pid) {
		pids = append(pids, p.pid)
	}
	return pids
}
