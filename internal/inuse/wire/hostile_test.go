package wire_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// TestSlowLogin: a client that sends a byte now and then has the login's time,
// not a new limit for every byte.
func TestSlowLogin(t *testing.T) {
	r := startRelay(t, &relay{loginTime: 150 * time.Millisecond})
	nc, err := net.Dial("tcp", r.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, b := range append([]byte{60, 0, 0, 1}, make([]byte, 60)...) {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if _, err := nc.Write([]byte{b}); err != nil {
				return
			}
		}
	}()
	err = <-r.loginErr
	close(stop)
	<-done
	if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("relay says %v", err)
	}
}

// TestLimitsAfterLogin: what bounds the login does not bound the session.
func TestLimitsAfterLogin(t *testing.T) {
	loginTime, cred := 250*time.Millisecond, &wire.Credential{User: "nopw"}
	c, err := tryDial(startRelay(t, &relay{loginTime: loginTime}).addr(), cred)
	for err != nil && loginTime < 30*time.Second { // a busy machine needs more
		loginTime *= 2
		c, err = tryDial(startRelay(t, &relay{loginTime: loginTime}).addr(), cred)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	time.Sleep(loginTime + 50*time.Millisecond)
	long := strings.Repeat("x", 100_000) // more than a packet of a login may have
	if err := wire.RunQuery(c, "SELECT '"+long+"'", nil); err != nil {
		t.Error(err)
	}
}

// TestBadClients: whatever a client begins with, the relay ends the login with
// an error and goes on with the next.
func TestBadClients(t *testing.T) {
	r := startRelay(t, &relay{cfg: wire.LoginConfig{ClientTLS: serverTLS(t)}})
	head := "\x00\xaa\x00\x00" + "\x00\x00\x00\x01" + "\x2d" + strings.Repeat("\x00", 23) // with SSL
	for _, tc := range []struct{ name, data string }{
		{"nothing", ""},
		{"HTTP", "GET / HTTP/1.1\r\n\r\n"},
		{"empty packet", "\x00\x00\x00\x01"},
		{"short packet", "\x05\x00\x00\x01\x00\x02\x00\x00\x00"},
		{"claims 16 MiB", "\xff\xff\xff\x01\x00\x02"},
		{"out of order", "\x01\x00\x00\x07\x00"},
		{"TLS request and garbage", "\x20\x00\x00\x01" + head + "garbage that is no TLS"},
		{"TLS request and a login in the clear", "\x20\x00\x00\x01" + head + "\x22\x00\x00\x02" + head + "u\x00"},
		{"protocol before 4.1", "\x08\x00\x00\x01\x00\x00\x00\x00\x00u\x00p"},
		{"no end of the user name", "\x24\x00\x00\x01" + "\x00\xa2" + head[2:] + "user"},
	} {
		nc, err := net.Dial("tcp", r.addr())
		if err != nil {
			t.Fatal(err)
		}
		nc.Write([]byte(tc.data))
		nc.(*net.TCPConn).CloseWrite()
		if err := <-r.loginErr; err == nil {
			t.Errorf("%s: logged in", tc.name)
		}
		nc.Close()
	}
	dial(t, r.addr(), &wire.Credential{User: "nopw"})
}

// TestBadServers: a backend that is none.
func TestBadServers(t *testing.T) {
	greeting := (&wire.Greeting{ServerVersion: "8", Scramble: []byte("12345678901234567890"), Capabilities: 0xffff_ffff, AuthPlugin: wire.PluginNative}).Append(nil)
	for _, tc := range []struct {
		name, first, second string
		want                error
	}{
		{"too many connections", "\xff\x10\x04Too many connections", "", wire.ErrDenied},
		{"old greeting", "\x09" + string(greeting[1:]), "", wire.ErrMalformed},
		{"cut greeting", string(greeting[:30]), "", wire.ErrMalformed},
		{"empty greeting", "", "", wire.ErrMalformed},
		{"empty answer", string(greeting), "", wire.ErrMalformed},
		{"unexpected data", string(greeting), "\x01data", wire.ErrMalformed},
		{"old switch", string(greeting), "\xfe", wire.ErrUnsupported},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			go func() {
				nc, err := ln.Accept()
				if err != nil {
					return
				}
				defer nc.Close()
				c := wire.NewConn(nc, wire.Limits{Read: time.Minute})
				c.WritePacket([]byte(tc.first))
				if _, err := c.ReadPacket(); err != nil {
					return
				}
				c.WritePacket([]byte(tc.second))
				c.Flush()
				c.ReadPacket()
			}()
			r := startRelay(t, &relay{network: "tcp", backend: ln.Addr().String()})
			if _, err := tryDial(r.addr(), &wire.Credential{User: "u", Password: []byte("p")}); !errors.Is(err, wire.ErrDenied) {
				t.Errorf("client says %v, want an error packet", err)
			}
			if err := <-r.loginErr; !errors.Is(err, tc.want) {
				t.Errorf("relay says %v, want %v", err, tc.want)
			}
		})
	}
}

