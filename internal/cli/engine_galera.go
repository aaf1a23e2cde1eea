package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/target"
)

// galera is MariaDB in a cluster: two nodes with all of the data, and an
// arbitrator. The load goes to the first node.
var galera = serverKind{
	engine: target.Galera, program: target.MariaDB, title: "Galera on MariaDB", dialect: dsn.MySQL, nodes: 2,
	variants: map[string]string{
		"plain": "two nodes and an arbitrator, as they are",
		"tde":   "both nodes' data, logs and temporary files on encrypted volumes (AES-256-XTS)",
		"fuse":  "the same mounts without a cipher",
	},
	loading: mariadb.loading,
	prepare: mariadb.prepare,
}

// clusterWait bounds how long the members of a cluster take to find one another,
// and one that was away to catch up with the load: minutes on a busy machine.
const clusterWait = 5 * time.Minute

// startCluster starts a server in each of dirs and waits until they are one
// cluster with the arbitrator.
func (e *serverEngine) startCluster(ctx context.Context, dirs []string, extra map[string]string) (armServer, error) {
	var nodes []target.Config
	for _, dir := range dirs {
		cfg, err := e.config(dir, extra)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, cfg)
	}
	c, err := target.StartCluster(ctx, nodes)
	if err != nil {
		return nil, err
	}
	for _, node := range c.Nodes { // the arbitrator is a member, too
		if err := awaitMembers(ctx, node, len(dirs)+1); err != nil {
			c.Kill()
			return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
		}
	}
	return c, nil
}

// awaitMembers waits until a node is in step with a cluster of so many members.
func awaitMembers(ctx context.Context, node *target.Server, members int) error {
	d, err := dsn.Parse(node.DSN())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, clusterWait)
	defer cancel()
	db, err := d.Open(ctx, dsn.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	var name, size, state string
	for {
		err := db.QueryRowContext(ctx, "SHOW STATUS LIKE 'wsrep_cluster_size'").Scan(&name, &size)
		if err == nil {
			err = db.QueryRowContext(ctx, "SHOW STATUS LIKE 'wsrep_local_state_comment'").Scan(&name, &state)
		}
		if err == nil && size == fmt.Sprint(members) && state == "Synced" {
			return nil
		}
		select {
		case <-node.Done():
			return errors.New("form cluster: a node has ended; its log is " + node.LogFile())
		case <-ctx.Done():
			return fmt.Errorf("form cluster: %s of %d members, state %q: %w", size, members, state, errors.Join(err, ctx.Err()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// found makes of the data in dir those of a cluster of one node.
func (e *serverEngine) found(ctx context.Context, dir string) error {
	c, err := e.startCluster(ctx, []string{dir}, e.loading)
	if err != nil {
		return fmt.Errorf("found cluster: %w", err)
	}
	return c.Stop(context.WithoutCancel(ctx))
}
