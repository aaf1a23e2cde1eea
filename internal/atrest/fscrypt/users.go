package fscrypt

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A User is a process that has something of an encrypted directory open.
type User struct {
	PID  int
	Name string
	Path string // one of what it has open, as it calls it
}

// Users lists the processes, but this one, that have something open which d's
// key encrypts: files, also by a memory map or as their program, and
// directories. Processes of others can be seen by root only.
func (d *Dir) Users() []User {
	var st unix.Stat_t
	if err := unix.Stat(d.Path, &st); err != nil {
		return nil
	}
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var users []User
	for _, proc := range procs {
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if path, ok := d.usedBy(proc, st.Dev); ok {
			name, _ := os.ReadFile(filepath.Join(proc, "comm"))
			users = append(users, User{pid, strings.TrimSpace(string(name)), path})
		}
	}
	return users
}

// usedBy looks through what the process with that directory in /proc has open.
func (d *Dir) usedBy(proc string, dev uint64) (path string, ok bool) {
	links := []string{filepath.Join(proc, "cwd"), filepath.Join(proc, "root"), filepath.Join(proc, "exe")}
	for _, dir := range []string{"fd", "map_files"} {
		more, _ := filepath.Glob(filepath.Join(proc, dir, "*"))
		links = append(links, more...)
	}
	for _, l := range links {
		if d.encrypts(l, dev) {
			path, _ := os.Readlink(l)
			return path, true
		}
	}
	return "", false
}

// encrypts reports whether what is open behind link of /proc, on the device dev,
// has d's policy. It asks the file itself: names differ between containers.
func (d *Dir) encrypts(link string, dev uint64) bool {
	var st unix.Stat_t
	if err := unix.Stat(link, &st); err != nil || st.Dev != dev {
		return false
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return false
	}
	f, err := os.OpenFile(link, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	p, err := policyOf(f)
	return err == nil && p.KeyID == d.Policy.KeyID
}
