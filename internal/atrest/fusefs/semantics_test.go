//go:build linux

package fusefs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSemantics does on a mount, and on the file system below it, what programs
// expect to work, or to fail, and compares what they see.
func TestSemantics(t *testing.T) {
	t.Run("names=plain", func(t *testing.T) { semantics(t, serveConfig{Key: 1}) })
	t.Run("cache=back", func(t *testing.T) { semantics(t, serveConfig{Key: 1, WriteBack: true}) })
	t.Run("names=encrypted", func(t *testing.T) { semantics(t, serveConfig{Key: 1, HideNames: true}) })
}

func semantics(t *testing.T, c serveConfig) {
	m := mountTest(t, c)
	plain := tempDir(t)
	for _, c := range []struct {
		name string
		do   func(dir string) (string, error)
	}{
		{"modes", semModes}, {"setgid directory", semSetgid}, {"sticky directory", semSticky}, {"set-user-id is cleared by a write", semKillSuid},
		{"access of others", semOthers}, {"owners", semOwners}, {"times", semTimes},
		{"rename without replacing", semRenameNoReplace}, {"rename exchange", semRenameExchange}, {"rename over", semRenameOver},
		{"rename directories", semRenameDirs}, {"hard links", semLinks}, {"symbolic links", semSymlinks},
		{"unlink while open", semUnlinkOpen}, {"truncate while open and unlinked", semTruncateUnlinked}, {"unnamed file", semTmpfile},
		{"exclusive create", semExclusive}, {"append of two handles", semAppend}, {"long names", semLongNames},
		{"remove", semRemove}, {"sync directories", semSyncDir}, {"special files", semSpecial}, {"socket", semSocket},
		{"extended attributes", semXattr}, {"record locks", semLocks}, {"open flags", semOpenFlags}, {"errors", semErrors},
		{"large offset", semLargeOffset}, {"many entries", semManyEntries}, {"seek in a directory", semDirSeek},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(base string) string {
				dir := filepath.Join(base, "d")
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(dir)
				got, err := c.do(dir)
				if err != nil {
					got += " error: " + err.Error()
				}
				return got
			}
			want := run(plain)
			if got := run(m.dir); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// asUser runs f with the rights of a user of no groups but gid.
func asUser(uid, gid int, f func() error) error {
	done := make(chan error)
	go func() { // the thread ends with the goroutine, which keeps it
		runtime.LockOSThread()
		_, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0)
		if e == 0 {
			_, _, e = unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid))
		}
		if e == 0 {
			_, _, e = unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid))
		}
		if e != 0 {
			done <- fmt.Errorf("change user (the tests of the mount need root): %w", e)
			return
		}
		done <- f()
	}()
	return <-done
}

// look says of a file what does not differ from one file system to the next.
func look(path string) string {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return err.Error()
	}
	size := st.Size
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		size = 0
	}
	return fmt.Sprintf("[%o %d:%d links %d size %d]", st.Mode, st.Uid, st.Gid, st.Nlink, size)
}

