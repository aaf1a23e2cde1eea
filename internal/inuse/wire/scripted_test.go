package wire_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"database/sql"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// A mysql8 is a server, in this process, that logs in as MySQL 8 does where
// MariaDB cannot show it: caching_sha2_password and sha256_password with their
// full exchanges. It follows the manual's description of the two plugins and
// checks the password for real; of statements it answers OK to all. The client
// in these tests is go-sql-driver.
type mysql8 struct {
	t        *testing.T
	ln       net.Listener
	tls      *tls.Config
	plugin   string
	password string
	cached   bool   // guarded by mu; caching_sha2_password: remembers the account
	greets   string // plugin of the greeting

	mu   sync.Mutex
	seen []string // how the password came
}

var serverKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

var relayKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func (m *mysql8) start(t *testing.T) string {
	t.Helper()
	m.t = t
	var err error
	if m.ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() { m.ln.Close(); wg.Wait() })
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			nc, err := m.ln.Accept()
			if err != nil {
				return
			}
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(2 * time.Minute))
				m.serve(wire.NewConn(nc, wire.Limits{}))
			}()
		}
	}()
	return m.ln.Addr().String()
}

func (m *mysql8) saw(what string) {
	m.mu.Lock()
	m.seen = append(m.seen, what)
	m.mu.Unlock()
}

func (m *mysql8) serve(c *wire.Conn) {
	if err := m.login(c); err != nil {
		c.WriteErr(wire.CodeAccessDenied, "28000", "Access denied")
		c.Flush()
		return
	}
	c.WritePacket(wire.OK{Status: wire.StatusAutocommit}.Append(nil, 0))
	for {
		c.Flush()
		p, err := c.ReadCommand(0)
		if err != nil {
			return
		}
		if wire.Command(p[0]) == wire.ComChangeUser {
			if _, err := wire.DecodeChangeUser(p, wire.SecureConnection|wire.PluginAuth); err != nil {
				m.t.Error(err)
			}
			if err := m.authenticate(c, "", nil, nil); err != nil {
				c.WriteErr(wire.CodeAccessDenied, "28000", "Access denied")
				c.Flush()
				return
			}
		}
		c.WritePacket(wire.OK{Status: wire.StatusAutocommit}.Append(nil, 0))
	}
}

// scrambleBytes is printable, as servers' are.
func scrambleBytes() []byte {
	b := make([]byte, 20)
	rand.Read(b)
	for i := range b {
		b[i] = 'A' + b[i]%50
	}
	return b
}

func (m *mysql8) login(c *wire.Conn) error {
	g := wire.Greeting{ServerVersion: "8.0.36", ConnectionID: 9, Scramble: scrambleBytes(), Charset: 255, Status: wire.StatusAutocommit, AuthPlugin: m.greets,
		Capabilities: 0xdfff_ffff &^ wire.SSL}
	if m.tls != nil {
		g.Capabilities |= wire.SSL
	}
	c.WritePacket(g.Append(nil))
	p, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if wire.IsSSLRequest(p) {
		if _, err := wire.DecodeSSLRequest(p); err != nil {
			return err
		}
		if err := c.StartTLS(context.Background(), m.tls); err != nil {
			return err
		}
		if p, err = c.ReadPacket(); err != nil {
			return err
		}
	}
	req, err := wire.DecodeLoginRequest(p)
	if err != nil {
		return err
	}
	if bad := req.Capabilities &^ (wire.Relayable | wire.SSL); bad != 0 {
		m.t.Errorf("client asks the server for %x", uint64(bad))
	}
	return m.authenticate(c, req.AuthPlugin, req.Auth, g.Scramble)
}

