package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/gate"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/sql/schema"
)

// gateOptions are the options of veildb gate serve.
type gateOptions struct {
	backendOptions
	listen, handover      string
	rules, registry, key  string
	cert, certKey         string
	requireTLS, clearKeys bool
	shareKeys             bool
	audit, metrics        string
	grace, interval       time.Duration
	cfg                   gate.Config
}

func newGateServeCommand(env *Env) *cobra.Command {
	var o gateOptions
	cmd := &cobra.Command{
		Use:   "serve --backend DSN --rules FILE",
		Short: "Run a gate",
		Long: `Run a gate in front of one or several servers. The servers must hold the same
data; a new connection goes to the first of them that answers.

The gate's own account reads the servers' catalogs and needs
  GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO veil@…

Master keys that clients hand over are compared with a registry; accounts that
the rules name under registrars can bring new ones. Rules are a file, or a table
that many gates share (see veildb rule publish); they are read again when they
change, and on SIGHUP, which also opens the audit log anew; so is the registry,
which is a table beside that of the rules if those are in one. SIGTERM lets
transactions end. With --handover, a gate started with the same options takes the
place of the one that runs, and no connection is refused in between.`,
		Example: `  veildb gate serve --listen 0.0.0.0:6033 --backend mysql://veil@127.0.0.1:3306/ --password-file veil.pw \
      --rules rules.yaml --tls-cert gate.pem --tls-key gate.key --audit audit.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:6033", "take connections at `ADDR`: HOST:PORT or unix:PATH")
	f.StringVar(&o.handover, "handover", "", "unix socket at `PATH`: take over from the gate there, and hand over to the next")
	f.StringVar(&o.rules, "rules", "", rulesUsage)
	f.StringVar(&o.registry, "registry", "", "`FILE` that remembers master keys, not the keys themselves, or table:NAME (default: that of the rules with .meks, or their table with _meks)")
	f.StringVar(&o.key, "key", "", "`KEYFILE` that gives the gate an identity clients can pin")
	f.DurationVar(&o.cfg.KeepKeys, "keep-keys", 24*time.Hour, "keep a master key for `TIME` after its last use, for connections of the same account and address that hand over none (0: do not)")
	f.BoolVar(&o.shareKeys, "share-keys", false, "have the keys that are kept in common with gates of the same --key, encrypted with it, in a table beside that of the rules")
	f.StringVar(&o.cert, "tls-cert", "", "certificate `FILE`; offers clients TLS")
	f.StringVar(&o.certKey, "tls-key", "", "private key `FILE` for it")
	f.BoolVar(&o.requireTLS, "require-tls", false, "refuse clients without TLS")
	f.BoolVar(&o.clearKeys, "allow-clear-keys", false, "let master keys come over connections without TLS")
	f.StringVar(&o.audit, "audit", "", "append a JSON line for each login, refusal and result with ciphertext to `FILE` (default: standard error)")
	f.StringVar(&o.metrics, "metrics", "", "serve Prometheus metrics at `ADDR`, path /metrics, and /healthz")
	f.IntVar(&o.cfg.MaxConns, "max-connections", 1024, "take at most `N` connections at once")
	f.IntVar(&o.cfg.MaxPerAccount, "max-per-account", 0, "take at most `N` connections of one user (0: no limit of their own)")
	f.IntVar(&o.cfg.MaxPerHost, "max-per-host", 0, "take at most `N` connections from one address (0: no limit of their own)")
	f.IntVar(&o.cfg.MaxStatement, "max-statement", 64<<20, "longest statement, in `BYTES`")
	f.DurationVar(&o.cfg.Idle, "idle-timeout", 8*time.Hour, "end connections without a command for `TIME`")
	f.DurationVar(&o.cfg.LoginTimeout, "login-timeout", 10*time.Second, "end connections that have not logged in after `TIME`")
	f.DurationVar(&o.cfg.Stall, "stall-timeout", time.Minute, "end connections that do not go on sending or taking for `TIME`")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "when stopped, wait `TIME` for transactions to end")
	f.DurationVar(&o.interval, "rules-interval", 2*time.Second, "look for changed rules and master keys each `TIME`")
	return cmd
}

// run serves until ctx is done or a successor takes over.
func (o *gateOptions) run(ctx context.Context, env *Env) error {
	log := slog.New(slog.NewTextHandler(env.Stderr, nil))
	if err := o.configure(ctx, env, log); err != nil {
		return err
	}
	audit, err := openAudit(o.audit, env.Stderr)
	if err != nil {
		return err
	}
	defer audit.close()
	o.cfg.Audit = audit.write
	srv := gate.New(o.cfg)
	ln, before, err := o.gateListeners()
	if err != nil {
		return &Error{Code: ExitMissing, Op: "start gate", Err: err, Hint: "is another program listening there?"}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	// What runs beside goes on while sessions end.
	bg, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for _, b := range o.cfg.Backends {
		wg.Go(func() { b.Run(bg) })
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	wg.Go(func() { o.onHangup(bg, hup, log, audit) })
	wg.Go(func() { o.cfg.Rules.Watch(bg, o.interval, rulesReport(log)) })
	wg.Go(func() { o.cfg.EncDB.Registry.Watch(bg, o.interval, registryReport(log)) })
	accepting, leave := context.WithCancel(ctx)
	defer leave()
	keys, err := before.release()
	if err != nil {
		ln.Close()
		return &Error{Code: ExitMissing, Op: "start gate", Err: err, Hint: "see the log of the gate that runs"}
	}
	if err := srv.ImportKeys(keys); err != nil {
		log.Error("master keys of the gate before are lost", "cause", err)
	}
	listening, closeMetrics := context.WithCancel(bg)
	defer closeMetrics()
	if o.metrics != "" {
		if err := serveMetrics(listening, &wg, o.metrics, srv, audit); err != nil {
			ln.Close()
			return &Error{Code: ExitMissing, Op: "start gate", Err: err, Hint: "give --metrics another address"}
		}
	}
	var next *handover
	if o.handover != "" {
		if next, err = offerHandover(o.handover, ln, leave, srv.ExportKeys); err != nil {
			ln.Close()
			return &Error{Code: ExitMissing, Op: "start gate", Err: err, Hint: "give --handover a path where a socket can be made"}
		}
	}
	fmt.Fprintf(env.Stdout, "listening on %s\n", ln.Addr())
	err = srv.Serve(accepting, ln)
	if ctx.Err() == nil {
		log.Info("another gate takes over")
		closeMetrics()
	}
	next.done()
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
func (o *gateOptions) configure(ctx context.Context, env *Env, log *slog.Logger) (err error) {
	const op = "start gate"
	if err := harden(); err != nil {
		return fmt.Errorf("start gate: %w", err)
	}
	if o.cfg.Backends, err = o.open(op); err != nil {
		return err
	}
	source, err := rulesSource(op, o.rules, o.cfg.Backends)
	if err != nil {
		return err
	}
	registry, err := o.openRegistry(ctx, op)
	if err != nil {
		return err
	}
	if o.cfg.Rules, err = policy.NewStore(ctx, source, schema.IgnoreCase); err != nil {
		return rulesError(op, err)
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
		Rules:       storeRules{o.cfg.Rules}, Registry: registry,
	}
	if err := o.useKey(ctx, env, op, log); err != nil {
		return err
	}
	for _, b := range o.cfg.Backends {
		if _, err := b.Catalog(ctx); errors.Is(err, gate.ErrBlind) {
			return &Error{Code: ExitMissing, Op: op, Err: err, Hint: "GRANT SELECT, SHOW VIEW, TRIGGER ON *.* to the account of --backend"}
		}
		b.Report = func(up bool, cause error) {
			if up {
				log.Info("backend can be used", "backend", b.Address)
			} else {
				log.Error("backend cannot be used", "backend", b.Address, "cause", cause)
			}
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

// clientTLS is the configuration an option asks for.
func clientTLS(op, flag, mode, ca, host string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, usagef(op, "name a file of certificates in PEM", "%w", err)
		}
		if cfg.RootCAs = x509.NewCertPool(); !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usagef(op, "name a file of certificates in PEM", "%s holds no certificate", ca)
		}
	}
	switch mode {
	case "off":
		if ca != "" {
			return nil, usagef(op, "add "+flag+" verify-full", "authorities for a connection without TLS")
		}
		return nil, nil
	case "verify", "verify-full":
	case "verify-ca":
		// The chain is verified below, the name is not.
		cfg.InsecureSkipVerify = true
		cfg.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, cfg.RootCAs) }
	case "skip-verify":
		cfg.InsecureSkipVerify = true
	default:
		return nil, usagef(op, "want off, verify-full, verify-ca or skip-verify", "%s=%s", flag, mode)
	}
	return cfg, nil
}

// verifyChain verifies a server's certificate but for its name.
func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(opts)
	return err
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

// rulesReport logs changes of the rules.
func rulesReport(log *slog.Logger) func(*policy.Version, error) {
	return func(v *policy.Version, err error) {
		if err != nil {
			log.Error("rules stay as they were", "version", v.Number, "cause", err)
			return
		}
		log.Info("rules changed", "version", v.Number, "digest", v.Digest(), "rules", v.Len())
	}
}

// onHangup opens the audit log anew and reads the rules with each signal.
func (o *gateOptions) onHangup(ctx context.Context, hup <-chan os.Signal, log *slog.Logger, audit *auditLog) {
	report := rulesReport(log)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			if err := audit.reopen(); err != nil {
				log.Error("the audit log stays as it was", "cause", err)
			}
			if changed, err := o.cfg.Rules.Reload(ctx); err != nil || changed {
				report(o.cfg.Rules.Current(), err)
			}
		}
	}
}
