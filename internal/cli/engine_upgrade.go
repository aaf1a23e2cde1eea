package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
)

var _ study.Operator = (*serverEngine)(nil)

// Operate upgrades a copy of the dataset's data directory, or copies it, into a
// plain directory or an encrypted one.
func (e *serverEngine) Operate(ctx context.Context, operation, dataset, variant string, verify bool) (_ study.Cost, err error) {
	u := &upgrade{engine: e, dir: filepath.Join(e.dir, "upgrade"), source: filepath.Join(e.dir, dataset, volumeDir, "data")}
	if err := e.remove(u.dir); err != nil {
		return study.Cost{}, err
	}
	if err := os.Mkdir(u.dir, 0o711); err != nil {
		return study.Cost{}, err
	}
	defer func() {
		err = errors.Join(err, u.mount.stop(), e.remove(u.dir))
	}()
	ring, err := throwawayRing(ctx, e.dir)
	if err != nil {
		return study.Cost{}, err
	}
	if err := ring.Close(); err != nil {
		return study.Cost{}, err
	}
	run := u.convert
	if operation == "pg_upgrade" {
		run = u.pgUpgrade
	}
	return run(ctx, variant, verify)
}

// An upgrade is one operation at work.
type upgrade struct {
	engine *serverEngine
	dir    string // its own
	source string // the data directory of a stopped server
	mount  *child // below the new data directory; nil: nothing
}

func (u *upgrade) log() string { return filepath.Join(u.dir, "log") }
func (u *upgrade) key() string { return filepath.Join(u.engine.dir, "keys.json") }

// measure runs "veildb args…" and accounts for it and for the mount.
func (u *upgrade) measure(ctx context.Context, args ...string) (c study.Cost, err error) {
	var before float64
	if u.mount != nil {
		if before, err = target.TreeCPU(u.mount.pid); err != nil {
			return c, err
		}
	}
	if err := syncFilesystem(u.dir); err != nil { // not what others have left to write
		return c, err
	}
	c.Start = time.Now()
	used, err := runChild(ctx, u.log(), args...)
	c.Wall = time.Since(c.Start)
	if err != nil {
		return c, err
	}
	c.CPU = result.CPU{Engine: used.Seconds()}
	if u.mount != nil {
		after, err := target.TreeCPU(u.mount.pid)
		if err != nil {
			return c, err
		}
		c.CPU.Product = after - before
	}
	return c, nil
}

// pgUpgrade makes a new cluster and has pg_upgrade copy the old one into it.
func (u *upgrade) pgUpgrade(ctx context.Context, variant string, verify bool) (c study.Cost, err error) {
	in, err := target.Find(target.Postgres, "")
	if err != nil {
		return c, err
	}
	e := u.engine
	if variant == "tde" {
		if _, err := runChild(ctx, u.log(), "volume", "init", filepath.Join(u.dir, lowerDir), "--key", u.key()); err != nil {
			return c, err
		}
		if u.mount, err = e.mount(ctx, u.dir, true); err != nil {
			return c, err
		}
		if err := os.Chmod(filepath.Join(u.dir, volumeDir), 0o711); err != nil { // the servers' user must pass
			return c, err
		}
	} else if err := os.Mkdir(filepath.Join(u.dir, volumeDir), 0o711); err != nil {
		return c, err
	}
	old, data, work := filepath.Join(u.dir, "old"), filepath.Join(u.dir, volumeDir, "data"), filepath.Join(u.dir, "work")
	if err := copyTree(u.source, old); err != nil {
		return c, err
	}
	var owner []string
	info, err := os.Stat(old)
	if err != nil {
		return c, err
	}
	st := info.Sys().(*syscall.Stat_t)
	for _, dir := range []string{data, work} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Lchown(dir, int(st.Uid), int(st.Gid))); err != nil {
			return c, err
		}
	}
	if os.Geteuid() == 0 {
		owner = []string{"--owner", fmt.Sprintf("%d:%d", st.Uid, st.Gid)}
	}
	reap := func(program string, args ...string) []string {
		// In its own directory: it writes its logs where it is started.
		return append(append(append([]string{"bench", "reap"}, owner...), "env", "-C", work, "LC_ALL=C", filepath.Join(in.BinDir, program)), args...)
	}
	if _, err := runChild(ctx, u.log(), reap("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--encoding=UTF8", "--locale=C", "--no-sync")...); err != nil {
		return c, err
	}
	ports, err := target.FreePorts(2)
	if err != nil {
		return c, err
	}
	c, err = u.measure(ctx, reap("pg_upgrade", "-U", "postgres", "-b", in.BinDir, "-B", in.BinDir, "-d", old, "-D", data,
		"-p", strconv.Itoa(ports[0]), "-P", strconv.Itoa(ports[1]), "-s", work, "-j", "1")...)
	if err != nil || !verify {
		return c, err
	}
	return c, u.compare(&c, old, data)
}

// firstUserFile is the least number that the file of a user's table can have;
// pg_upgrade keeps the numbers, and fills the catalogs anew.
const firstUserFile = 16384

// compare compares the files of users' tables in two data directories.
func (u *upgrade) compare(c *study.Cost, old, data string) error {
	files, size := 0, int64(0)
	c.Equal = true
	err := filepath.WalkDir(filepath.Join(old, "base"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		var number int
		if n, _ := fmt.Sscanf(d.Name(), "%d", &number); n != 1 || number < firstUserFile {
			return nil
		}
		rel, err := filepath.Rel(old, path)
		if err != nil {
			return err
		}
		n, same, err := sameFiles(path, filepath.Join(data, rel))
		if err != nil {
			return err
		}
		files, size, c.Equal = files+1, size+n, c.Equal && same
		return nil
	})
	c.Detail = fmt.Sprintf("%d bytes in %d files compared", size, files)
	c.Equal = c.Equal && files > 0
	return err
}

// sameFiles compares two files byte by byte, and says how many bytes there are.
func sameFiles(a, b string) (size int64, same bool, err error) {
	x, err := os.Open(a)
	if err != nil {
		return 0, false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer y.Close()
	p, q := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		size += int64(n)
		if n != m || !bytes.Equal(p[:n], q[:m]) {
			return size, false, nil
		}
		for _, err := range []error{errX, errY} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return size, false, err
			}
		}
		if errX != nil {
			return size, true, nil
		}
	}
}

// convert copies the data directory and compares the copy with it, as plain
// files or into a volume.
func (u *upgrade) convert(ctx context.Context, variant string, verify bool) (c study.Cost, err error) {
	out := filepath.Join(u.dir, "copy")
	if variant == "tde" {
		c, err = u.measure(ctx, "volume", "convert", "--in", u.source, "--out", out, "--key", u.key())
	} else {
		c, err = u.measure(ctx, "bench", "reap", "sh", "-c", `cp -a "$0" "$1" && sync -f "$1" && diff -r "$0" "$1"`, u.source, out)
	}
	if err != nil || !verify {
		return c, err
	}
	if variant == "tde" {
		back := filepath.Join(u.dir, "back")
		if _, err := runChild(ctx, u.log(), "volume", "convert", "--decrypt", "--in", out, "--out", back, "--key", u.key()); err != nil {
			return c, err
		}
		out = back
	}
	diff, err := exec.CommandContext(ctx, "diff", "-r", u.source, out).CombinedOutput()
	c.Equal, c.Detail = err == nil, "every file compared"
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	if err != nil {
		c.Detail = string(diff[:min(len(diff), 200)])
	}
	return c, nil
}
