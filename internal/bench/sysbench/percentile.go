package sysbench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/bench/hist"
)

// sysbench's latency buckets: 1024 from 0.001 ms to 100 s, each 1.8 % wider
// than the one before.
const (
	buckets   = 1024
	lowestMS  = 0.001
	highestMS = 100_000
)

var bucketScale = (buckets - 1) / math.Log(highestMS/lowestMS)

// bucketOf is the bucket of a latency.
func bucketOf(d time.Duration) int {
	ms := float64(d) / 1e6
	if ms < lowestMS {
		return 0
	}
	return min(int(math.Log(ms/lowestMS)*bucketScale+0.5), buckets-1)
}

// bucketMS is what a bucket stands for, in milliseconds.
func bucketMS(i int) float64 { return lowestMS * math.Exp(float64(i)/bucketScale) }

// rebucket counts h in sysbench's buckets. h's own are 18 times narrower.
func rebucket(h *hist.Histogram) (counts [buckets]uint64) {
	for d, n := range h.Buckets() {
		counts[bucketOf(d)] += n
	}
	return counts
}

// Percentile is the p-th percentile of h in milliseconds by sysbench's rule:
// what the first bucket stands for at which the count reaches floor(N p/100 +
// 0.5). It is 0 when h is empty.
func Percentile(h *hist.Histogram, p int) float64 {
	if h.Count() == 0 {
		return 0
	}
	counts := rebucket(h)
	need := uint64(math.Floor(float64(h.Count())*float64(p)/100 + 0.5))
	var sum uint64
	for i, n := range counts {
		if sum += n; sum >= need && sum > 0 {
			return bucketMS(i)
		}
	}
	panic("sysbench: internal error: buckets lost counts")
}

// writeHistogram prints the buckets that are not empty, the fullest with a bar
// of 40 characters.
func writeHistogram(w io.Writer, h *hist.Histogram) {
	counts := rebucket(h)
	var top uint64
	for _, n := range counts {
		top = max(top, n)
	}
	fmt.Fprintln(w, "Latency histogram (values are in milliseconds)")
	fmt.Fprintln(w, "       value  ------------- distribution ------------- count")
	for i, n := range counts {
		if n > 0 {
			bar := strings.Repeat("*", int(math.Floor(float64(n)*40/float64(top)+0.5)))
			fmt.Fprintf(w, "%12.3f |%-40s %d\n", bucketMS(i), bar, n)
		}
	}
	fmt.Fprintln(w, " ")
}
