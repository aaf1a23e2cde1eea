package fuse

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// InterruptedCPU returns the CPU that the disk of a file system interrupts, dev
// being the device number of its files. It is not known, or there is none, where
// the disk has several queues, each with a CPU of its own, or where there is
// more below the file system than a disk.
func InterruptedCPU(dev uint64) (cpu int, ok bool) { return interruptedCPU("/", dev) }

// interruptedCPU is InterruptedCPU with /proc and /sys below root.
func interruptedCPU(root string, dev uint64) (int, bool) {
	block := filepath.Join(root, "sys/dev/block", strconv.Itoa(int(unix.Major(dev)))+":"+strconv.Itoa(int(unix.Minor(dev))))
	block, err := filepath.EvalSymlinks(block)
	if err != nil {
		return 0, false
	}
	if _, err := os.Stat(filepath.Join(block, "partition")); err == nil {
		block = filepath.Dir(block)
	}
	if queues, err := os.ReadDir(filepath.Join(block, "mq")); err != nil || len(queues) != 1 {
		return 0, false
	}
	irq, ok := busiest(root, interruptsOf(filepath.Dir(block)))
	if !ok {
		return 0, false
	}
	b, err := os.ReadFile(filepath.Join(root, "proc/irq", irq, "effective_affinity_list"))
	if err != nil {
		return 0, false
	}
	cpu, err := strconv.Atoi(strings.TrimSpace(string(b))) // not a list of several
	return cpu, err == nil
}

// interruptsOf returns the numbers of the interrupts of the bus device to which
// dir, below a directory of devices, belongs.
func interruptsOf(dir string) []string {
	for ; filepath.Base(dir) != "devices" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if entries, err := os.ReadDir(filepath.Join(dir, "msi_irqs")); err == nil && len(entries) > 0 {
			var irqs []string
			for _, e := range entries {
				irqs = append(irqs, e.Name())
			}
			return irqs
		}
		if b, err := os.ReadFile(filepath.Join(dir, "irq")); err == nil {
			return []string{strings.TrimSpace(string(b))}
		}
	}
	return nil
}

// busiest returns the interrupt that was raised most often: devices have others,
// for changes of their configuration.
func busiest(root string, irqs []string) (string, bool) {
	b, err := os.ReadFile(filepath.Join(root, "proc/interrupts"))
	if err != nil {
		return "", false
	}
	counts := map[string]uint64{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 || !strings.HasSuffix(f[0], ":") {
			continue
		}
		for _, field := range f[1:] {
			n, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				break
			}
			counts[strings.TrimSuffix(f[0], ":")] += n
		}
	}
	best, most := "", uint64(0)
	for _, irq := range irqs {
		if n := counts[irq]; n > most {
			best, most = irq, n
		}
	}
	return best, best != ""
}

// onlineCPUs returns how many CPUs the system uses.
func onlineCPUs() int {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return 0
	}
	n := 0
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.Atoi(first)
		z, err2 := strconv.Atoi(last)
		if err1 == nil && err2 == nil {
			n += z - a + 1
		}
	}
	return n
}
