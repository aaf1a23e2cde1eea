package gate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// An outcome is what a client knows of its transaction.
type outcome byte

const (
	failed    outcome = iota // an error before the commit: it must not be there
	committed                // it must be there
	unknown                  // the connection was lost in the commit: reported failed, and either way
)

// A soakClient commits one transaction after the other and reconnects when its
// connection is lost.
type soakClient struct {
	t        *testing.T
	addr     string
	user     string
	number   int
	outcomes []outcome // by the transaction's number
	lost     int       // connections
	cells    int
	seed     *rand.Rand
}

func (c *soakClient) run(ctx context.Context, committedAll *atomic.Int64) {
	done := false // however slow the machine, each commits once
	var conn *wire.Conn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for ctx.Err() == nil || !done {
		if conn == nil {
			var err error
			if conn, _, err = tryRaw(c.addr, c.user, "soak", wire.Credential{}); err != nil {
				conn = nil
				time.Sleep(10 * time.Millisecond)
				continue
			}
		}
		o, ok := c.transaction(conn)
		if o == committed {
			done = true
			committedAll.Add(1)
		}
		c.outcomes = append(c.outcomes, o)
		if !ok {
			conn.Close()
			conn, c.lost = nil, c.lost+1
		}
	}
}

// transaction tries one, and reports whether the connection can go on.
func (c *soakClient) transaction(conn *wire.Conn) (o outcome, ok bool) {
	id := len(c.outcomes)
	for _, sql := range []string{
		"START TRANSACTION",
		fmt.Sprintf("INSERT INTO ids VALUES (%d, %d, 'secret%d')", c.number, id, id),
		fmt.Sprintf("UPDATE counters SET n = n + 1 WHERE k = %d", c.seed.IntN(64)),
		fmt.Sprintf("SELECT card FROM ids WHERE client = %d AND id = %d", c.number, id),
	} {
		err := wire.RunQuery(conn, sql, func(_ []wire.Column, v [][]byte) error {
			if c.user == "boss" {
				if string(v[0]) != "secret"+strconv.Itoa(id) {
					c.t.Errorf("client %d got %q", c.number, v[0])
				}
			} else if c.cells++; !isCell(v[0]) {
				c.t.Errorf("client %d got %q in plain", c.number, v[0])
			}
			return nil
		})
		if err != nil {
			// Deadlocks and the like leave the connection; it has to roll back.
			return failed, code(err) != 0 && wire.RunQuery(conn, "ROLLBACK", nil) == nil
		}
	}
	if err := wire.RunQuery(conn, "COMMIT", nil); err != nil {
		return unknown, false
	}
	return committed, true
}

// usage is what must not grow.
type usage struct{ files, goroutines, heap int }

func measure(t *testing.T) usage {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{fds(t), runtime.NumGoroutine(), int(m.HeapAlloc)}
}

