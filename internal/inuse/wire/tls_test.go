package wire_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"
)

// certificate is a self-signed one for 127.0.0.1, in all the forms needed.
var certificate = sync.OnceValue(func() (c struct {
	cert          tls.Certificate
	pool          *x509.CertPool
	certPEM, kPEM []byte
}) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	c.certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	c.kPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	if c.cert, err = tls.X509KeyPair(c.certPEM, c.kPEM); err != nil {
		panic(err)
	}
	c.pool = x509.NewCertPool()
	c.pool.AppendCertsFromPEM(c.certPEM)
	return c
})

func serverTLS(testing.TB) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{certificate().cert}}
}

func clientTLS(testing.TB) *tls.Config {
	return &tls.Config{RootCAs: certificate().pool, ServerName: "127.0.0.1"}
}
