package cli

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/sidecar"
)

// sidecarOptions are the options of veildb sidecar.
type sidecarOptions struct {
	listen, gate, mekFile, pin, algorithm string
	gateTLS, gateCA, gateName             string
	cert, key                             string
	plain, unmarked, insecure             bool
	most                                  int
	grace, idle                           time.Duration
}

func newSidecarCommand(env *Env) *cobra.Command {
	var o sidecarOptions
	cmd := &cobra.Command{
		Use:   "sidecar --gate HOST:PORT --mek-file FILE",
		Short: "Decrypt protected columns for programs in any language",
		Long: `Decrypt protected columns for programs in any language.

A sidecar runs beside a program. It takes the program's MySQL connections, goes
on to a gate (or a server of the protocol's vendors), hands the master key over
and opens what comes back; the program sees an ordinary server. Accounts and
passwords are those of the database.

Whoever reaches the sidecar and has an account reads in plain what the master
key opens: it listens on a loopback address or a unix socket, elsewhere only
with TLS.

The master key goes only to a gate whose certificate is verified or whose key is
pinned. SIGTERM lets programs end their transactions.`,
		Example: `  veildb sidecar --listen 127.0.0.1:3306 --gate gate.example:6033 --mek-file /etc/shop/mek
  veildb sidecar --listen unix:/run/shop/mysql.sock --gate gate.example:6033 --mek-file mek --gate-key-hash sha256:…`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:3306", "take connections at `ADDR`: HOST:PORT or unix:PATH")
	f.StringVar(&o.gate, "gate", "", "`HOST:PORT` of the gate")
	f.StringVar(&o.mekFile, "mek-file", "", "`FILE` of the master key: 16 or 32 bytes, or their hexadecimal digits; mode 0600")
	f.StringVar(&o.pin, "gate-key-hash", "", "the gate's key must have this `HASH`")
	f.StringVar(&o.gateTLS, "gate-tls", "verify", "TLS to the gate, `verify|skip-verify|off`")
	f.StringVar(&o.gateCA, "gate-ca", "", "verify the gate's certificate with the authorities in `FILE`")
	f.StringVar(&o.gateName, "gate-name", "", "`NAME` in the gate's certificate (default: the host)")
	f.StringVar(&o.cert, "tls-cert", "", "certificate `FILE` for programs that use TLS")
	f.StringVar(&o.key, "tls-key", "", "private key `FILE` for it")
	f.StringVar(&o.algorithm, "algorithm", encdb.AES128GCM.String(), "cipher of cells, `AES_128_GCM|AES_256_GCM|SM4_128_GCM`")
	f.BoolVar(&o.plain, "allow-plain", false, "also work with a server that does not have the protocol")
	f.BoolVar(&o.unmarked, "allow-unmarked", false, "also work with a server that does not mark protected columns")
	f.BoolVar(&o.insecure, "allow-insecure", false, "hand the master key to a gate that is neither verified nor pinned")
	f.IntVar(&o.most, "max-connections", 1000, "take at most `N` connections at once; more wait")
	f.DurationVar(&o.idle, "idle-timeout", 8*time.Hour, "end connections without a command for `TIME`")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "when stopped, wait `TIME` for transactions to end")
	return cmd
}

const sidecarHelp = "see: veildb sidecar --help"

// run serves until ctx is done.
func (o *sidecarOptions) run(ctx context.Context, env *Env) error {
	if o.gate == "" || o.mekFile == "" {
		return usagef("start sidecar", sidecarHelp, "--gate and --mek-file are required")
	}
	cfg, err := o.config()
	if err != nil {
		return err
	}
	if err := harden(); err != nil {
		return fmt.Errorf("start sidecar: %w", err)
	}
	ln, err := o.listener()
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "listening on %s\n", ln.Addr())
	server := &sidecar.Server{
		Config: cfg, Most: o.most, Grace: o.grace, Log: slog.New(slog.NewTextHandler(env.Stderr, nil)),
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", o.gate)
		},
	}
	return server.Serve(ctx, ln)
}

