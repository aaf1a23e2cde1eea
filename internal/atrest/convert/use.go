package convert

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// checkUse returns ErrInUse if a server runs on the source, as far as this
// process may see: a live process of a pid file, a lock of a file, a file open
// for writing.
func (p *plan) checkUse() error {
	if err := p.checkPIDFiles(); err != nil {
		return err
	}
	if err := p.checkLocks(); err != nil {
		return err
	}
	return p.checkOpenFiles()
}

// checkPIDFiles looks at postmaster.pid and the like in the root.
func (p *plan) checkPIDFiles() error {
	for i := range p.entries {
		e := &p.entries[i]
		if e.kind() != unix.S_IFREG || filepath.Dir(e.path) != "." || filepath.Ext(e.path) != ".pid" || p.from.keys != nil {
			continue
		}
		data, err := os.ReadFile(p.from.path(e.from))
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(data), "\n")
		pid, err := strconv.Atoi(strings.TrimSpace(first))
		if err != nil || pid <= 0 || !p.runsHere(pid) {
			continue
		}
		return fmt.Errorf("%w: process %d%s, says %s", ErrInUse, pid, nameOf(pid), p.from.path(e.from))
	}
	return nil
}

// runsHere reports whether process pid lives and works in the source, as
// servers do; one whose directory is a secret is taken for one that does.
func (p *plan) runsHere(pid int) bool {
	if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
		return false
	}
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/cwd", pid), &st); err != nil {
		return !errors.Is(err, unix.ENOENT)
	}
	return st.Dev == p.entries[0].stat.Dev && st.Ino == p.entries[0].stat.Ino
}

// nameOf returns the name of a process in brackets, or "".
func nameOf(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (%s)", bytes.TrimSpace(name))
}

// checkLocks looks for locks of files of the source in /proc/locks, whose lines
// are "1: POSIX ADVISORY WRITE 4711 fe:00:131090 0 EOF".
func (p *plan) checkLocks() error {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil // hidden here; the open files will tell
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 1 && fields[1] == "->" { // one who waits
			fields = append(fields[:1], fields[2:]...)
		}
		if len(fields) < 6 || fields[1] == "LEASE" || fields[1] == "DELEG" {
			continue
		}
		var major, minor uint32
		var ino uint64
		if _, err := fmt.Sscanf(fields[5], "%x:%x:%d", &major, &minor, &ino); err != nil {
			continue
		}
		i, ok := p.inodes[[2]uint64{unix.Mkdev(major, minor), ino}]
		if !ok {
			continue
		}
		pid, _ := strconv.Atoi(fields[4])
		if pid == os.Getpid() {
			continue
		}
		return fmt.Errorf("%w: process %d%s has a lock of %s", ErrInUse, pid, nameOf(pid), p.from.path(p.entries[i].from))
	}
	return nil
}

// checkOpenFiles looks for a process that has a file of the source open for
// writing.
func (p *plan) checkOpenFiles() error {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	for _, proc := range processes {
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil || pid == os.Getpid() {
			continue
		}
		fds, err := os.ReadDir(proc + "/fd")
		if err != nil {
			continue // another user's, or gone
		}
		for _, fd := range fds {
			if i, ok := p.opened(proc, fd.Name()); ok {
				return fmt.Errorf("%w: process %d%s has %s open for writing", ErrInUse, pid, nameOf(pid), p.from.path(p.entries[i].from))
			}
		}
	}
	return nil
}

// opened returns the entry that descriptor fd of proc is open on for writing.
func (p *plan) opened(proc, fd string) (entry int, ok bool) {
	var st unix.Stat_t
	if err := unix.Stat(proc+"/fd/"+fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, false
	}
	entry, ok = p.inodes[[2]uint64{st.Dev, st.Ino}]
	if !ok {
		return 0, false
	}
	info, err := os.ReadFile(proc + "/fdinfo/" + fd)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(info)) {
		if flags, found := strings.CutPrefix(line, "flags:"); found {
			n, err := strconv.ParseUint(strings.TrimSpace(flags), 8, 64)
			return entry, err == nil && n&unix.O_ACCMODE != unix.O_RDONLY
		}
	}
	return 0, false
}