func (m *mysql8) authenticate(c *wire.Conn, plugin string, auth, scramble []byte) error {
	if plugin != m.plugin {
		scramble = scrambleBytes()
		c.WritePacket(wire.AuthSwitch{Plugin: []byte(m.plugin), Data: append(scramble[:20:20], 0)}.Append(nil))
		p, err := c.ReadPacket()
		if err != nil {
			return err
		}
		auth = bytes.Clone(p)
	}
	switch m.plugin {
	case wire.PluginCaching:
		return m.caching(c, auth, scramble)
	case wire.PluginSHA256:
		return m.fullPassword(c, auth, scramble, 1)
	case wire.PluginParsec:
		return m.parsec(c, auth)
	}
	return errors.New("plugin not scripted")
}

func (m *mysql8) caching(c *wire.Conn, auth, scramble []byte) error {
	if m.password == "" || len(auth) == 0 {
		if m.password != "" || len(auth) != 0 {
			return errors.New("empty password")
		}
		return nil
	}
	h1 := sha256.Sum256([]byte(m.password))
	h2 := sha256.Sum256(h1[:])
	h3 := sha256.Sum256(append(h2[:], scramble...))
	for i := range h3 {
		h3[i] ^= h1[i]
	}
	right := bytes.Equal(auth, h3[:])
	m.mu.Lock()
	cached := m.cached
	m.mu.Unlock()
	if cached && right {
		m.saw("scramble")
		c.WritePacket(wire.AppendAuthMore(nil, []byte{3}))
		return nil
	}
	c.WritePacket(wire.AppendAuthMore(nil, []byte{4}))
	p, err := c.ReadPacket()
	if err != nil {
		return err
	}
	return m.fullPassword(c, bytes.Clone(p), scramble, 2)
}

