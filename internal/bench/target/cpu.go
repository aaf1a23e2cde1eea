package target

import (
	"bytes"
	"fmt"
	"os"
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
func TreeCPU(pid int) (float64, error) {
	root, err := processCPU(pid)
	if err != nil {
		return 0, err
	}
	sum := root
	for _, child := range treePIDs(pid) {
		if child == pid {
			continue
		}
		if s, err := processCPU(child); err == nil { // it may have ended since
			sum += s
		}
	}
	return sum, nil
}

// processCPU reads the process's CPU-time clock, whose identifier the kernel
// derives from the process number (clock_getcpuclockid(3)), and adds the time
// of ended children.
func processCPU(pid int) (float64, error) {
	st, err := readStat(pid)
	if err != nil {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, err)
	}
	const schedClock = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|schedClock, &ts); err != nil {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, err)
	}
	return float64(ts.Nano())/1e9 + float64(st.childrenTicks)/ticksPerSecond, nil
}

// treePIDs is pid and every living process below it, parents first.
func treePIDs(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return []int{pid}
	}
	children := map[int][]int{}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, err := readStat(n); err == nil {
			children[st.ppid] = append(children[st.ppid], n)
		}
	}
	tree := []int{pid}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree
}
