package secret

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// vmFlags returns the kernel's flags of the mapping that holds p.
func vmFlags(t *testing.T, p *byte) string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at, inside := uintptr(unsafe.Pointer(p)), false
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(sc.Text(), "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= at && at < hi
		}
		if flags, ok := strings.CutPrefix(sc.Text(), "VmFlags:"); ok && inside {
			return flags + " "
		}
	}
	t.Fatal("address in no mapping")
	return ""
}

func TestMemoryIsLockedAndNotDumped(t *testing.T) {
	for _, n := range []int{32, 5000, 100_000} {
		b, err := New(n)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if w := Warning(); w != "" {
			t.Logf("warning: %s", w) // the test below covers this case
			return
		}
		flags := vmFlags(t, &b.Reveal()[0])
		for _, want := range []string{" lo ", " dd "} {
			if !strings.Contains(flags, want) {
				t.Errorf("secret of %d bytes: mapping flags %q lack %q", n, flags, want)
			}
		}
	}
}

func TestGuardPages(t *testing.T) {
	mem, _, err := mapRegion(100)
	if err != nil {
		t.Fatal(err)
	}
	first, last := unsafe.Pointer(&mem[0]), unsafe.Pointer(&mem[len(mem)-1])
	var sink byte
	if faults(func() { sink = mem[0] + mem[len(mem)-1] }) {
		t.Error("the region itself cannot be read")
	}
	if !faults(func() { sink = *(*byte)(unsafe.Add(first, -1)) }) {
		t.Error("the byte before the region can be read")
	}
	if !faults(func() { sink = *(*byte)(unsafe.Add(last, 1)) }) {
		t.Error("the byte after the region can be read")
	}
	_ = sink
}

// TestChild runs its cases in child processes, since they change the process.
func TestChild(t *testing.T) {
	cases := map[string]func() error{
		"no locked memory": func() error {
			runtime.LockOSThread()
			if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{}); err != nil {
				return err
			}
			hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			if err := unix.Capset(&hdr, &make([]unix.CapUserData, 2)[0]); err != nil {
				return err
			}
			b, err := Random(32)
			if err != nil {
				return fmt.Errorf("no fallback: %w", err)
			}
			defer b.Close()
			if w := Warning(); !strings.Contains(w, "ulimit -l") || strings.Contains(w, "\n") {
				return fmt.Errorf("warning %q does not name the fix in one line", w)
			}
			return nil
		},
		"hardened": func() error {
			if err := HardenProcess(); err != nil {
				return err
			}
			var rl unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_CORE, &rl); err != nil {
				return err
			}
			d, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
			if err != nil || d != 0 || rl.Cur != 0 || rl.Max != 0 {
				return fmt.Errorf("dumpable %d, %v, core limit %+v", d, err, rl)
			}
			return nil
		},
	}
	const env = "SECRET_TEST_CHILD"
	if name := os.Getenv(env); name != "" {
		if err := cases[name](); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
			cmd.Env = append(os.Environ(), env+"="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
