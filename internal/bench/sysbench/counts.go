package sysbench

import "sync/atomic"

// Counts are statements by outcome, as sysbench counts them: each statement is
// exactly one of read (it returned rows), write (it changed rows), other
// (BEGIN, COMMIT, a change of no row), ignored error, or reconnect. A ROLLBACK
// after an ignored error is not counted.
type Counts struct {
	Reads      uint64 `json:"read"`
	Writes     uint64 `json:"write"`
	Others     uint64 `json:"other"`
	Errors     uint64 `json:"ignored_errors"`
	Reconnects uint64 `json:"reconnects"`
}

// Queries is reads, writes and others, those of failed attempts included.
func (c Counts) Queries() uint64 { return c.Reads + c.Writes + c.Others }

// Add adds o to c.
func (c *Counts) Add(o Counts) {
	c.Reads += o.Reads
	c.Writes += o.Writes
	c.Others += o.Others
	c.Errors += o.Errors
	c.Reconnects += o.Reconnects
}

// Sub is c - o, for two readings of one set of counters.
func (c Counts) Sub(o Counts) Counts {
	return Counts{c.Reads - o.Reads, c.Writes - o.Writes, c.Others - o.Others, c.Errors - o.Errors, c.Reconnects - o.Reconnects}
}

// counters are one terminal's Counts, written by it and read by others. The
// padding keeps two terminals' off one cache line.
type counters struct {
	reads, writes, others, errors, reconnects atomic.Uint64
	// Kept for running reports only, see Workload.watched.
	events atomic.Uint64
	inside atomic.Int64 // ns in Next
	busy   atomic.Bool
	_      [64]byte
}

func (c *counters) load() Counts {
	return Counts{c.reads.Load(), c.writes.Load(), c.others.Load(), c.errors.Load(), c.reconnects.Load()}
}