// config checks the options.
func (o *sidecarOptions) config() (*sidecar.Config, error) {
	host, _, err := net.SplitHostPort(o.gate)
	if err != nil {
		return nil, usagef("start sidecar", "--gate HOST:PORT", "--gate: %w", err)
	}
	algorithm, err := encdb.ParseAlgorithm(o.algorithm)
	if err != nil || !algorithm.Authenticated() {
		return nil, usagef("start sidecar", sidecarHelp, "--algorithm %s is not supported", o.algorithm)
	}
	key, err := sidecar.ReadKeyFile(o.mekFile)
	if err != nil {
		return nil, err
	}
	key.Close()
	cfg := &sidecar.Config{
		Key: func(context.Context) (*secret.Bytes, error) { return sidecar.ReadKeyFile(o.mekFile) },
		Pin: o.pin, Algorithm: algorithm, Insecure: o.insecure, Plain: o.plain, Guess: o.unmarked,
		Idle: o.idle, LoginTime: 30 * time.Second,
	}
	cfg.Passwords.FetchServerKey = o.insecure
	if cfg.TLS, err = o.towardsGate(host); err != nil {
		return nil, err
	}
	if o.pin == "" && !o.insecure && (cfg.TLS == nil || cfg.TLS.InsecureSkipVerify) {
		return nil, usagef("start sidecar", "add --gate-key-hash HASH", "with --gate-tls=%s nothing says that the gate is the gate", o.gateTLS)
	}
	return cfg, o.towardsPrograms(cfg)
}

// towardsGate is the TLS configuration for the gate, or nil.
func (o *sidecarOptions) towardsGate(host string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: host}
	if o.gateName != "" {
		cfg.ServerName = o.gateName
	}
	switch o.gateTLS {
	case "verify":
	case "skip-verify":
		cfg.InsecureSkipVerify = true
	case "off":
		cfg = nil
	default:
		return nil, usagef("start sidecar", sidecarHelp, "--gate-tls=%s: want verify, skip-verify or off", o.gateTLS)
	}
	if o.gateCA == "" {
		return cfg, nil
	}
	if cfg == nil || cfg.InsecureSkipVerify {
		return nil, usagef("start sidecar", "leave one of them out", "--gate-ca and --gate-tls=%s contradict each other", o.gateTLS)
	}
	pem, err := os.ReadFile(o.gateCA)
	if err != nil {
		return nil, usagef("start sidecar", "name a PEM file", "--gate-ca: %w", err)
	}
	cfg.RootCAs = x509.NewCertPool()
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return nil, usagef("start sidecar", "name a PEM file", "--gate-ca: no certificate in %s", o.gateCA)
	}
	return cfg, nil
}

// towardsPrograms sets what concerns the connections of programs.
func (o *sidecarOptions) towardsPrograms(cfg *sidecar.Config) error {
	if (o.cert == "") != (o.key == "") {
		return usagef("start sidecar", sidecarHelp, "--tls-cert and --tls-key belong together")
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return usagef("start sidecar", "name PEM files that belong together", "--tls-cert, --tls-key: %w", err)
		}
		cfg.ClientTLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	if o.local() {
		// A program without TLS encrypts its password for a key of the
		// server's where the account wants that; here, for this one.
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return fmt.Errorf("start sidecar: make key: %w", err)
		}
		cfg.Passwords.Key = key
		return nil
	}
	if cfg.ClientTLS == nil {
		return usagef("start sidecar", "add --tls-cert and --tls-key, or listen on 127.0.0.1", "--listen %s is open to other machines", o.listen)
	}
	cfg.RequireTLS = true
	return nil
}

// local reports whether only programs of this machine can connect.
func (o *sidecarOptions) local() bool {
	if strings.HasPrefix(o.listen, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(o.listen)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

func (o *sidecarOptions) listener() (net.Listener, error) {
	network, addr := "tcp", o.listen
	if path, ok := strings.CutPrefix(o.listen, "unix:"); ok {
		network, addr = "unix", path
	}
	ln, err := net.Listen(network, addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &Error{Code: ExitBusy, Op: "start sidecar", Err: err, Hint: "stop what listens there, or choose another --listen"}
	}
	if err != nil {
		return nil, usagef("start sidecar", "see --listen in: veildb sidecar --help", "%w", err)
	}
	if network == "unix" {
		if err := os.Chmod(addr, 0o600); err != nil {
			ln.Close()
			return nil, fmt.Errorf("start sidecar: %w", err)
		}
	}
	return ln, nil
}