// TestSoak has clients at work while their server is killed and started again:
// each transaction is committed once or reported failed, and nothing is left
// behind. With -soak 30m, it is 64 clients for so long.
func TestSoak(t *testing.T) {
	length, clients, every := 3*time.Second, 8, time.Second
	if *soak > 0 {
		length, clients, every = *soak, 64, 20*time.Second
	}
	s := targettest.Start(t, target.MariaDB, map[string]string{"innodb_flush_log_at_trx_commit": "2", "innodb_doublewrite": "ON"})
	root := dialRaw(t, s.Addr(), "root", "", 0)
	for _, sql := range []string{
		"CREATE USER boss@'%', app@'%'", "CREATE USER veil@'%' IDENTIFIED BY 'service'",
		"GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@'%'", "CREATE DATABASE soak", "GRANT ALL ON soak.* TO boss@'%', app@'%'",
		"CREATE TABLE soak.ids (client INT, id INT, card VARCHAR(30), PRIMARY KEY (client, id))",
		"CREATE TABLE soak.counters (k INT PRIMARY KEY, n BIGINT NOT NULL)",
		"INSERT INTO soak.counters SELECT seq, 0 FROM soak.seq_0_to_63", "FLUSH TABLES",
	} {
		root.must(sql)
	}
	way := forward(t, s)
	b := &Backend{Network: "tcp", Address: way.addr, User: "veil", Password: []byte("service")}
	running, stop := context.WithCancel(t.Context())
	var background sync.WaitGroup
	background.Go(func() { b.Run(running) })
	t.Cleanup(func() { stop(); background.Wait() })
	g := startGate(t, func(c *Config) { c.Backends, c.TrustGrants = []*Backend{b}, false })
	g.source.Write(t.Context(), nil, []byte("version: 1\naccounts: {full: [boss], ciphertext: [app]}\nrules: [{name: ids, databases: soak, tables: ids, columns: card}]\n"))
	if _, err := g.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "the backend is up", b.healthy)
	ctx, end := context.WithTimeout(t.Context(), length)
	defer end()
	idle := measure(t)
	all := make([]*soakClient, clients)
	var total atomic.Int64
	var wg sync.WaitGroup
	for i := range all {
		all[i] = &soakClient{t: t, addr: g.addr, user: []string{"boss", "app"}[i%2], number: i, seed: rand.New(rand.NewPCG(1, uint64(i)))}
		wg.Go(func() { all[i].run(ctx, &total) })
	}
	restarts, samples := keepKilling(ctx, t, s, way, every, &total)
	wg.Wait()
	await(t, "sessions end", func() bool { return g.srv.Stats().Open == 0 })
	await(t, "the backend is up", b.healthy)
	g.mu.Lock()
	g.events = nil // which only this test keeps
	g.mu.Unlock()
	var after usage
	await(t, "files are closed and goroutines end", func() bool {
		after = measure(t)
		return after.files <= idle.files+4 && after.goroutines <= idle.goroutines+4
	})
	t.Logf("%v, %d clients, %d restarts, %d committed; idle %+v, after %+v, under way %+v", length, clients, restarts, total.Load(), idle, after, samples)
	if after.heap > idle.heap+int(total.Load())*4+(32<<20) {
		t.Errorf("the heap has grown from %d to %d bytes", idle.heap, after.heap)
	}
	compareSoak(t, s.Addr(), all)
}

// keepKilling kills and restarts the server until ctx ends, and returns how often
// and what was in use in between. It waits for a commit before and after each.
func keepKilling(ctx context.Context, t *testing.T, s *target.Server, way *forwarder, every time.Duration, total *atomic.Int64) (restarts int, samples []usage) {
	progress := func() {
		was := total.Load()
		await(t, "a commit", func() bool { return total.Load() > was || ctx.Err() != nil })
	}
	for ctx.Err() == nil {
		progress()
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
		if ctx.Err() != nil {
			break
		}
		if len(samples) < 1000 && (restarts%10 == 0) {
			samples = append(samples, measure(t))
		}
		s.Kill()
		again, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		err := s.Restart(again)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		way.follow(s)
		restarts++
	}
	return restarts, samples
}

// compareSoak compares what the clients know with what is in the tables.
func compareSoak(t *testing.T, addr string, clients []*soakClient) {
	root := dialRaw(t, addr, "root", "", 0)
	there := make([]map[int]bool, len(clients))
	for i := range there {
		there[i] = map[int]bool{}
	}
	rows, counted := 0, 0
	must := func(sql string, row func(v []string)) {
		if err := queryStrings(root.Conn, sql, row); err != nil {
			t.Fatal(err)
		}
	}
	must("SELECT client, id FROM soak.ids", func(v []string) {
		client, _ := strconv.Atoi(v[0])
		id, _ := strconv.Atoi(v[1])
		there[client][id] = true
		rows++
	})
	must("SELECT SUM(n) FROM soak.counters", func(v []string) { counted, _ = strconv.Atoi(v[0]) })
	if counted != rows {
		t.Errorf("%d transactions by their counters, %d by their rows", counted, rows)
	}
	var known [3]int
	lost, late, cells := 0, 0, 0
	for i, c := range clients {
		for id, o := range c.outcomes {
			known[o]++
			switch is := there[i][id]; {
			case o == committed && !is:
				t.Errorf("transaction %d of client %d was committed and is not there", id, i)
			case o == failed && is:
				t.Errorf("transaction %d of client %d failed and is there", id, i)
			case o == unknown && is:
				late++
			}
			delete(there[i], id)
		}
		lost += c.lost
		cells += c.cells
		if len(there[i]) > 0 {
			t.Errorf("client %d: %d rows nobody sent", i, len(there[i]))
		}
	}
	if known[committed] == 0 || cells == 0 {
		t.Error("nothing was committed")
	}
	t.Logf("%d committed, %d failed, %d lost in the commit (%d of them were done), %d connections lost, %d cells", known[committed], known[failed], known[unknown], late, lost, cells)
}
