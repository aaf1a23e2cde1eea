package sysbench

import (
	"strings"
	"testing"
)

// sysbenchLayout is what sysbench 1.0.20 prints for these figures.
const sysbenchLayout = `SQL statistics:
    queries performed:
        read:                            11673
        write:                           3330
        other:                           1665
        total:                           16668
    transactions:                        831    (827.69 per sec.)
    queries:                             16668  (16601.59 per sec.)
    ignored errors:                      1      (1.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          1.0025s
    total number of events:              831

Latency (ms):
         min:                                    0.80
         avg:                                    2.40
         max:                                   16.23
         99th percentile:                       11.65
         sum:                                 1994.50

Threads fairness:
    events (avg/stddev):           416.0000/141.00
    execution time (avg/stddev):   0.9973/0.00

`

func TestReportLayout(t *testing.T) {
	s := Stretch{
		TotalS: 1.0025, WindowS: 1.004, Events: 831,
		Counts:    Counts{Reads: 11673, Writes: 3330, Others: 1665, Errors: 1},
		Latency:   Latency{Min: 0.8, Avg: 2.4, Max: 16.23, Sum: 1994.5, Percentile: 11.65, Which: 99},
		EventsPer: Fairness{416, 141}, BusyPer: Fairness{0.9973, 0},
	}
	var b strings.Builder
	s.Text(&b)
	if b.String() != sysbenchLayout {
		t.Errorf("got\n%s\nwant\n%s", b.String(), sysbenchLayout)
	}
	b.Reset()
	s.Latency.Which = 0
	s.Text(&b)
	if want := "         percentile stats:               disabled\n"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
	iv := Interval{AtS: 1, TPS: 829.14, ReadsPerS: 11645.86, WritesPerS: 3322.54, OthersPerS: 1661.27, Percentile: 11.65, ErrorsPerS: 1, Concurrency: 2}
	b.Reset()
	iv.Text(&b, 2, 99, true)
	want := "[ 1s ] thds: 2 tps: 829.14 qps: 16629.67 (r/w/o: 11645.86/3322.54/1661.27) lat (ms,99%): 11.65 err/s: 1.00 reconn/s: 0.00\n" +
		"[ 1s ] queue length: 0, concurrency: 2\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
