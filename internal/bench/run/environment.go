package run

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/bench/result"
)

// Environment describes the machine and this program. What the system does not
// tell stays empty. Version, Engines and Filesystem (see FilesystemOf) are the
// caller's to fill.
func Environment() result.Environment {
	e := result.Environment{
		CPU:         cpuModel(readText("/proc/cpuinfo")),
		Cores:       runtime.NumCPU(),
		MemoryBytes: memoryTotal(readText("/proc/meminfo")),
		OS:          osName(readText("/etc/os-release")),
		Governor:    strings.TrimSpace(readText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
		Go:          runtime.Version(),
		LoadAverage: LoadAverage(),
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		e.Kernel = fmt.Sprintf("%s %s %s", text(u.Sysname[:]), text(u.Release[:]), text(u.Machine[:]))
	}
	e.Revision, e.Nice = buildRevision(), niceness()
	return e
}

func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// LoadAverage is that of the last 1, 5 and 15 minutes, zero if unknown.
func LoadAverage() (l [3]float64) {
	f := strings.Fields(readText("/proc/loadavg"))
	for i := range min(3, len(f)) {
		l[i], _ = strconv.ParseFloat(f[i], 64)
	}
	return l
}

// field finds "key : value" in text and returns the first value.
func field(text, key, separator string) string {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		k, v, ok := strings.Cut(lines.Text(), separator)
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// cpuModel reads the model from /proc/cpuinfo; ARM kernels give only numbers.
func cpuModel(cpuinfo string) string {
	if m := field(cpuinfo, "model name", ":"); m != "" {
		return m
	}
	if part := field(cpuinfo, "CPU part", ":"); part != "" {
		return fmt.Sprintf("%s implementer %s part %s", runtime.GOARCH, field(cpuinfo, "CPU implementer", ":"), part)
	}
	return runtime.GOARCH
}

func memoryTotal(meminfo string) int64 {
	kib, unit, _ := strings.Cut(field(meminfo, "MemTotal", ":"), " ")
	n, err := strconv.ParseInt(kib, 10, 64)
	if err != nil || unit != "kB" {
		return 0
	}
	return n << 10
}

func osName(release string) string {
	return strings.Trim(field(release, "PRETTY_NAME", "="), `"`)
}

// buildRevision is the commit the program was built from, with "+changes" if
// the tree was not clean.
func buildRevision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, changes string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	if revision == "" {
		return ""
	}
	return revision[:min(12, len(revision))] + changes
}
