package fuse

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A home keeps this program on one CPU: that which the disk interrupts when it
// has done something, where it is one. There a wait for the disk ends without
// another CPU being woken, and the scheduler, which puts a client next to whoever
// woke it only if it finds no better place, leaves the other CPUs to the clients.
// While the program needs most of a CPU, to move much data, it runs wherever
// there is room.
//
// All threads are bound, not the loops' alone: goroutines that are not tied to
// threads go on without help from another thread after an interruption.
type home struct {
	find func() (cpu int, ok bool)
	all  unix.CPUSet // where the threads may run

	cpu  int // -1 if none
	away bool
}

const (
	// glance is how often a home looks whether there is too much to do.
	glance = 500 * time.Millisecond
	// glances is after how many of them it looks where the interrupt goes.
	glances = 20
	// full and slack are the shares of a CPU from which on the program leaves
	// home, and below which it returns.
	full, slack = 0.8, 0.5
)

// newHome returns nil where threads are not to be bound: there is no such CPU, or
// whoever started the process has chosen its CPUs.
func newHome(find func() (cpu int, ok bool)) *home {
	h := &home{find: find, cpu: -1}
	if find == nil || unix.SchedGetaffinity(0, &h.all) != nil || h.all.Count() < max(2, onlineCPUs()) {
		return nil
	}
	if h.look(); h.cpu < 0 {
		return nil
	}
	return h
}

// look asks where the home is, and goes there.
func (h *home) look() {
	if cpu, ok := h.find(); ok {
		h.cpu = cpu
		h.bind()
	}
}

// judge has the program leave home or return. used is what it took of a CPU
// lately, as a share of one.
func (h *home) judge(used float64) {
	away := used > full || h.away && used > slack
	if away != h.away {
		h.away = away
		h.bind()
	}
}

// bind lets the threads run where they are to, and those that they start. It is
// an improvement, no need: a thread that may not go there runs where it did.
func (h *home) bind() {
	set := h.all
	if !h.away {
		set.Zero()
		set.Set(h.cpu)
	}
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			unix.SchedSetaffinity(id, &set)
		}
	}
}

// keep looks after the home until done is closed, and leaves it then.
func (h *home) keep(done <-chan struct{}) {
	defer func() {
		h.away = true
		h.bind()
	}()
	t := time.NewTicker(glance)
	defer t.Stop()
	last, then := processorTime(), time.Now()
	for i := 1; ; i++ {
		select {
		case <-t.C:
		case <-done:
			return
		}
		used, now := processorTime(), time.Now()
		h.judge(float64(used-last) / float64(now.Sub(then)))
		last, then = used, now
		if i%glances == 0 {
			h.look()
		}
	}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
