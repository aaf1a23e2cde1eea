package target

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Install is an engine found on this machine.
type Install struct {
	Engine  string
	Version string // such as "10.11.6"
	Server  string // path of the server program
	BinDir  string // its directory
}

// NotInstalledError says which Debian package brings the engine. It matches
// ErrNotInstalled.
type NotInstalledError struct {
	Engine  string
	Package string // "" when Debian has none
	Looked  []string
}

func (e *NotInstalledError) Error() string {
	return fmt.Sprintf("find %s server: %v (looked in %s)", e.Engine, ErrNotInstalled, strings.Join(e.Looked, ", "))
}

// Is makes the error match ErrNotInstalled.
func (e *NotInstalledError) Is(target error) bool { return target == ErrNotInstalled }

// Hint is the command that installs the engine, or what to do instead.
func (e *NotInstalledError) Hint() string {
	if e.Package == "" {
		return "install it from its vendor, then name the directory of its programs"
	}
	return "run: apt-get install " + e.Package
}

// Find looks for an engine in binDir or, when that is empty, in the places its
// packages use and in PATH; the newest version wins. It returns
// ErrUnknownEngine or a *NotInstalledError.
func Find(engineName, binDir string) (Install, error) {
	if engineName == Galera {
		in, _, _, err := findGalera(binDir)
		return in, err
	}
	eng, ok := engines[engineName]
	if !ok {
		return Install{}, fmt.Errorf("find %q: %w (known: %s)", engineName, ErrUnknownEngine, strings.Join(Engines(), ", "))
	}
	dirs := []string{binDir}
	if binDir == "" {
		dirs = searchDirs(eng)
	}
	var found []Install
	seen := map[string]bool{}
	for _, dir := range dirs {
		for _, name := range eng.programs() {
			path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
			if err != nil || seen[path] {
				continue
			}
			seen[path] = true
			if v, ok := eng.version(versionText(path)); ok {
				found = append(found, Install{engineName, v, path, filepath.Dir(path)})
			}
		}
	}
	if len(found) == 0 {
		return Install{}, &NotInstalledError{engineName, eng.debianPackage(), dirs}
	}
	return slices.MaxFunc(found, func(a, b Install) int { return compareVersions(a.Version, b.Version) }), nil
}

func searchDirs(eng engine) []string {
	var dirs []string
	for _, pattern := range eng.places() {
		m, _ := filepath.Glob(pattern)
		dirs = append(dirs, m...)
	}
	dirs = append(dirs, "/usr/sbin", "/usr/local/sbin", "/usr/libexec")
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(d) && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// versionText runs "path --version" in an empty environment.
func versionText(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

var versionNumber = regexp.MustCompile(`\d+(\.\d+)+`)

// compareVersions orders dotted numbers.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, _ := strconv.Atoi(x)
		n, _ := strconv.Atoi(y)
		return cmp.Compare(m, n)
	})
}
