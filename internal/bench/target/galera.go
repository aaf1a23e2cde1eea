package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Galera is MariaDB in a cluster that replicates synchronously; see
// StartCluster. Start does not know it.
const Galera = "galera"

// galeraProviders are where packages put the replication library.
var galeraProviders = []string{"/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so", "/usr/lib/galera-4/libgalera_smm.so"}

// findGalera looks for MariaDB and what a cluster needs beside it.
func findGalera(binDir string) (in Install, provider, arbitrator string, err error) {
	missing := &NotInstalledError{Engine: Galera}
	lacks := func(packages string, looked ...string) {
		missing.Package = strings.TrimSpace(missing.Package + " " + packages)
		missing.Looked = append(missing.Looked, looked...)
	}
	if in, err = Find(MariaDB, binDir); err != nil {
		var server *NotInstalledError
		if !errors.As(err, &server) {
			return in, "", "", err
		}
		lacks(server.Package, server.Looked...)
	}
	i := slices.IndexFunc(galeraProviders, exists)
	if i < 0 {
		lacks("galera-4", galeraProviders...)
	} else {
		provider = galeraProviders[i]
	}
	if arbitrator, err = exec.LookPath("garbd"); err != nil {
		lacks("galera-arbitrator-4", "garbd in PATH")
	}
	if _, err = exec.LookPath("rsync"); err != nil { // what copies a node whole
		lacks("rsync", "rsync in PATH")
	}
	if missing.Package != "" {
		return Install{}, "", "", missing
	}
	in.Engine = Galera
	return in, provider, arbitrator, nil
}

// A Cluster is several MariaDB servers, each with all of the data, and an
// arbitrator that has a vote and no data. Its methods are those of a Server.
type Cluster struct {
	Nodes      []*Server
	members    []string // the nodes' addresses for replication
	arbitrator *process
}

// clusterName is what the members of a cluster call it.
const clusterName = "veildb"

// StartCluster starts servers on equal data, one for each config, as a
// cluster. Each config names a Dir and has TCP set. The data are those of an
// ordinary server, if there is but one config; more than one need copies of
// what a cluster of one node was shut down in order with, so that they agree on
// their place in its history and none copies from another. It returns before
// the nodes have found one another: ask them. Errors are those of Start;
// nothing is left behind then but the directories.
func StartCluster(ctx context.Context, nodes []Config) (_ *Cluster, err error) {
	_, provider, arbitrator, err := findGalera("")
	if err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	c := &Cluster{}
	defer func() {
		if err != nil {
			c.Kill()
			err = errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
		}
	}()
	for i, cfg := range nodes {
		if err := c.admit(ctx, provider, cfg); err != nil {
			return nil, err
		}
		if i > 0 {
			continue
		}
		// Before the others: with its vote the first node outlives the loss of
		// one that is about to join.
		if err := c.arbitrate(arbitrator); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// admissions is how often a node tries to join: on a machine that is busy beyond
// its members' patience, or where a port was taken meanwhile, it ends by itself.
const admissions = 3

// admit starts a node and has it join the others.
func (c *Cluster) admit(ctx context.Context, provider string, cfg Config) error {
	var failed error
	for range admissions {
		ports, err := FreePorts(3)
		if err != nil {
			return err
		}
		node := cfg
		if err := node.replicate(provider, ports, c.members); err != nil {
			return fmt.Errorf("start cluster: %w", err)
		}
		s, err := Start(ctx, node)
		if err == nil {
			c.Nodes = append(c.Nodes, s)
			c.members = append(c.members, loopback(ports[0]))
			return nil
		}
		if failed = err; !errors.Is(err, ErrStart) || ctx.Err() != nil {
			break
		}
	}
	return failed
}

// patience bounds how long a node waits for the others when it joins; Galera's
// own half minute is short for a busy machine.
const patience = "PT2M"

// replicate adds to cfg what a node needs to join members, or to found a
// cluster if there are none. Its ports are for replication, for what it missed,
// and for all of the data.
func (cfg *Config) replicate(provider string, ports []int, members []string) error {
	cfg.otherUser = true // as root, the transfer's own server would drop its rights and fail
	position, err := clusterPosition(filepath.Join(cfg.DataDir, "grastate.dat"))
	if err != nil {
		return err
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 3 * time.Minute // more than patience
	}
	cfg.Settings = mergeSettings(cfg.Settings, map[string]string{
		"wsrep_on":                  "ON",
		"wsrep_provider":            provider,
		"wsrep_cluster_name":        clusterName,
		"wsrep_cluster_address":     "gcomm://" + strings.Join(members, ","),
		"wsrep_node_address":        "127.0.0.1",
		"wsrep_start_position":      position,
		"wsrep_sst_method":          "rsync", // says that nothing is to be copied
		"wsrep_sst_receive_address": loopback(ports[2]),
		"binlog_format":             "ROW",
		"innodb_autoinc_lock_mode":  "2",
		"wsrep_provider_options": "gmcast.listen_addr=tcp://" + loopback(ports[0]) + ";ist.recv_addr=" + loopback(ports[1]) +
			";gcache.size=64M;pc.wait_prim_timeout=" + patience,
	})
	return nil
}

// clusterPosition reads a node's place in the history of its cluster,
// UUID:NUMBER, which it wrote when it shut down; before there was a cluster that
// is nowhere.
func clusterPosition(path string) (string, error) {
	const nowhere = "00000000-0000-0000-0000-000000000000:-1"
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nowhere, nil
	}
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(b))
	value := func(name string) string {
		if i := slices.Index(words, name); i >= 0 && i+1 < len(words) {
			return words[i+1]
		}
		return ""
	}
	if value("uuid:") == "" || value("seqno:") == "" {
		return "", fmt.Errorf("read %s: no position", path)
	}
	return value("uuid:") + ":" + value("seqno:"), nil
}

