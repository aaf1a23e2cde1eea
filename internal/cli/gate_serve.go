package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/gate"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
)

// gateOptions are the options of veildb gate serve.
type gateOptions struct {
	backendOptions
	listen, rules, registry, key string
	cert, certKey                string
	requireTLS, clearKeys        bool
	audit, metrics               string
	grace, interval              time.Duration
	cfg                          gate.Config
}

func newGateServeCommand(env *Env) *cobra.Command {
	var o gateOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a gate",
		Long: `Run a gate in front of one or several servers. The servers must hold the same
data; a new connection goes to the first of them that answers.

The gate's own account reads the servers' catalogs and needs
  GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@…

Master keys that clients hand over are compared with a registry; accounts that
the rules name under registrars can bring new ones. Rules are read again when
their file changes, and on SIGHUP. SIGTERM lets transactions end.`,
		Example: `  veildb gate serve --listen 0.0.0.0:6033 --backend mysql://veil@127.0.0.1:3306/ --password-file veil.pw \
      --rules rules.yaml --tls-cert gate.pem --tls-key gate.key --audit audit.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:6033", "take connections at `ADDR`: HOST:PORT or unix:PATH")
	f.StringVar(&o.rules, "rules", "", "`FILE` of the rules")
	f.StringVar(&o.registry, "registry", "", "`FILE` that remembers master keys, not the keys themselves (default: the rules' with .meks)")
	f.StringVar(&o.key, "key", "", "`KEYFILE` that gives the gate an identity clients can pin")
	f.StringVar(&o.cert, "tls-cert", "", "certificate `FILE`; offers clients TLS")
	f.StringVar(&o.certKey, "tls-key", "", "private key `FILE` for it")
	f.BoolVar(&o.requireTLS, "require-tls", false, "refuse clients without TLS")
	f.BoolVar(&o.clearKeys, "allow-clear-keys", false, "let master keys come over connections without TLS")
	f.StringVar(&o.audit, "audit", "", "append a JSON line for each login, refusal and result with ciphertext to `FILE` (default: standard error)")
	f.StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics at `ADDR`, path /metrics")
	f.IntVar(&o.cfg.MaxConns, "max-connections", 1024, "take at most `N` connections at once")
	f.IntVar(&o.cfg.MaxStatement, "max-statement", 64<<20, "longest statement, in `BYTES`")
	f.DurationVar(&o.cfg.Idle, "idle-timeout", 8*time.Hour, "end connections without a command for so long")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "when stopped, wait so long for transactions to end")
	f.DurationVar(&o.interval, "rules-interval", 2*time.Second, "look for changed rules so often")
	return cmd
}

// run serves until ctx is done.
func (o *gateOptions) run(ctx context.Context, env *Env) error {
	if err := o.configure(ctx, env); err != nil {
		return err
	}
	audit, err := o.auditLog(env)
	if err != nil {
		return err
	}
	defer audit.close()
	o.cfg.Audit = audit.write
	log := slog.New(slog.NewTextHandler(env.Stderr, nil))
	srv := gate.New(o.cfg)
	ln, err := gateListener(o.listen)
	if err != nil {
		return &Error{Code: ExitMissing, Op: "start gate", Err: err, Hint: "is another program listening there?"}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	bg, stop := context.WithCancel(ctx)
	defer stop()
	for _, b := range o.cfg.Backends {
		wg.Go(func() { b.Run(bg) })
	}
	wg.Go(func() { o.watchRules(bg, log) })
	if o.metrics != "" {
		if err := serveMetrics(bg, &wg, o.metrics, srv); err != nil {
			ln.Close()
			return &Error{Code: ExitMissing, Op: "start gate", Err: err, Hint: "give --metrics another address"}
		}
	}
	fmt.Fprintf(env.Stdout, "listening on %s\n", ln.Addr())
	err = srv.Serve(ctx, ln)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.grace)
	defer cancel()
	srv.Shutdown(end)
	if err != nil {
		return fmt.Errorf("serve gate: %w", err)
	}
	return nil
}

// configure turns the options into o.cfg and checks that the backends can be
// used.
func (o *gateOptions) configure(ctx context.Context, env *Env) (err error) {
	const op = "start gate"
	if err := harden(); err != nil {
		return fmt.Errorf("start gate: %w", err)
	}
	if o.cfg.Backends, err = o.open(op); err != nil {
		return err
	}
	for _, b := range o.cfg.Backends {
		if b.Network == "unix" {
			return usagef(op, "name the server by HOST:PORT", "over a socket the server would take the gate's operating system user for that of its clients")
		}
	}
	if _, err := rulesFor(o.rules); err != nil {
		return err
	}
	o.cfg.Rules, err = policy.NewStore(ctx, &policy.File{Path: o.rules, Replace: disk.AtomicWrite}, schema.IgnoreCase)
	if err != nil {
		return fmt.Errorf("start gate: %w", err)
	}
	if o.cfg.ClientTLS, err = o.serverTLS(op); err != nil {
		return err
	}
	if o.cfg.RequireTLS = o.requireTLS; o.requireTLS && o.cfg.ClientTLS == nil {
		return usagef(op, "add --tls-cert and --tls-key", "--require-tls without a certificate")
	}
	o.cfg.EncDB = &encdb.Config{
		AllowClear: o.clearKeys, Limiter: encdb.NewLimiter(10, time.Minute),
		MayRegister: func(a encdb.Account) bool { return o.cfg.Rules.Current().MayRegister(a.User, a.Host) },
		Rules:       storeRules{o.cfg.Rules},
	}
	if o.cfg.EncDB.Registry, err = o.openRegistry(); err != nil {
		return err
	}
	if o.key != "" {
		if err := o.identify(ctx, env); err != nil {
			return err
		}
	}
	for _, b := range o.cfg.Backends {
		if _, err := b.Catalog(ctx); err != nil && !errors.Is(err, gate.ErrBlind) {
			fmt.Fprintf(env.Stderr, "veildb: backend %s cannot be used yet: %v\n", b.Address, err)
		} else if err != nil {
			return &Error{Code: ExitMissing, Op: op, Err: err, Hint: "GRANT SELECT, SHOW VIEW, TRIGGER ON *.* to the account of --backend"}
		}
	}
	return nil
}

// storeRules lets rules come over the protocol.
type storeRules struct{ *policy.Store }

func (s storeRules) Import(from encdb.Account, document []byte) error {
	return s.Store.Import(context.Background(), from.User, from.Host, document)
}

func (s storeRules) Delete(from encdb.Account, name string) error {
	return s.Store.Delete(context.Background(), from.User, from.Host, name)
}

// openRegistry opens the file that remembers master keys.
func (o *gateOptions) openRegistry() (*encdb.Registry, error) {
	path := o.registry
	if path == "" {
		path = o.rules + ".meks"
	}
	state, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open registry: %w", err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		state = nil
	}
	return encdb.OpenRegistry(state, func(state []byte) error { return disk.AtomicWrite(path, state, 0o600) })
}

// identityVersion is the data key an identity is derived from: it stays when
// others are added.
const identityVersion = 1

// identify gives the gate its identity and says how to pin it.
func (o *gateOptions) identify(ctx context.Context, env *Env) error {
	ring, err := openKeyring(ctx, env, o.key)
	if err != nil {
		return err
	}
	defer ring.Close()
	seed, err := ring.Subkey("gate identity", identityVersion)
	if err != nil {
		return err
	}
	defer seed.Close()
	identity := ed25519.NewKeyFromSeed(seed.Reveal()[:ed25519.SeedSize])
	o.cfg.EncDB.Identity = identity
	_, err = fmt.Fprintf(env.Stdout, "clients can pin this gate: --gate-key-hash %s\n", encdb.IdentityPin(identity.Public().(ed25519.PublicKey)))
	return err
}

func (o *gateOptions) serverTLS(op string) (*tls.Config, error) {
	if o.cert == "" && o.certKey == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.certKey)
	if err != nil {
		return nil, usagef(op, "--tls-cert and --tls-key name a certificate and its key in PEM", "%w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// clientTLS is the configuration an option asks for: off, verify or skip-verify.
func clientTLS(op, flag, mode, ca, host string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	switch mode {
	case "off":
		return nil, nil
	case "skip-verify":
		cfg.InsecureSkipVerify = true
	case "verify":
	default:
		return nil, usagef(op, "want off, verify or skip-verify", "%s=%s", flag, mode)
	}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, usagef(op, "name a file of certificates in PEM", "%w", err)
		}
		if cfg.RootCAs = x509.NewCertPool(); !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usagef(op, "name a file of certificates in PEM", "%s holds no certificate", ca)
		}
	}
	return cfg, nil
}

// givenPassword is the password of a file or the environment.
func givenPassword(file string) ([]byte, error) {
	if file == "" {
		return []byte(os.Getenv(passwordEnv)), nil
	}
	p, err := readPassword(file)
	return []byte(p), err
}

func gateListener(addr string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return net.Listen("unix", path)
	}
	return net.Listen("tcp", addr)
}

// watchRules takes over changed rules until ctx ends.
func (o *gateOptions) watchRules(ctx context.Context, log *slog.Logger) {
	report := func(v *policy.Version, err error) {
		if err != nil {
			log.Error("rules stay as they were", "version", v.Number, "cause", err)
			return
		}
		log.Info("rules changed", "version", v.Number, "digest", v.Digest(), "rules", v.Len())
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hup:
				if changed, err := o.cfg.Rules.Reload(ctx); err != nil || changed {
					report(o.cfg.Rules.Current(), err)
				}
			}
		}
	}()
	o.cfg.Rules.Watch(ctx, o.interval, report)
}

// An auditLog writes events as lines of JSON.
type auditLog struct {
	mu  sync.Mutex
	out io.Writer
	own *os.File
	err error
}

func (o *gateOptions) auditLog(env *Env) (*auditLog, error) {
	a := &auditLog{out: env.Stderr}
	if o.audit == "" {
		return a, nil
	}
	f, err := os.OpenFile(o.audit, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, usagef("open audit log", "name a file that can be written", "%w", err)
	}
	a.out, a.own = f, f
	return a, nil
}

func (a *auditLog) write(e gate.Event) {
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, a.err = a.out.Write(append(line, '\n'))
}

func (a *auditLog) close() {
	if a.own != nil {
		a.own.Close()
	}
}

// serveMetrics answers Prometheus until ctx ends.
func serveMetrics(ctx context.Context, wg *sync.WaitGroup, addr string, srv *gate.Server) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		srv.Stats().WriteMetrics(w)
	})
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	wg.Go(func() { h.Serve(ln) })
	context.AfterFunc(ctx, func() { h.Close() })
	return nil
}
