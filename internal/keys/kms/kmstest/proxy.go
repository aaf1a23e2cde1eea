//go:build cloudkms

package kmstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// A Proxy plays the internet to clients that take HTTPS_PROXY and SSL_CERT_FILE
// from the environment: it ends their TLS connections to the hosts it knows with
// certificates of its own authority, so the clients run unchanged against their
// real addresses. Other hosts do not answer.
type Proxy struct {
	Hosts map[string]http.Handler

	ca    *x509.Certificate
	caKey *ecdsa.PrivateKey
	leaf  *ecdsa.PrivateKey
	conns chan net.Conn
	front net.Listener
}

// StartProxy starts a proxy and sets the environment. It must run before the
// process makes its first request: both variables are read only once.
func StartProxy(dir string, hosts map[string]http.Handler) (*Proxy, error) {
	p := &Proxy{Hosts: hosts, conns: make(chan net.Conn)}
	var err error
	if p.caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	if p.leaf, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, p.caKey.Public(), p.caKey)
	if err != nil {
		return nil, err
	}
	if p.ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		return nil, err
	}
	if p.front, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"SSL_CERT_FILE": file, "AWS_CA_BUNDLE": file, "HTTPS_PROXY": "http://" + p.front.Addr().String(), "NO_PROXY": ""} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	go http.Serve(p.front, http.HandlerFunc(p.connect))
	quiet := log.New(io.Discard, "", 0) // broken connections are what tests make
	inner := &http.Server{ErrorLog: quiet, Handler: http.HandlerFunc(p.serve), TLSConfig: &tls.Config{GetCertificate: p.certificate}}
	go inner.ServeTLS((*tunnels)(p), "", "")
	return p, nil
}

// Close stops the proxy.
func (p *Proxy) Close() error { return p.front.Close() }

func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if r.Method != http.MethodConnect || err != nil || p.Hosts[host] == nil {
		http.Error(w, "no such host", http.StatusBadGateway)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err == nil {
		p.conns <- conn
	}
}

func (p *Proxy) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{hello.ServerName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, p.ca, p.leaf.Public(), p.caKey)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: p.leaf}, nil
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if h := p.Hosts[host]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// tunnels is the listener of the inner server.
type tunnels Proxy

func (t *tunnels) Accept() (net.Conn, error) { return <-t.conns, nil }
func (t *tunnels) Close() error              { return nil }
func (t *tunnels) Addr() net.Addr            { return t.front.Addr() }