func semModes(dir string) (s string, err error) {
	for _, mode := range []uint32{0o000, 0o400, 0o644, 0o777, 0o1755, 0o2755, 0o4755, 0o6711} {
		path := filepath.Join(dir, fmt.Sprintf("%o", mode))
		fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR, mode)
		if err != nil {
			return s, err
		}
		_, err = unix.Write(fd, []byte("x")) // also where the mode would not let it be opened so
		unix.Close(fd)
		s += look(path)
		err = errors.Join(err, unix.Chmod(path, mode^0o111))
		s += look(path)
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func semSetgid(dir string) (string, error) {
	if err := errors.Join(os.Chown(dir, 0, 1234), unix.Chmod(dir, 0o2777)); err != nil {
		return "", err
	}
	f, d := filepath.Join(dir, "f"), filepath.Join(dir, "sub")
	err := asUser(1000, 1000, func() error {
		return errors.Join(os.WriteFile(f, nil, 0o640), os.Mkdir(d, 0o750), os.Symlink("x", filepath.Join(dir, "l")))
	})
	return look(f) + look(d) + look(filepath.Join(dir, "l")), err
}

func semSticky(dir string) (string, error) {
	f := filepath.Join(dir, "f")
	if err := errors.Join(unix.Chmod(dir, 0o1777), os.WriteFile(f, nil, 0o666)); err != nil {
		return "", err
	}
	return "", asUser(1000, 1000, func() error { return errors.Unwrap(os.Remove(f)) })
}

func semKillSuid(dir string) (string, error) {
	f := filepath.Join(dir, "f")
	if err := errors.Join(os.WriteFile(f, []byte("abc"), 0o666), unix.Chmod(f, 0o6777)); err != nil {
		return "", err
	}
	err := asUser(1000, 1000, func() error {
		fd, err := unix.Open(f, unix.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, err = unix.Pwrite(fd, []byte("x"), 0)
		return err
	})
	s := look(f)
	err = errors.Join(err, unix.Chmod(f, 0o6777))
	err = errors.Join(err, asUser(1000, 1000, func() error { return unix.Truncate(f, 1) }))
	return s + look(f), err
}

func semOthers(dir string) (s string, err error) {
	f := filepath.Join(dir, "f")
	if err := os.WriteFile(f, []byte("abc"), 0o640); err != nil {
		return "", err
	}
	try := func(what string, err error) {
		for u := errors.Unwrap(err); u != nil; u = errors.Unwrap(err) {
			err = u
		}
		s += fmt.Sprintf(" %s: %v", what, err)
	}
	err = asUser(1000, 1000, func() error {
		_, err := os.ReadFile(f)
		try("read", err)
		try("write", os.WriteFile(f, nil, 0))
		try("create", os.WriteFile(filepath.Join(dir, "g"), nil, 0o600))
		try("mkdir", os.Mkdir(filepath.Join(dir, "e"), 0o700))
		try("remove", os.Remove(f))
		try("chmod", os.Chmod(f, 0o777))
		try("chown", os.Chown(f, 1000, 1000))
		try("truncate", os.Truncate(f, 0))
		try("utimes", os.Chtimes(f, time.Now(), time.Now()))
		return nil
	})
	return s, err
}

func semOwners(dir string) (s string, err error) {
	if err := unix.Chmod(dir, 0o777); err != nil {
		return "", err
	}
	f, d, fifo := filepath.Join(dir, "f"), filepath.Join(dir, "e"), filepath.Join(dir, "p")
	err = asUser(1000, 1001, func() error {
		return errors.Join(os.WriteFile(f, []byte("x"), 0o600), os.Mkdir(d, 0o700), unix.Mkfifo(fifo, 0o600),
			os.Symlink("x", filepath.Join(dir, "l")), unix.Chmod(f, 0o640))
	})
	s = look(f) + look(d) + look(fifo) + look(filepath.Join(dir, "l"))
	err = errors.Join(err, os.Chown(f, 7, 8), os.Lchown(filepath.Join(dir, "l"), 9, 10))
	return s + look(f) + look(filepath.Join(dir, "l")), err
}

func semTimes(dir string) (string, error) {
	f, l := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	if err := errors.Join(os.WriteFile(f, nil, 0o600), os.Symlink("f", l)); err != nil {
		return "", err
	}
	ts := []unix.Timespec{{Sec: 1, Nsec: 123456789}, {Sec: 1 << 33, Nsec: 987654321}}
	err := errors.Join(unix.UtimesNanoAt(unix.AT_FDCWD, f, ts, 0), unix.UtimesNanoAt(unix.AT_FDCWD, l, ts[:2], unix.AT_SYMLINK_NOFOLLOW))
	s := ""
	for _, p := range []string{f, l} {
		var st unix.Stat_t
		err = errors.Join(err, unix.Lstat(p, &st))
		s += fmt.Sprint(st.Atim, st.Mtim)
	}
	ts[0].Nsec = unix.UTIME_OMIT
	ts[1].Nsec = unix.UTIME_NOW
	err = errors.Join(err, unix.UtimesNanoAt(unix.AT_FDCWD, f, ts, 0))
	var st unix.Stat_t
	err = errors.Join(err, unix.Lstat(f, &st))
	return s + fmt.Sprint(st.Atim, time.Since(time.Unix(st.Mtim.Unix())) < time.Hour), err
}

func put(path, content string) error { return os.WriteFile(path, []byte(content), 0o600) }

func get(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "(" + errors.Unwrap(err).Error() + ")"
	}
	return string(b)
}

func semRenameNoReplace(dir string) (string, error) {
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	if err := errors.Join(put(a, "a"), put(b, "b")); err != nil {
		return "", err
	}
	e1 := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_NOREPLACE)
	e2 := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, c, unix.RENAME_NOREPLACE)
	return fmt.Sprint(e1, e2, get(a), get(b), get(c)), nil
}