// TestNoStateBeforeGreeting: clients take a state for text before a greeting says
// which protocol there is.
func TestNoStateBeforeGreeting(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		if nc, err := ln.Accept(); err == nil {
			nc.Write([]byte("\x01\x00\x00\x00\x09"))
			nc.Close()
		}
	}()
	r := startRelay(t, &relay{network: "tcp", backend: ln.Addr().String()})
	nc, err := net.Dial("tcp", r.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	p, err := wire.NewBackend(nc, wire.Limits{Read: time.Minute}).ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	if e, err := wire.DecodeErr(p); err != nil || len(e.State) > 0 || len(e.Message) == 0 || e.Message[0] == '#' {
		t.Errorf("the client is told %q, %v", p, err)
	}
	if err := <-r.loginErr; !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("relay says %v", err)
	}
}

// TestProxyHeader: an account bound to a host the client has only by the header.
func TestProxyHeader(t *testing.T) {
	root := dial(t, server(t).Addr(), &wire.Credential{User: "root"})
	for _, sql := range []string{"SET GLOBAL proxy_protocol_networks = '127.0.0.1'", "CREATE USER IF NOT EXISTS bound@'10.9.8.7', bound@'2001:db8::7'"} {
		if err := wire.RunQuery(root, sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ name, client, relay, want string }{
		{"IPv4", "10.9.8.7:1234", "10.0.0.1:3306", "bound@10.9.8.7"},
		{"IPv6", "[2001:db8::7]:1234", "[2001:db8::1]:3306", "bound@2001:db8::7"},
		{"IPv4 in IPv6", "[::ffff:10.9.8.7]:1234", "10.0.0.1:3306", "bound@10.9.8.7"},
		{"another host", "10.9.8.8:1234", "10.0.0.1:3306", ""},
		{"mixed", "10.9.8.7:1234", "[2001:db8::1]:3306", ""},
	} {
		nc, err := net.Dial("tcp", server(t).Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err := nc.Write(wire.AppendProxyHeader(nil, netip.MustParseAddrPort(tc.client), netip.MustParseAddrPort(tc.relay))); err != nil {
			t.Fatal(err)
		}
		c := wire.NewBackend(nc, wire.Limits{Read: time.Minute})
		_, err = wire.Login(context.Background(), c, &wire.Credential{User: "bound"})
		if (err == nil) != (tc.want != "") {
			t.Errorf("%s: login: %v", tc.name, err)
		}
		if err != nil {
			continue
		}
		wire.RunQuery(c, "SELECT USER()", func(_ []wire.Column, v [][]byte) error {
			if string(v[0]) != tc.want {
				t.Errorf("%s: the server sees %s, want %s", tc.name, v[0], tc.want)
			}
			return nil
		})
	}
}
