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
	"strings"
	"testing"
	"time"
)

// Widths at which the page is tried: a small phone, a phone, a tablet, a
// window, a wide window; and the two that matter most.
var (
	allWidths = []int{320, 375, 768, 1240, 1680}
	twoWidths = []int{375, 1240}
)

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
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir=" + t.TempDir(), "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom"}, args...)
	cmd := exec.CommandContext(ctx, browser(t), append(args, "file://"+path)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("run %s: %v\n%s", cmd.Path, err, stderr.String())
	}
	return stdout.String(), stderr.String()
}

var findingsElement = regexp.MustCompile(`(?s)<pre id="findings">(.*?)</pre>`)

// try opens the page at every width and returns the harness's findings.
func try(t *testing.T, page, scheme string, widths []int) []string {
	t.Helper()
	harness, err := os.ReadFile("testdata/harness.js")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><meta charset=utf-8><body>")
	for _, w := range widths {
		fmt.Fprintf(&b, `<iframe style="border:0;width:%dpx;height:900px" srcdoc="%s"></iframe>`, w, html.EscapeString(page))
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

func TestPageInChromium(t *testing.T) {
	browser(t)
	for _, c := range []struct {
		page, scheme string
		widths       []int
	}{
		{"whole", "light", allWidths}, {"incomplete", "dark", twoWidths}, {"many cells", "light", twoWidths},
		{"hostile", "dark", twoWidths}, {"noisy", "light", []int{320}}, {"long", "light", []int{375}},
	} {
		t.Run(c.page+" "+c.scheme, func(t *testing.T) {
			seen := 0
			for _, l := range try(t, pageOf(t, pageCases[c.page]()), c.scheme, c.widths) {
				if strings.HasPrefix(l, "seen ") {
					if !strings.HasSuffix(l, c.scheme) {
						t.Errorf("wrong scheme: %s", l)
					}
					seen++
				} else if l != "" {
					t.Error(l)
				}
			}
			if seen != len(c.widths) {
				t.Errorf("the page was seen at %d widths, want %d", seen, len(c.widths))
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
	page = strings.Replace(page, "</style>", ".chart .tick{font-size:40px!important}</style>", 1)
	page = strings.Replace(page, "</body>", "<script>alert(1)</script></body>", 1)
	all := strings.Join(try(t, page, "light", twoWidths), "\n")
	for _, want := range []string{"contrast 2.", "px wide", "overlaps", "leaves the picture", "console: ", "Content Security Policy"} {
		if !strings.Contains(all, want) {
			t.Errorf("the harness misses a planted fault: no %q in\n%s", want, all)
		}
	}
}