func semRenameExchange(dir string) (string, error) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(put(a, "a"), put(b, "bb")); err != nil {
		return "", err
	}
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	return get(a) + get(b) + look(a) + look(b), err
}

func semRenameOver(dir string) (string, error) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(put(a, "a"), put(b, "bb")); err != nil {
		return "", err
	}
	old, err := os.Open(b)
	if err != nil {
		return "", err
	}
	defer old.Close()
	err = os.Rename(a, b)
	var st unix.Stat_t
	serr := unix.Fstat(int(old.Fd()), &st)
	buf := make([]byte, 9)
	n, _ := old.Read(buf)
	return fmt.Sprint(get(a), get(b), st.Nlink, string(buf[:n])), errors.Join(err, serr)
}

func semRenameDirs(dir string) (string, error) {
	p := func(s string) string { return filepath.Join(dir, s) }
	if err := errors.Join(os.MkdirAll(p("a/b"), 0o755), os.Mkdir(p("e"), 0o755), put(p("a/b/f"), "f"), put(p("g"), "g")); err != nil {
		return "", err
	}
	s := fmt.Sprint(unix.Rename(p("a"), p("a/b/c")), unix.Rename(p("e"), p("a")), unix.Rename(p("g"), p("e")), unix.Rename(p("e"), p("g")))
	err := unix.Rename(p("a/b"), p("e"))
	return s + get(p("e/f")) + look(p("e")) + look(p("a")), err
}

func semLinks(dir string) (string, error) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	err := errors.Join(put(a, "a"), os.Link(a, b), put(b, "written by the other name"))
	s := get(a) + look(a) + look(b)
	err = errors.Join(err, os.Remove(a))
	s += get(b) + look(b)
	fa, fb := os.Symlink("b", filepath.Join(dir, "l")), os.Link(filepath.Join(dir, "l"), filepath.Join(dir, "ll"))
	return s + look(filepath.Join(dir, "ll")), errors.Join(err, fa, fb)
}

func semSymlinks(dir string) (string, error) {
	p := func(s string) string { return filepath.Join(dir, s) }
	err := errors.Join(os.Mkdir(p("e"), 0o755), put(p("e/f"), "f"), os.Symlink("e", p("l")), os.Symlink("/nowhere/at all", p("dangling")), os.Symlink("loop", p("loop")))
	target, lerr := os.Readlink(p("dangling"))
	_, loop := os.Stat(p("loop"))
	_, nofollow := unix.Open(p("l"), unix.O_NOFOLLOW, 0)
	return get(p("l/f")) + target + fmt.Sprint(errors.Unwrap(loop), nofollow) + look(p("dangling")), errors.Join(err, lerr)
}

func semUnlinkOpen(dir string) (string, error) {
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, w1 := f.WriteString("before ")
	rerr := os.Remove(f.Name())
	_, w2 := f.WriteString("after")
	buf := make([]byte, 20)
	n, _ := f.ReadAt(buf, 0)
	var st unix.Stat_t
	serr := unix.Fstat(int(f.Fd()), &st)
	again := put(f.Name(), "another")
	n2, _ := f.ReadAt(buf[n:], 0)
	return fmt.Sprint(string(buf[:n+n2]), st.Nlink, st.Size, get(f.Name())), errors.Join(w1, rerr, w2, serr, again, f.Sync(), f.Chmod(0o640))
}

func semTruncateUnlinked(dir string) (string, error) {
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, w := f.WriteString("0123456789")
	err = errors.Join(w, os.Remove(f.Name()), f.Truncate(3), f.Truncate(6), unix.Fallocate(int(f.Fd()), 0, 0, 9))
	buf := make([]byte, 20)
	n, _ := f.ReadAt(buf, 0)
	return fmt.Sprintf("%q", buf[:n]), err
}

func semTmpfile(dir string) (string, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR, 0o640)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	_, w := unix.Write(fd, []byte("content"))
	path := filepath.Join(dir, "named")
	l := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	return get(path) + look(path), errors.Join(w, l)
}

func semExclusive(dir string) (string, error) {
	p := filepath.Join(dir, "f")
	fd, e1 := unix.Open(p, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600)
	unix.Close(fd)
	_, e2 := unix.Open(p, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600)
	_, e3 := unix.Open(p+"/x", unix.O_CREAT|unix.O_WRONLY, 0o600)
	_, e4 := unix.Open(dir, unix.O_CREAT|unix.O_WRONLY, 0o600)
	return fmt.Sprint(e1, e2, e3, e4), nil
}

