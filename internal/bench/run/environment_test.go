package run

import (
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestEnvironmentOfThisMachine(t *testing.T) {
	e := Environment()
	if e.CPU == "" || e.Cores < 1 || !strings.HasPrefix(e.Go, "go") || e.Kernel == "" {
		t.Errorf("environment = %+v", e)
	}
	if runtime.GOOS == "linux" && (e.MemoryBytes < 64<<20 || e.OS == "") {
		t.Errorf("memory %d, system %q", e.MemoryBytes, e.OS)
	}
	if fs, err := FilesystemOf(t.TempDir()); err != nil || fs == "" {
		t.Errorf("file system %q, error %v", fs, err)
	}
	if _, err := FilesystemOf("/does/not/exist"); err == nil && runtime.GOOS == "linux" {
		t.Error("a path that is not there has a file system")
	}
}

func TestProcFiles(t *testing.T) {
	const intel = "processor\t: 0\nmodel name\t: Big Core @ 3 GHz\nflags\t\t: aes\n"
	if got := cpuModel(intel); got != "Big Core @ 3 GHz" {
		t.Errorf("model = %q", got)
	}
	const arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
	if got := cpuModel(arm); got != runtime.GOARCH+" implementer 0x41 part 0xd0c" {
		t.Errorf("model = %q", got)
	}
	if got := memoryTotal("MemTotal:       16318480 kB\nMemFree: 1 kB\n"); got != 16318480<<10 {
		t.Errorf("memory = %d", got)
	}
	if got := osName("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"); got != "Debian GNU/Linux 12 (bookworm)" {
		t.Errorf("system = %q", got)
	}
	for _, empty := range []string{"", "x", ":::"} {
		if cpuModel(empty) != runtime.GOARCH || memoryTotal(empty) != 0 || osName(empty) != "" {
			t.Errorf("%q was understood", empty)
		}
	}
}

func TestMachineClock(t *testing.T) {
	before := parseClock([]byte("cpu  100 50 30 1000 20 5 5 10 40 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"))
	after := parseClock([]byte("cpu  200 50 80 1030 20 5 5 30 90 0\n"))
	// 1.5 s busy, 0.2 s stolen, 0.3 s idle, of 2 s in all; 1 s of it ours
	steal, foreign := after.since(before, 1)
	if math.Abs(steal-10) > 1e-9 || math.Abs(foreign-25) > 1e-9 {
		t.Errorf("steal %v %%, foreign %v %%, want 10 and 25", steal, foreign)
	}
	for _, bad := range []string{"", "cpu", "cpu a b c d e f g h", "intr 1 2 3 4 5 6 7 8"} {
		if c := parseClock([]byte(bad)); c != (clock{}) {
			t.Errorf("%q was understood: %+v", bad, c)
		}
	}
	if s, f := (clock{}).since(clock{}, 1); s != 0 || f != 0 {
		t.Errorf("no clock: steal %v, foreign %v", s, f)
	}
}

func TestSelfCPUCountsThisProcess(t *testing.T) {
	before, err := SelfCPU()
	if err != nil {
		t.Fatal(err)
	}
	x := 1.0
	for begin := time.Now(); time.Since(begin) < 30*time.Millisecond; {
		x = math.Sqrt(x + 1)
	}
	after, err := SelfCPU()
	if err != nil || after <= before || x == 0 {
		t.Errorf("%v s before, %v s after, error %v", before, after, err)
	}
	c, err := EmbeddedCPU()
	if err != nil || c.Engine < after || c.Total() != c.Engine {
		t.Errorf("embedded: %+v, error %v", c, err)
	}
	if _, err := os.Stat("/proc/stat"); err == nil && readClock().total == 0 {
		t.Error("/proc/stat was not understood")
	}
}
