//go:build linux

package fusefs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMoreFilesThanDescriptors has the kernel know of many more files than the
// server may have open: they are closed and found again, also when files are
// removed meanwhile and their inode numbers given to others.
func TestMoreFilesThanDescriptors(t *testing.T) {
	const limit, files = 512, 1200
	m := mountTest(t, serveConfig{Key: 1, Files: limit})
	dirs := make([]string, 10)
	for i := range dirs {
		dirs[i] = filepath.Join(m.dir, fmt.Sprint("dir", i))
		if err := os.Mkdir(dirs[i], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	content := map[string]string{} // by path
	rng := rand.New(rand.NewPCG(1, 2))
	write := func(i int) {
		path := filepath.Join(dirs[i%len(dirs)], fmt.Sprint(i))
		content[path] = fmt.Sprint("content ", i, rng.Uint64())
		if err := put(path, content[path]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range files {
		write(i)
	}
	held, err := os.Open(filepath.Join(dirs[0], "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for range files { // files go, others come, some move
		i := rng.IntN(files)
		path := filepath.Join(dirs[i%len(dirs)], fmt.Sprint(i))
		if _, ok := content[path]; !ok {
			write(i)
			continue
		}
		old := content[path]
		delete(content, path)
		if rng.IntN(2) == 0 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		to := filepath.Join(dirs[rng.IntN(len(dirs))], fmt.Sprint("moved", rng.IntN(files)))
		if err := os.Rename(path, to); err != nil {
			t.Fatal(err)
		}
		content[to] = old
	}
	for path, want := range content {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil || st.Size != int64(len(want)) {
			t.Fatalf("%s: size %d, %v; want %d", path, st.Size, err, len(want))
		}
		if got := get(path); got != want {
			t.Fatalf("%s: %q, want %q", path, got, want)
		}
	}
	if n, err := held.Read(make([]byte, 100)); n == 0 || err != nil {
		t.Errorf("a file that was open all the time: %d bytes, %v", n, err)
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", m.cmd.Process.Pid))
	if err != nil || len(fds) > limit {
		t.Errorf("the server has %d descriptors, %v", len(fds), err)
	}
	for _, d := range dirs {
		if err := os.RemoveAll(d); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(m.Lower); len(left) != 0 || err != nil {
		t.Errorf("left below: %v, %v", left, err)
	}
}
