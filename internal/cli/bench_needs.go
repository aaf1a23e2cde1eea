package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
)

// serverFiles is what a server keeps beside its data: logs, system tables,
// temporary files.
const serverFiles = 300 << 20

// needs estimates the disk space, in bytes, that a study takes at its peak: every
// original and its encrypted twins, and the copies at work.
func needs(d *study.Definition) int64 {
	nodes, twins := int64(1), int64(0)
	if d.Engine == target.Galera {
		nodes = int64(galera.nodes)
	}
	for _, v := range d.Arms() {
		if v == "tde" || v == "native" {
			twins++
		}
	}
	files := int64(serverFiles)
	if d.Engine == "sqlite" {
		files = 0
	}
	var sum, largest int64
	for _, size := range d.DataBytes() {
		size += files
		sum += size * (1 + twins)
		largest = max(largest, size)
	}
	return sum + 2*nodes*largest
}

// announce says what a run is going to take and refuses one for which there is
// no room in dir, where it is now.
func (o *benchRun) announce(w io.Writer, d *study.Definition) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(o.out, &fs); err != nil {
		return fmt.Errorf("look for room: %w", err)
	}
	need, room := needs(d), int64(fs.Bavail)*fs.Bsize
	used := treeSize(filepath.Join(o.out, dataName)) // of an interrupted run
	if need > room+used {
		return &Error{Code: ExitMissing, Op: "run study " + d.Name,
			Err:  fmt.Errorf("it needs about %s of disk at its peak, and %s has %s", gigabytes(need), o.out, gigabytes(room+used)),
			Hint: "name a directory with more room with --out, or a smaller run: --quick, --workloads, --variants"}
	}
	if d.Engine != "sqlite" {
		fmt.Fprintf(w, "%s: about %s and at most %s of disk in %s, which has %s; interrupted, it goes on with: %s --out %s\n",
			d.Name, roughly(d.Budget.Default), gigabytes(need), shellWord(o.out), gigabytes(room+used), o.again, shellWord(o.out))
		announceTimes(w, d.Outline())
	}
	return nil
}

// announceTimes says what time there is for a comparison, and whether that is too little.
func announceTimes(w io.Writer, p study.Outline) {
	text := fmt.Sprintf("%d comparisons, of about %s each", p.Comparisons, roughly(p.Each))
	if p.Headline > 0 && p.Headline != p.Each {
		text += fmt.Sprintf(", the headline's first and of about %s", roughly(p.Headline))
	}
	fmt.Fprintln(w, text)
	if p.Thin {
		fmt.Fprintln(w, "that is too short for narrow intervals, and the run may take longer; compare less: --quick with --budget, --workloads, --threads or --variants")
	}
}

// roughly writes a time as people say it.
func roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

func gigabytes(n int64) string { return fmt.Sprintf("%.1f GB", float64(n)/1e9) }
