package volumetest

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/bench/target"
)

// TestLostWrites records what a server's load writes to the disk below its
// volume, down to flushes, and rebuilds the disk as power failures at random
// moments could have left it: of what was not flushed some writes are lost, some
// torn at multiples of 512 bytes. The file system below, the volume and the
// server must recover, and hold all that was acknowledged by that moment.
func TestLostWrites(t *testing.T) {
	if *states == 0 {
		t.Skip("takes minutes: part of scripts/test-volume.sh, run with -states")
	}
	for _, engine := range []string{target.Postgres, target.MariaDB} {
		for _, cache := range []string{"through", "back"} {
			t.Run(engine+"/"+cache, func(t *testing.T) {
				t.Parallel()
				lostWrites(t, engine, cache)
			})
		}
	}
}

const diskSize = 700 << 20

func lostWrites(t *testing.T, engine, cache string) {
	rng := newRand(t)
	dir := tempDir(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	lower := path("lower")
	for _, d := range []string{lower, path("recorder")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	newDisk(t, path("disk"), diskSize)
	run(t, nil, "cp", "--sparse=always", path("disk"), path("before"))
	recording := startRecorder(t, path("disk"), path("log"), path("recorder"))
	ended := false
	endRecording := func() {
		if !ended {
			ended = true
			unix.Unmount(path("recorder"), 0)
			recording.Wait()
		}
	}
	t.Cleanup(func() {
		unix.Unmount(lower, unix.MNT_DETACH)
		endRecording()
		unix.Unmount(path("recorder"), unix.MNT_DETACH)
	})
	mountDisk(t, filepath.Join(path("recorder"), "disk"), lower)

	v := mountVolume(t, filepath.Join(lower, "volume"), cache)
	s := startServer(t, engine, filepath.Join(v.point, "data"), durable[engine])
	l := newLoad(t, s)
	l.position = func() int64 {
		info, err := os.Stat(path("log"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	// A new server's first files were not meant to be durable.
	unix.Sync()
	from := l.position()
	l.start(rng)
	stopWriting := writeBack(lower, rand.New(rand.NewPCG(rng.Uint64(), 3)))
	n := *states
	// Not longer than the disk of the log has room for.
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end) && l.position() < 3<<30 && !l.failed(); {
		time.Sleep(20 * time.Millisecond)
	}
	to := l.position()
	stopWriting()
	s.Kill()
	l.stop()
	v.kill()
	unix.Unmount(v.point, unix.MNT_DETACH)
	unmountDisk(t, lower)
	endRecording()

	r := newReplay(t, path("before"), path("log"))
	places, err := r.places(from, to, n, rng)
	if err != nil {
		t.Fatal(err)
	}
	var inFlight, lost, torn int
	for i, at := range places {
		a, b, c, err := r.state(path("state"), at, rng)
		if err != nil {
			t.Fatal(err)
		}
		inFlight, lost, torn = inFlight+a, lost+b, torn+c
		mountDisk(t, path("state"), lower)
		v.start(t)
		s.recover(t)
		l.verifyAt(t, at)
		s.checkEngine(t)
		if t.Failed() {
			t.Fatalf("state %d of %d: log %d of %d to %d, %d writes in flight, %d lost, %d torn; the mount said: %s; the server's log: %s",
				i+1, n, at, from, to, a, b, c, v.mount.output(), s.log())
		}
		s.Kill()
		v.kill()
		unix.Unmount(v.point, unix.MNT_DETACH)
		unmountDisk(t, lower)
	}
	t.Logf("%d states, of a log of %d MB with %d acknowledgements; %d writes in flight, %d lost, %d torn", n, (to-from)>>20, len(l.history), inFlight, lost, torn)
}

// writeBack has the kernel write files below dir to the disk, in any order,
// without a flush, as it does under pressure. The returned function ends it.
func writeBack(dir string, rng *rand.Rand) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			var files []string
			// Files come and go meanwhile.
			filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() {
					files = append(files, path)
				}
				return nil
			})
			for range 200 {
				select {
				case <-end:
					return
				case <-time.After(time.Millisecond):
				}
				fd, err := unix.Open(files[rng.IntN(len(files))], unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err == nil {
					unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE)
					unix.Close(fd)
				}
			}
		}
	}()
	return func() { close(end); <-done }
}
