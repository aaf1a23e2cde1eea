package report

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A frame shows a page at a width.
type frame struct {
	page  string
	width int
}

// browser finds Chromium. In CI it must be there.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const what = "Chromium is not installed; on Debian: apt-get install chromium fonts-dejavu-core"
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip("SKIPPED, the page was not tried in a browser: " + what)
	return ""
}

// dump opens an HTML file in headless Chromium and returns its document after
// scripts have run, and what the browser wrote to its log.
func dump(t *testing.T, path string, args ...string) (dom, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir=" + t.TempDir(), "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom"}, args...)
	cmd := exec.CommandContext(ctx, browser(t), append(args, "file://"+path)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Minute // its helpers may outlive it on a busy machine
	if err := cmd.Run(); err != nil {
		t.Fatalf("run %s: %v\n%s", cmd.Path, err, stderr.String())
	}
	return stdout.String(), stderr.String()
}

var findingsElement = regexp.MustCompile(`(?s)<pre id="findings">(.*?)</pre>`)

// try opens the frames in one window of the given colour scheme and returns
// the harness's findings.
func try(t *testing.T, scheme string, frames []frame) []string {
	t.Helper()
	harness, err := os.ReadFile("testdata/harness.js")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><meta charset=utf-8><body>")
	for i, f := range frames {
		fmt.Fprintf(&b, `<iframe name="%d" style="border:0;width:%dpx;height:900px" srcdoc="%s"></iframe>`, i, f.width, html.EscapeString(f.page))
	}
	fmt.Fprintf(&b, "<script>%s</script>", harness)
	path := filepath.Join(t.TempDir(), "harness.html")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	preferred := map[string]string{"dark": "0", "light": "1"}[scheme]
	dom, log := dump(t, path, "--blink-settings=preferredColorScheme="+preferred)
	m := findingsElement.FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the harness did not finish; browser log:\n%s", log)
	}
	lines := strings.Split(html.UnescapeString(m[1]), "\n")
	for l := range strings.SplitSeq(log, "\n") {
		if strings.Contains(l, "CONSOLE") {
			lines = append(lines, "console: "+l)
		}
	}
	return lines
}

// TestPageInChromium tries the page from a small phone to a wide window.
func TestPageInChromium(t *testing.T) {
	browser(t)
	type shown struct {
		page  string
		width int
	}
	for scheme, cases := range map[string][]shown{
		"light": {{"whole", 320}, {"whole", 375}, {"whole", 768}, {"whole", 1240}, {"whole", 1680}, {"many cells", 375}, {"noisy", 320}, {"long", 1240}},
		"dark":  {{"incomplete", 375}, {"incomplete", 1240}, {"hostile", 375}, {"empty", 375}},
	} {
		t.Run(scheme, func(t *testing.T) {
			var frames []frame
			for _, c := range cases {
				frames = append(frames, frame{pageOf(t, pageCases[c.page]()), c.width})
			}
			seen := 0
			for _, l := range try(t, scheme, frames) {
				switch i, what, _ := strings.Cut(l, " "); {
				case what == "seen "+scheme:
					seen++
				case strings.HasPrefix(l, "console: "):
					t.Error(l)
				default:
					k, err := strconv.Atoi(i)
					if err != nil {
						t.Fatalf("unexpected finding %q", l)
					}
					t.Errorf("%s at %d px: %s", cases[k].page, cases[k].width, what)
				}
			}
			if seen != len(cases) {
				t.Errorf("%d pages were seen, want %d", seen, len(cases))
			}
		})
	}
}

// TestHarnessFindsFaults plants one fault of each kind, so that a harness that
// sees nothing cannot pass.
func TestHarnessFindsFaults(t *testing.T) {
	browser(t)
	page := pageOf(t, newFixture(7, 8))
	page = strings.Replace(page, "</h1>", `</h1><p style="color:#999">faint</p><div style="width:1700px">wide</div>`, 1)
	page = strings.Replace(page, "</style>", ".chart .tick{font-size:40px!important}.chart .axis{font-size:4px!important}</style>", 1)
	page = strings.Replace(page, "</body>", "<script>alert(1)</script></body>", 1)
	all := strings.Join(try(t, "light", []frame{{page, 375}}), "\n")
	for _, want := range []string{"contrast 2.", "px wide", "overlaps", "leaves the picture", " is 3.9 px", "console: ", "Content Security Policy"} {
		if !strings.Contains(all, want) {
			t.Errorf("the harness misses a planted fault: no %q in\n%s", want, all)
		}
	}
}
