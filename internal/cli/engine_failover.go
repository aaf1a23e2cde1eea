package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/failover"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/inuse/cells"
)

var _ study.Breaker = (*serverEngine)(nil)

// Failover loads a cluster through a gate before each node, kills the last
// node and what it is mounted on, and has it rejoin.
func (e *serverEngine) Failover(ctx context.Context, dataset, variant string, o study.FailoverLoad) (f result.Failover, err error) {
	if e.nodes < 2 {
		return f, fmt.Errorf("%w: %s has one node and cannot lose it", study.ErrDefinition, e.title)
	}
	a, err := e.arm(ctx, dataset, variant, "failover")
	if err != nil {
		return f, err
	}
	b := &broken{serverArm: a, cluster: a.server.(*target.Cluster), variant: variant, victim: e.nodes - 1}
	defer func() { err = errors.Join(err, b.close()) }()
	for n, node := range b.cluster.Nodes {
		if err := b.open(ctx, n, node.Addr()); err != nil {
			return f, err
		}
	}
	return failover.Run(ctx, failover.Config{
		Ends: b.ends, Victim: b.victim, Kill: b.kill, Rejoin: b.rejoin, Replica: b.replica,
		Retry:     func(err error) bool { return dsn.MySQL.IsSerializationFailure(err) || dsn.MySQL.IsDeadlock(err) },
		Terminals: o.Terminals, Tables: o.Tables, TableSize: o.TableSize, Seed: o.Seed, Steady: o.Steady, Progress: o.Progress,
	})
}

// broken is an arm that loses a node.
type broken struct {
	*serverArm
	cluster *target.Cluster
	variant string
	victim  int
	gates   []*child
	ends    []*sql.DB
}

// open starts the gate before node n and connects to it.
func (b *broken) open(ctx context.Context, n int, address string) error {
	dir := filepath.Join(b.dir, fmt.Sprintf("gate%d", n+1))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create data directory: %w", err)
	}
	gate, err := startGate(ctx, dir, address, &cells.Set{})
	if err != nil {
		return err
	}
	b.gates = append(b.gates, gate)
	end, err := b.engine.openPlain(ctx, gate.address)
	if err != nil {
		return err
	}
	b.ends = append(b.ends, end)
	return nil
}

func (b *broken) close() error {
	var errs []error
	for _, end := range b.ends {
		errs = append(errs, end.Close())
	}
	for _, gate := range b.gates {
		errs = append(errs, gate.stop())
	}
	return errors.Join(append(errs, b.serverArm.close())...)
}

// replica connects to a node itself, as its administrator.
func (b *broken) replica(ctx context.Context, n int) (*sql.DB, error) {
	d, err := dsn.Parse(b.cluster.Nodes[n].DSN())
	if err != nil {
		return nil, err
	}
	return d.Open(ctx, dsn.Options{})
}

// kill ends the victim's server and its mount at once.
func (b *broken) kill() error {
	var errs []error
	if m := b.mounted(); m != nil {
		// The daemon first: its keeper would have it unmount in order.
		tree := target.Tree(m.pid)
		for i := range tree {
			if err := syscall.Kill(tree[len(tree)-1-i], syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				errs = append(errs, err)
			}
		}
		<-m.done
	}
	b.cluster.Nodes[b.victim].Kill()
	return errors.Join(errs...)
}

func (b *broken) mounted() *child {
	if len(b.mounts) == 0 {
		return nil
	}
	return b.mounts[b.victim]
}

// rejoin mounts again what was mounted, starts the victim's server and waits
// until the cluster is whole.
func (b *broken) rejoin(ctx context.Context) (transfer string, err error) {
	dir, node := b.nodes[b.victim], b.cluster.Nodes[b.victim]
	if b.mounted() != nil {
		if err := detachBelow(dir); err != nil {
			return "", err
		}
		if b.mounts[b.victim], err = b.engine.remount(ctx, dir, b.variant == "tde"); err != nil {
			return "", err
		}
	}
	log, err := os.Stat(node.LogFile())
	if err != nil {
		return "", err
	}
	if err := b.cluster.Rejoin(ctx, b.victim); err != nil {
		return "", err
	}
	for _, n := range b.cluster.Nodes {
		if err := awaitMembers(ctx, n, len(b.nodes)+1); err != nil {
			return "", err
		}
	}
	return transferIn(node.LogFile(), log.Size())
}

// transferIn reads from what a node has logged since offset how it got what it
// had missed.
func transferIn(path string, offset int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, offset, 16<<20))
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	log := string(b)
	switch {
	case strings.Contains(log, "rsync SST/IST completed on joiner") && strings.Contains(log, "SST received"):
		return "SST", nil
	case strings.Contains(log, "IST received"):
		return "IST", nil
	}
	return "none", nil
}