func semAppend(dir string) (string, error) {
	p := filepath.Join(dir, "f")
	var files [2]*os.File
	for i := range files {
		var err error
		if files[i], err = os.OpenFile(p, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
			return "", err
		}
		defer files[i].Close()
	}
	for i := range 7 {
		if _, err := fmt.Fprintf(files[i%2], "line %d of %d;", i, i%2); err != nil {
			return "", err
		}
	}
	return get(p), nil
}

func semLongNames(dir string) (string, error) {
	name := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'x'
		}
		return string(b)
	}
	ok, long := put(filepath.Join(dir, name(255)), "x"), put(filepath.Join(dir, name(256)), "x")
	utf := put(filepath.Join(dir, "größe \xff\n"), "bytes")
	return get(filepath.Join(dir, "größe \xff\n")) + fmt.Sprint(errors.Unwrap(long)), errors.Join(ok, utf)
}

func semRemove(dir string) (string, error) {
	p := func(s string) string { return filepath.Join(dir, s) }
	err := errors.Join(os.MkdirAll(p("a/b"), 0o755), put(p("f"), "f"))
	return fmt.Sprint(unix.Rmdir(p("a")), unix.Unlink(p("a")), unix.Rmdir(p("f")), unix.Rmdir(p("a/b")), unix.Rmdir(p("a")), unix.Unlink(p("none"))), err
}

func semSyncDir(dir string) (string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return "", err
	}
	defer d.Close()
	ro, err := os.OpenFile(filepath.Join(dir, "f"), os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer ro.Close()
	return "", errors.Join(d.Sync(), unix.Fdatasync(int(d.Fd())), ro.Sync())
}

func semSpecial(dir string) (string, error) {
	p := func(s string) string { return filepath.Join(dir, s) }
	err := errors.Join(unix.Mkfifo(p("fifo"), 0o640), unix.Mknod(p("reg"), unix.S_IFREG|0o600, 0), put(p("reg"), "content"))
	var st unix.Stat_t
	err = errors.Join(err, unix.Mknod(p("dev"), unix.S_IFCHR|0o600, int(unix.Mkdev(300, 70000))), unix.Stat(p("dev"), &st))
	r, rerr := unix.Open(p("fifo"), unix.O_RDWR|unix.O_NONBLOCK, 0)
	buf := make([]byte, 5)
	_, werr := unix.Write(r, []byte("hello"))
	n, _ := unix.Read(r, buf)
	unix.Close(r)
	return look(p("fifo")) + get(p("reg")) + fmt.Sprint(unix.Major(st.Rdev), unix.Minor(st.Rdev)) + string(buf[:n]), errors.Join(err, rerr, werr)
}

func semSocket(dir string) (string, error) {
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		return "", err
	}
	defer l.Close()
	c, err := net.Dial("unix", path)
	if err != nil {
		return "", err
	}
	c.Close()
	var st unix.Stat_t
	return fmt.Sprintf("%o", st.Mode&unix.S_IFMT), unix.Lstat(path, &st)
}

func semXattr(dir string) (string, error) {
	f := filepath.Join(dir, "f")
	buf := make([]byte, 100)
	err := errors.Join(put(f, "f"), unix.Setxattr(f, "user.a", []byte("value"), unix.XATTR_CREATE))
	exists := unix.Setxattr(f, "user.a", []byte("x"), unix.XATTR_CREATE)
	n, gerr := unix.Getxattr(f, "user.a", buf)
	size, serr := unix.Getxattr(f, "user.a", nil)
	_, small := unix.Getxattr(f, "user.a", buf[:2])
	k, lerr := unix.Listxattr(f, buf[50:])
	rerr := unix.Removexattr(f, "user.a")
	_, gone := unix.Getxattr(f, "user.a", buf[90:])
	return fmt.Sprint(exists, string(buf[:n]), size, small, string(buf[50:50+k]), gone), errors.Join(err, gerr, serr, lerr, rerr)
}

