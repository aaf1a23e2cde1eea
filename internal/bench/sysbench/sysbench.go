// Package sysbench is the eleven OLTP workloads of sysbench 1.0.20, statement
// by statement, over any database/sql driver.
//
// Statements, options, random distributions, counters and the report are
// sysbench's; what differs is said where it does. Data and every terminal's
// stream depend on the seed alone. SQLite, which sysbench does not know, gets
// the same statements but for three points: the id is INTEGER PRIMARY KEY
// without AUTOINCREMENT (that would cost a second write for each insert, which
// no other engine pays), transactions that write start with BEGIN IMMEDIATE
// (see kind.text), and a busy database counts as an ignored error.
package sysbench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/run"
)

// ErrUnknownWorkload reports a name that Names does not list.
var ErrUnknownWorkload = errors.New("unknown workload")

// A Workload is one script with its options. It implements run.Workload and is
// safe for concurrent use.
type Workload struct {
	script  *script
	o       Options
	dialect dsn.Dialect
	dist    distribution
	ignore  map[string]bool
	watched atomic.Bool // new terminals time themselves, for reports while they run

	mu     sync.Mutex
	counts []*counters // guarded by mu: one for each terminal ever opened
}

var _ run.Workload = (*Workload)(nil)

// New returns the workload for databases of the dialect. Its errors match
// ErrUnknownWorkload or ErrOption.
func New(name string, o Options, d dsn.Dialect) (*Workload, error) {
	i := slices.IndexFunc(scripts, func(s script) bool { return s.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: %q (known: %s)", ErrUnknownWorkload, name, strings.Join(Names(), ", "))
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Secondary && d == dsn.SQLite {
		return nil, fmt.Errorf("%w: --secondary: a SQLite table always has its row id as key", ErrOption)
	}
	w := &Workload{script: &scripts[i], o: o, dialect: d, dist: newDistribution(o.Rand), ignore: map[string]bool{}}
	for _, e := range o.IgnoreErrors {
		w.ignore[strings.TrimSpace(e)] = true
	}
	return w, nil
}

// Name is the script's name.
func (w *Workload) Name() string { return w.script.name }

// Kinds is the name alone: a script has one type of transaction.
func (w *Workload) Kinds() []string { return []string{w.script.name} }

// Options are those the workload was made with.
func (w *Workload) Options() Options { return w.o }

// Counts adds up what the workload's terminals, open and closed, have counted.
func (w *Workload) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	var sum Counts
	for _, c := range w.counts {
		sum.Add(c.load())
	}
	return sum
}

func (w *Workload) newCounters() *counters {
	c := new(counters)
	w.mu.Lock()
	w.counts = append(w.counts, c)
	w.mu.Unlock()
	return c
}

// PreparedPerConnection is the number of statements a terminal keeps prepared
// on the server: those of each table, and BEGIN and COMMIT.
func (w *Workload) PreparedPerConnection() int {
	if w.o.PSMode == "disable" {
		return 0
	}
	once, perTable := w.script.prepares(&w.o)
	return len(once) + len(perTable)*w.o.Tables
}