// fullPassword is what both plugins have in common: the password in the clear
// over TLS, otherwise encrypted, with the key asked for by the byte ask.
func (m *mysql8) fullPassword(c *wire.Conn, p, scramble []byte, ask byte) error {
	if c.TLS() != nil {
		m.saw("clear")
		if !bytes.Equal(p, append([]byte(m.password), 0)) {
			return errors.New("wrong password")
		}
		return nil
	}
	if len(p) == 1 && p[0] == ask {
		m.saw("asks for key")
		der, _ := x509.MarshalPKIXPublicKey(&serverKey().PublicKey)
		c.WritePacket(wire.AppendAuthMore(nil, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
		var err error
		if p, err = c.ReadPacket(); err != nil {
			return err
		}
	}
	m.saw("encrypted")
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, serverKey(), p, nil)
	if err != nil {
		return err
	}
	for i := range plain {
		plain[i] ^= scramble[i%len(scramble)]
	}
	if string(plain) != m.password+"\x00" {
		return errors.New("wrong password")
	}
	return nil
}

// parsec has the packets of MariaDB 11.6's plugin, with content that only the
// test's own client understands.
func (m *mysql8) parsec(c *wire.Conn, auth []byte) error {
	if len(auth) != 0 {
		return errors.New("parsec begins with an empty packet")
	}
	c.WritePacket([]byte("P\x00sixteen byte salt"))
	p, err := c.ReadPacket()
	if err != nil || string(p) != "signed by "+m.password {
		return errors.New("wrong signature")
	}
	return nil
}

func TestMySQL8Passwords(t *testing.T) {
	if err := mysql.RegisterTLSConfig("test", clientTLS(t)); err != nil {
		t.Fatal(err)
	}
	mysql.RegisterServerPubKey("server", &serverKey().PublicKey)
	caching := mysql8{plugin: wire.PluginCaching, greets: wire.PluginCaching, password: "secret pw"}
	remembered := mysql8{plugin: wire.PluginCaching, greets: wire.PluginCaching, password: "secret pw", cached: true}
	switched := mysql8{plugin: wire.PluginCaching, greets: wire.PluginNative, password: "secret pw"}
	sha := mysql8{plugin: wire.PluginSHA256, greets: wire.PluginCaching, password: "secret pw"}
	shaFirst := mysql8{plugin: wire.PluginSHA256, greets: wire.PluginSHA256, password: "secret pw"}
	fetch := wire.PasswordPolicy{FetchServerKey: true}
	pinned := wire.PasswordPolicy{ServerKey: &serverKey().PublicKey}
	own := wire.PasswordPolicy{Key: relayKey()}
	none := wire.PasswordPolicy{}
	const plain, overTLS, unix = "plain", "TLS", "unix"
	for _, tc := range []struct {
		name           string
		server         *mysql8
		client, backed string // connections of client and server
		policy         wire.PasswordPolicy
		param          string
		seen           string // by the server; "" if refused by the relay
	}{
		{"remembered", &remembered, plain, plain, none, "", "scramble"},
		{"remembered", &remembered, plain, overTLS, none, "", "scramble"},
		{"remembered", &remembered, overTLS, plain, none, "", "scramble"},
		{"full", &caching, plain, plain, none, "", "asks for key, encrypted"},
		{"full, client has the key", &caching, plain, plain, none, "&serverPubKey=server", "encrypted"},
		{"full", &caching, overTLS, overTLS, none, "", "clear"},
		{"full", &caching, unix, overTLS, none, "", "clear"},
		{"full, no policy", &caching, overTLS, plain, none, "", ""},
		{"full, fetched key", &caching, overTLS, plain, fetch, "", "asks for key, encrypted"},
		{"full, pinned key", &caching, overTLS, plain, pinned, "", "encrypted"},
		{"full, pinned key", &caching, unix, plain, pinned, "", "encrypted"},
		{"full, no policy", &caching, plain, overTLS, none, "", ""},
		{"full, own key", &caching, plain, overTLS, own, "", "clear"},
		{"full, own key, client has the server's", &caching, plain, overTLS, own, "&serverPubKey=server", ""},
		{"switched", &switched, plain, plain, none, "", "asks for key, encrypted"},
		{"switched", &switched, plain, overTLS, own, "", "clear"},
		{"sha256", &sha, plain, plain, none, "", "asks for key, encrypted"},
		{"sha256", &sha, overTLS, overTLS, none, "", "clear"},
		{"sha256", &sha, plain, overTLS, own, "", "clear"},
		{"sha256", &sha, overTLS, plain, pinned, "", "encrypted"},
		{"sha256, no policy", &sha, overTLS, plain, none, "", ""},
		{"sha256 in the greeting", &shaFirst, plain, plain, none, "", "asks for key, encrypted"},
		{"sha256 in the greeting", &shaFirst, overTLS, overTLS, none, "", "clear"},
	} {
		for _, password := range []string{"secret pw", "wrong"} {
			t.Run(fmt.Sprintf("%s/client=%s/server=%s/%s", tc.name, tc.client, tc.backed, password), func(t *testing.T) {
				m := mysql8{plugin: tc.server.plugin, greets: tc.server.greets, password: tc.server.password, cached: tc.server.cached}
				r := &relay{network: "tcp", cfg: wire.LoginConfig{Passwords: tc.policy}}
				if tc.backed == overTLS {
					m.tls, r.cfg.ServerTLS = serverTLS(t), clientTLS(t)
				}
				r.backend = m.start(t)
				param := tc.param
				switch tc.client {
				case overTLS:
					r.cfg.ClientTLS = serverTLS(t)
					param += "&tls=test"
				case unix:
					r.socket = filepath.Join(t.TempDir(), "s")
				}
				startRelay(t, r)
				db, err := sql.Open("mysql", "someone:"+password+"@"+r.ln.Addr().Network()+"("+r.addr()+")/?x=y"+param)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				err = db.Ping()
				loginErr := <-r.loginErr
				m.mu.Lock()
				seen := strings.Join(m.seen, ", ")
				m.mu.Unlock()
				switch {
				case tc.seen == "":
					if err == nil || !errors.Is(loginErr, wire.ErrInsecure) || seen != "" {
						t.Errorf("driver says %v, relay says %v, server saw %q; want ErrInsecure", err, loginErr, seen)
					}
				case password == "wrong":
					// A server that remembers the account asks for
					// the password itself before it says no.
					if err == nil || !errors.Is(loginErr, wire.ErrDenied) && !errors.Is(loginErr, wire.ErrInsecure) {
						t.Errorf("driver says %v, relay says %v; want ErrDenied", err, loginErr)
					}
				case err != nil || loginErr != nil || seen != tc.seen:
					t.Errorf("driver says %v, relay says %v, server saw %q; want %q", err, loginErr, seen, tc.seen)
				}
				for _, err := range []error{err, loginErr} {
					if err != nil && strings.Contains(err.Error(), password) {
						t.Errorf("error holds the password: %v", err)
					}
				}
			})
		}
	}
}

// TestParsecRounds relays the two rounds of parsec, whose packets MariaDB sends
// bare.
func TestParsecRounds(t *testing.T) {
	m := mysql8{plugin: wire.PluginParsec, greets: wire.PluginNative, password: "pw"}
	r := startRelay(t, &relay{network: "tcp", backend: m.start(t)})
	for _, signature := range []string{"signed by pw", "signed by nobody"} {
		nc, err := net.Dial("tcp", r.addr())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		c := wire.NewBackend(nc, wire.Limits{Read: time.Minute})
		if _, err := c.ReadPacket(); err != nil {
			t.Fatal(err)
		}
		req := wire.LoginRequest{Capabilities: wire.Protocol41 | wire.SecureConnection | wire.PluginAuth, User: "u", AuthPlugin: wire.PluginNative}
		c.WritePacket(req.Append(nil))
		for _, step := range []struct{ want, send string }{{"\xfe", ""}, {"P", signature}} {
			p, err := c.ReadPacket()
			if err != nil || !strings.HasPrefix(string(p), step.want) {
				t.Fatalf("got %q, %v; want %q", p, err, step.want)
			}
			c.WritePacket([]byte(step.send))
		}
		p, err := c.ReadPacket()
		if ok := signature == "signed by pw"; err != nil || ok != (p[0] == 0) {
			t.Errorf("%s: %q, %v", signature, p, err)
		}
		if err := <-r.loginErr; (err == nil) != (signature == "signed by pw") {
			t.Errorf("relay says %v", err)
		}
	}
}

// TestRefusedPlugins: servers whose accounts use a plugin that cannot be
// relayed.
func TestRefusedPlugins(t *testing.T) {
	for _, plugin := range []string{"mysql_clear_password", "dialog", "mysql_old_password", "authentication_ldap_sasl_client", "auth_gssapi_client", ""} {
		m := mysql8{plugin: plugin, greets: wire.PluginNative}
		r := startRelay(t, &relay{network: "tcp", backend: m.start(t)})
		_, err := tryDial(r.addr(), &wire.Credential{User: "u", Password: []byte("p")})
		if !errors.Is(err, wire.ErrDenied) {
			t.Errorf("%s: client says %v", plugin, err)
		}
		if err := <-r.loginErr; !errors.Is(err, wire.ErrUnsupported) {
			t.Errorf("%s: relay says %v", plugin, err)
		}
	}
}

// TestClearFirstAnswer: a client that would begin with its password never gets
// to say it.
func TestClearFirstAnswer(t *testing.T) {
	r := startRelay(t, &relay{})
	nc, err := net.Dial("tcp", r.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c := wire.NewBackend(nc, wire.Limits{Read: time.Minute})
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	c.Caps = wire.Protocol41 | wire.SecureConnection | wire.PluginAuth
	req := wire.LoginRequest{Capabilities: c.Caps, User: "native", AuthPlugin: "mysql_clear_password", Auth: []byte("pw-native\x00")}
	c.WritePacket(req.Append(nil))
	p, err := c.ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	sw, err := wire.DecodeAuthSwitch(p)
	if err != nil || string(sw.Plugin) != wire.PluginNative {
		t.Fatalf("answer %q, %v; want the server's switch to the native plugin", p, err)
	}
	c.WritePacket(wire.NativeAnswer(sw.Challenge(), "pw-native"))
	if p, err = c.ReadPacket(); err != nil || p[0] != 0 {
		t.Errorf("login ends with %q, %v", p, err)
	}
}