func semLocks(dir string) (string, error) {
	f := filepath.Join(dir, "f")
	a, err := os.OpenFile(f, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer a.Close()
	b, err := os.OpenFile(f, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer b.Close()
	ofd := func(f *os.File, kind int16, start int64) error {
		return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: start, Len: 10})
	}
	s := fmt.Sprint(ofd(a, unix.F_WRLCK, 0), ofd(b, unix.F_WRLCK, 5), ofd(b, unix.F_WRLCK, 10), ofd(b, unix.F_RDLCK, 9), ofd(a, unix.F_UNLCK, 0), ofd(b, unix.F_RDLCK, 9))
	s += fmt.Sprint(unix.Flock(int(a.Fd()), unix.LOCK_EX), unix.Flock(int(b.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.Flock(int(a.Fd()), unix.LOCK_UN), unix.Flock(int(b.Fd()), unix.LOCK_SH|unix.LOCK_NB))
	return s, nil
}

func semOpenFlags(dir string) (s string, err error) {
	f := filepath.Join(dir, "f")
	for _, flags := range []int{0, unix.O_SYNC, unix.O_DSYNC, unix.O_DIRECT, unix.O_DIRECT | unix.O_DSYNC, unix.O_APPEND, unix.O_NOATIME, unix.O_TRUNC} {
		fd, err := unix.Open(f, unix.O_CREAT|unix.O_RDWR|flags, 0o600)
		if err != nil {
			return s, err
		}
		b := aligned(4096)
		for i := range b {
			b[i] = byte(flags>>8) | 1
		}
		n, werr := unix.Pwrite(fd, b, 0)
		got := aligned(4096)
		k, rerr := unix.Pread(fd, got, 0)
		s += fmt.Sprint(n, k, got[0] == b[0], got[4095] == b[4095], " ")
		unix.Close(fd)
		if err := errors.Join(werr, rerr); err != nil {
			return s, err
		}
	}
	return s + look(f), nil
}

func semErrors(dir string) (string, error) {
	f := filepath.Join(dir, "f")
	if err := put(f, "f"); err != nil {
		return "", err
	}
	ro, err := unix.Open(f, unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(ro)
	_, e1 := unix.Write(ro, []byte("x"))
	e2 := unix.Ftruncate(ro, 0)
	e3 := unix.Fallocate(ro, 0, 0, 10)
	e4 := unix.Truncate(f, -1)
	_, e5 := unix.Pread(ro, make([]byte, 1), -1)
	e6 := unix.Chdir(f)
	_, e7 := unix.Seek(ro, 5, unix.SEEK_DATA)
	_, e8 := unix.Open(dir, unix.O_WRONLY, 0)
	_, e9 := unix.Readlink(f, make([]byte, 9))
	return fmt.Sprint(e1, e2, e3, e4, e5, e6, e7, e8, e9), nil
}

func semLargeOffset(dir string) (string, error) {
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	const off = 5<<30 + 7
	_, err = f.WriteAt([]byte("beyond 4 GiB"), off)
	buf := make([]byte, 20)
	n, _ := f.ReadAt(buf, off-4)
	var st unix.Stat_t
	serr := unix.Fstat(int(f.Fd()), &st)
	return fmt.Sprintf("%q %d %v", buf[:n], st.Size, st.Blocks < 100), errors.Join(err, serr)
}

func semManyEntries(dir string) (string, error) {
	for i := range 2500 {
		if err := unix.Mknod(filepath.Join(dir, fmt.Sprintf("entry-%d-with a longer name", i)), unix.S_IFIFO|0o600, 0); err != nil {
			return "", err
		}
	}
	first, err := os.ReadDir(dir)
	seen := map[string]bool{}
	for _, e := range first {
		seen[e.Name()] = e.Type() == os.ModeNamedPipe
	}
	kinds := 0
	for _, ok := range seen {
		if ok {
			kinds++
		}
	}
	return fmt.Sprint(len(first), len(seen), kinds), errors.Join(err, os.RemoveAll(dir))
}

func semDirSeek(dir string) (string, error) {
	for i := range 40 {
		if err := put(filepath.Join(dir, fmt.Sprint(i)), ""); err != nil {
			return "", err
		}
	}
	d, err := os.Open(dir)
	if err != nil {
		return "", err
	}
	defer d.Close()
	a, e1 := d.Readdirnames(-1)
	if err := put(filepath.Join(dir, "late"), ""); err != nil {
		return "", err
	}
	_, e2 := d.Seek(0, 0)
	b, e3 := d.Readdirnames(-1)
	return fmt.Sprint(len(a), len(b)), errors.Join(e1, e2, e3)
}
