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
	c := recordLoad(t, engine, cache, rng)
	r := newReplay(t, c.path("before"), c.path("log"))
	places, err := r.places(c.from, c.to, *states, rng)
	if err != nil {
		t.Fatal(err)
	}
	var all losses
	for i, at := range places {
		one, err := r.state(c.path("state"), at, rng)
		if err != nil {
			t.Fatal(err)
		}
		all.add(one)
		if c.check(t, at); t.Failed() {
			t.Fatalf("state %d of %d: log %d of %d to %d, %s", i+1, len(places), at, c.from, c.to, one)
		}
	}
	t.Logf("%d states, of a log of %d MB with %d acknowledgements; %s", len(places), (c.to-c.from)>>20, len(c.load.history), all)
}

// A recorded is a load whose disk was recorded.
type recorded struct {
	dir      string // holds the disk before the load, and the log
	lower    string // where disks are mounted
	volume   *volumeDir
	server   *server
	load     *load
	from, to int64 // in the log
}

func (c *recorded) path(name string) string { return filepath.Join(c.dir, name) }

// recordLoad runs a load on a volume on a recorded disk for some seconds, and
// ends it all as a power failure would.
func recordLoad(t *testing.T, engine, cache string, rng *rand.Rand) *recorded {
	c := &recorded{dir: tempDir(t)}
	c.lower = c.path("lower")
	for _, d := range []string{c.lower, c.path("recorder")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	newDisk(t, c.path("disk"), diskSize)
	run(t, nil, "cp", "--sparse=always", c.path("disk"), c.path("before"))
	endRecording := startRecorder(t, c.path("disk"), c.path("log"), c.path("recorder"))
	t.Cleanup(func() { unix.Unmount(c.lower, unix.MNT_DETACH) })
	mountDisk(t, filepath.Join(c.path("recorder"), "disk"), c.lower)

	c.volume = mountVolume(t, filepath.Join(c.lower, "volume"), cache)
	c.server = startServer(t, engine, filepath.Join(c.volume.point, "data"), durable[engine])
	c.load = newLoad(t, c.server)
	c.load.position = func() int64 {
		info, err := os.Stat(c.path("log"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	// A new server's first files were not meant to be durable.
	unix.Sync()
	c.from = c.load.position()
	c.load.start(rng)
	stopWriting := writeBack(c.lower, rand.New(rand.NewPCG(rng.Uint64(), 3)))
	// Not longer than the disk of the log has room for.
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end) && c.load.position() < 3<<30 && !c.load.failed(); {
		time.Sleep(20 * time.Millisecond)
	}
	c.to = c.load.position()
	stopWriting()
	c.powerOff(t)
	c.load.stop()
	endRecording()
	return c
}

// powerOff ends the server and the mount, and unmounts the disk.
func (c *recorded) powerOff(t *testing.T) {
	c.server.Kill()
	c.volume.kill()
	unix.Unmount(c.volume.point, unix.MNT_DETACH)
	unmountDisk(t, c.lower)
}

// check recovers from the disk as it was at a place of the log.
func (c *recorded) check(t *testing.T, at int64) {
	mountDisk(t, c.path("state"), c.lower)
	c.volume.start(t)
	c.server.recover(t)
	c.load.verifyAt(t, at)
	c.server.checkEngine(t)
	if t.Failed() {
		t.Logf("the mount said: %s; the server: %s", c.volume.mount.output(), c.server.log())
	}
	c.powerOff(t)
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
