package cli

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
)

// TestBenchTPCCOnServer runs TPROC-C on a private PostgreSQL server and checks
// its two figures against each other: the mix makes 2.2 to 2.4 transactions
// for each new order.
func TestBenchTPCCOnServer(t *testing.T) {
	dsn := targettest.Start(t, target.Postgres, nil).DSN()
	veildb := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"bench", "tpcc"}, append(args, "--dsn", dsn)...)
		if code := Main(context.Background(), args, strings.NewReader(""), &out, &errs); code != ExitOK {
			t.Fatalf("%v: exit %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	veildb("prepare", "--flavor", "hammerdb")
	var out string
	figure := func(name string) float64 {
		t.Helper()
		m := regexp.MustCompile(`(?m)^` + name + ` +(\d+)`).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("no %s in\n%s", name, out)
		}
		n, _ := strconv.ParseFloat(m[1], 64)
		return n
	}
	// The counters lag by up to a second, and few transactions are any mix: the
	// longer the run, the closer.
	for seconds := 4; ; seconds *= 2 {
		out = veildb("run", "--terminals", "2", "--time", strconv.Itoa(seconds), "--warmup", "1.5")
		ratio := figure("TPM") / figure("NOPM")
		if ratio > 1.9 && ratio < 2.8 {
			break
		}
		if seconds > 60 {
			t.Fatalf("TPM is %.2f of NOPM\n%s", ratio, out)
		}
	}
	if !strings.Contains(out, "the server's default isolation") || strings.Contains(out, "VIOLATED") {
		t.Errorf("unexpected report:\n%s", out)
	}
	if out := veildb("check"); strings.Count(out, "ok ") != 14 || strings.Contains(out, "VIOLATED") {
		t.Errorf("check says\n%s", out)
	}
	veildb("cleanup")
	if testing.Verbose() {
		t.Log(out)
	}
}
