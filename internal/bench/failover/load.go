package failover

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/veildb/veildb/internal/bench/result"
)

// load is the terminals at work.
type load struct {
	cfg       *Config
	began     time.Time
	stop      chan struct{} // closed when they are to end
	terminals []*terminal
	wg        sync.WaitGroup
	homeward  atomic.Int64 // counts calls of home
}

// A terminal sends one transaction after the other. What it counts is its own
// until the load has ended, but for last.
type terminal struct {
	load   *load
	number int
	at     int // the end it uses
	rand   *rand.Rand
	conn   *sql.Conn
	homes  int64 // calls of home that it has followed

	sent     int64 // transactions begun; the number of each is part of its id
	acks     []ack // of transactions acknowledged, in order
	unknown  []int64
	failed   []time.Duration // when others failed
	refused  uint64          // connections that could not be made
	retries  uint64
	last     atomic.Int64 // when the last acknowledged transaction began, ns
	lastFail error
}

// An ack is a transaction acknowledged.
type ack struct {
	id        int64
	begun, at time.Duration
}

// idsPerTerminal is more transactions than a terminal sends.
const idsPerTerminal = 1 << 40

func startLoad(ctx context.Context, c *Config) *load {
	l := &load{cfg: c, began: time.Now(), stop: make(chan struct{})}
	for n := range c.Terminals {
		t := &terminal{load: l, number: n, at: n % len(c.Ends), rand: rand.New(rand.NewPCG(c.Seed, uint64(n)))}
		t.last.Store(-1)
		l.terminals = append(l.terminals, t)
		l.wg.Go(func() { t.run(ctx) })
	}
	return l
}

func (l *load) now() time.Duration { return time.Since(l.began) }

// end has the terminals finish what they have begun.
func (l *load) end() {
	close(l.stop)
	l.wg.Wait()
}

// err is the error of a terminal that never got a transaction through.
func (l *load) err() error {
	for _, t := range l.terminals {
		if len(t.acks) == 0 && t.lastFail != nil {
			return fmt.Errorf("load: terminal %d: %w", t.number, t.lastFail)
		}
	}
	return nil
}

// home sends every terminal to the end it began at.
func (l *load) home() { l.homeward.Add(1) }

// allSince reports whether every terminal has had a transaction acknowledged
// that it began after at.
func (l *load) allSince(at time.Duration) bool {
	return !slices.ContainsFunc(l.terminals, func(t *terminal) bool { return t.last.Load() <= int64(at) })
}

func (l *load) wait(ctx context.Context, d time.Duration) error { return sleep(ctx, d) }

// await polls until holds; ErrDown if that takes longer than bound.
func (l *load) await(ctx context.Context, bound time.Duration, holds func() bool) error {
	for end := time.Now().Add(bound); !holds(); {
		if time.Now().After(end) {
			return ErrDown
		}
		if err := sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// Waits of a terminal after a failure, longer each time in a row.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 100 * time.Millisecond
)

func (t *terminal) run(ctx context.Context) {
	pause := firstPause
	defer func() { t.drop() }()
	for {
		select {
		case <-t.load.stop:
			return
		case <-ctx.Done():
			return
		default:
		}
		if h := t.load.homeward.Load(); h != t.homes {
			t.homes = h
			t.drop()
			t.at = t.number % len(t.load.cfg.Ends)
		}
		if t.once(ctx) {
			pause = firstPause
			continue
		}
		t.drop()
		t.at = (t.at + 1) % len(t.load.cfg.Ends)
		if sleep(ctx, pause) != nil {
			return
		}
		pause = min(2*pause, lastPause)
	}
}

// drop gives the connection up; after a failure it may be in any state.
func (t *terminal) drop() {
	if t.conn == nil {
		return
	}
	// Not back to the pool: it may hold a transaction, or have no server.
	_ = t.conn.Raw(func(any) error { return errDrop })
	_ = t.conn.Close()
	t.conn = nil
}

// errDrop makes the pool discard a connection.
var errDrop = fmt.Errorf("drop connection: %w", driver.ErrBadConn)

// once sends one transaction; false if it failed.
func (t *terminal) once(ctx context.Context) bool {
	c := t.load.cfg
	if t.conn == nil {
		conn, err := c.Ends[t.at].Conn(ctx)
		if err != nil {
			t.refused++
			t.lastFail = err
			return false
		}
		t.conn = conn
	}
	id := int64(t.number)*idsPerTerminal + t.sent
	t.sent++
	n, row := t.rand.IntN(c.Tables)+1, t.rand.IntN(c.TableSize)+1
	begun := t.load.now()
	for _, s := range []string{
		"START TRANSACTION",
		fmt.Sprintf("UPDATE sbtest%d SET k = k + 1 WHERE id = %d", n, row),
		fmt.Sprintf("INSERT INTO %s (id, tbl, rw) VALUES (%d, %d, %d)", table, id, n, row),
	} {
		if _, err := t.conn.ExecContext(ctx, s); err != nil {
			return t.fail(ctx, err)
		}
	}
	if _, err := t.conn.ExecContext(ctx, "COMMIT"); err != nil {
		if !c.Retry(err) { // a conflict is an answer: not committed
			t.unknown = append(t.unknown, id)
		}
		return t.fail(ctx, err)
	}
	t.acks = append(t.acks, ack{id, begun, t.load.now()})
	t.last.Store(int64(begun))
	return true
}

// fail counts a failure. After a conflict the connection goes on; true then.
func (t *terminal) fail(ctx context.Context, err error) bool {
	t.lastFail = err
	if t.load.cfg.Retry(err) {
		if _, err := t.conn.ExecContext(ctx, "ROLLBACK"); err == nil {
			t.retries++
			return true
		}
	}
	t.failed = append(t.failed, t.load.now())
	return false
}

// figures are the load's part of the record.
func (l *load) figures(m moments) result.Failover {
	f := result.Failover{Start: l.began.UTC().Round(time.Microsecond)}
	var acks []ack
	for _, t := range l.terminals {
		acks = append(acks, t.acks...)
		f.Errors += uint64(len(t.failed))
		f.Refused += t.refused
		f.Retries += t.retries
		f.Unanswered += uint64(len(t.unknown))
	}
	slices.SortFunc(acks, func(a, b ack) int { return int(a.at - b.at) })
	f.Acknowledged = uint64(len(acks))
	rate := func(from, to time.Duration) float64 {
		n := 0
		for _, a := range acks {
			if from <= a.at && a.at < to {
				n++
			}
		}
		return float64(n) / (to - from).Seconds()
	}
	f.TPS = result.FailoverTPS{
		Before: rate(0, m.killed), After: rate(m.recovered, m.rejoin), Rejoining: rate(m.rejoin, m.rejoined), Rejoined: rate(m.rejoined, m.end),
	}
	f.GapS, f.ServedS = gap(acks, m)
	f.AllBackS = (m.recovered - m.killed).Seconds()
	f.RejoinS = (m.rejoined - m.rejoin).Seconds()
	return f
}

// gap is the longest time without an acknowledgement that ends between the kill
// and the start of the replica's return, and how long after the kill the first
// transaction begun after it was acknowledged; both in seconds.
func gap(acks []ack, m moments) (longest, served float64) {
	var last time.Duration
	first := m.rejoin
	for _, a := range acks {
		if a.at > m.killed && a.at <= m.rejoin {
			longest = max(longest, (a.at - last).Seconds())
		}
		if a.begun > m.dead {
			first = min(first, a.at)
		}
		last = a.at
	}
	return longest, (first - m.killed).Seconds()
}