// arbitrate starts the arbitrator.
func (c *Cluster) arbitrate(program string) error {
	ports, err := FreePorts(1)
	if err != nil {
		return err
	}
	dir := c.Nodes[0].dir
	log := filepath.Join(dir.root, "arbitrator.log")
	cmd := exec.Command(program, "--address", "gcomm://"+strings.Join(c.members, ","), "--group", clusterName,
		"--options", "gmcast.listen_addr=tcp://"+loopback(ports[0]), "--log", log)
	cmd.Dir, cmd.Env = dir.run, childEnv(dir)
	if c.arbitrator, err = spawn(cmd, nil, deathSignal(syscall.SIGKILL), false); err != nil {
		return fmt.Errorf("start arbitrator: %w", err)
	}
	return nil
}

// Rejoin starts node n again after its Kill, on its data and, if it can, at its
// address. It returns when the node answers; what that missed comes from the
// others meanwhile, or from then on. Errors are those of Start.
func (c *Cluster) Rejoin(ctx context.Context, n int) error {
	s := c.Nodes[n]
	position, err := s.recoverPosition(ctx)
	if err != nil {
		return fmt.Errorf("rejoin cluster: %w", err)
	}
	others := slices.Delete(slices.Clone(c.members), n, n+1)
	s.cfg.Settings["wsrep_start_position"] = position
	s.cfg.Settings["wsrep_cluster_address"] = "gcomm://" + strings.Join(others, ",")
	return s.Restart(ctx)
}

// recoverPosition asks the data of a killed node how far they had come in the
// history of the cluster: only a node that shuts down in order writes that down.
func (s *Server) recoverPosition(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	argv := append(s.eng.serve(s), "--wsrep-recover", "--skip-log-error")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.dir.run, childEnv(s.dir)
	out := new(strings.Builder)
	cmd.Stdout, cmd.Stderr = out, out
	p, err := spawn(cmd, s.dir.cred, deathSignal(s.eng.deathSignal()), false)
	if err != nil {
		return "", err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.killTree()
		return "", ctx.Err()
	}
	m := recoveredPosition.FindStringSubmatch(out.String())
	if m == nil {
		return "", fmt.Errorf("recover position: none found (%s)", p.outcome())
	}
	return m[1], nil
}

var recoveredPosition = regexp.MustCompile(`Recovered position:\s*([0-9a-f-]{36}:-?[0-9]+)`)

// Addr is the address of the first node.
func (c *Cluster) Addr() string { return c.Nodes[0].Addr() }

// CPUSeconds is the processor time that all nodes and the arbitrator have used.
func (c *Cluster) CPUSeconds() (float64, error) {
	sum, err := TreeCPU(c.arbitrator.pid)
	for _, s := range c.Nodes {
		if err == nil {
			var used float64
			used, err = s.CPUSeconds()
			sum += used
		}
	}
	return sum, err
}

// Kill ends all of the cluster at once, as a power failure would.
func (c *Cluster) Kill() {
	if c.arbitrator != nil {
		c.arbitrator.killTree()
	}
	for _, s := range c.Nodes {
		s.Kill()
	}
}

// Stop shuts the cluster down in order. The first node is the last to leave, so
// that it may found the cluster anew.
func (c *Cluster) Stop(ctx context.Context) error {
	var errs []error
	if c.arbitrator != nil {
		errs = append(errs, c.arbitrator.stop(ctx, syscall.SIGTERM))
	}
	for _, s := range slices.Backward(c.Nodes) {
		errs = append(errs, s.Stop(ctx))
	}
	return errors.Join(errs...)
}

func loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
