package encdb

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/crypto/sm"
)

// vectors is testdata/vectors.json: computed by a separate program for this
// protocol, with keys made for it and used nowhere else. The official client
// opens them, except those under AES-256, which it does not know.
type vectors struct {
	Envelopes   []envelopeVector
	Nonstandard []envelopeVector `json:"envelopes_nonstandard"`
	HKDF        []struct {
		Hash, MEK, Dek16, Dek32 string
		Nonce                   string `json:"nonce_salt"`
	}
	Messages map[string]string
	Negative []struct{ Name, Cipher string }
	Keys     map[string]map[string]string `json:"test_only_keys"`
	Values   []valueVector
}

type envelopeVector struct {
	Name, Envelope, IV, Plaintext string
	CipherSuite                   string `json:"cipher_suite"`
	EphemeralKey                  string `json:"ephemeral_key"`
	SealedBody                    string `json:"sealed_body"`
}

type valueVector struct {
	Name, Layout, Protocol  string
	Algo, Dek, IV, Nonce    string
	Plaintext, Cipher, Wire string
	AlgoID                  byte   `json:"algo_id"`
	Hash                    string `json:"kdf_hash"`
	Type                    byte
}

func loadVectors(t testing.TB) *vectors {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	v := new(vectors)
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *vectors) keyPair(t testing.TB, suite string) *KeyPair {
	t.Helper()
	s, err := ParseSuite(suite)
	if err != nil {
		t.Fatal(err)
	}
	var pair *KeyPair
	if s.Hash() == SM3 {
		key, e := sm.ParseSM2PrivateKey([]byte(v.Keys["sm2"]["private_pem"]))
		if e != nil {
			t.Fatal(e)
		}
		pair, err = newSM2KeyPair(s, key)
	} else {
		block, _ := pem.Decode([]byte(v.Keys["rsa"]["private_pem"]))
		key, e := x509.ParsePKCS8PrivateKey(block.Bytes)
		if e != nil {
			t.Fatal(e)
		}
		pair, err = newRSAKeyPair(s, key.(*rsa.PrivateKey))
	}
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

const testMEK = "000102030405060708090a0b0c0d0e0f"

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func secretOf(t testing.TB, b []byte) *secret.Bytes {
	t.Helper()
	s, err := secret.From(bytes.Clone(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func hashOf(name string) Hash {
	if name == "SM3" {
		return SM3
	}
	return SHA256
}

func TestVectorsHKDF(t *testing.T) {
	for _, v := range loadVectors(t).HKDF {
		got, err := hashOf(v.Hash).derive(unhex(t, v.MEK), unhex(t, v.Nonce), "", 32)
		if err != nil || hex.EncodeToString(got) != v.Dek32 || hex.EncodeToString(got[:16]) != v.Dek16 {
			t.Errorf("%s of %s: got %x %v, want %s", v.Hash, v.MEK, got, err, v.Dek32)
		}
	}
}

// mekOf finds which of the two keys of the vectors gives the cell key.
func mekOf(t *testing.T, v *valueVector) []byte {
	for _, mek := range []string{testMEK, testMEK + "101112131415161718191a1b1c1d1e1f"} {
		dek, err := hashOf(v.Hash).derive(unhex(t, mek), unhex(t, v.Nonce), "", len(v.Dek)/2)
		if err == nil && hex.EncodeToString(dek) == v.Dek {
			return unhex(t, mek)
		}
	}
	t.Fatalf("%s: no key gives %s", v.Name, v.Dek)
	return nil
}

func TestVectorsOpen(t *testing.T) {
	values := loadVectors(t).Values
	if len(values) != 138 {
		t.Fatalf("%d values, want 138", len(values))
	}
	for _, v := range values {
		name := strings.Join([]string{v.Layout, v.Protocol, v.Hash, v.Algo, v.Name}, " ")
		mek := secretOf(t, mekOf(t, &v))
		weak := !Algorithm(v.AlgoID).Authenticated()
		o, err := newOpener(mek, hashOf(v.Hash), weak)
		if err != nil {
			t.Fatal(err)
		}
		if base64.StdEncoding.EncodeToString(unhex(t, v.Cipher)) != v.Wire {
			t.Errorf("%s: the two forms of the vector differ", name)
		}
		c := NewColumn("d", "t", "c", v.Type, false, 0)
		typ, got, err := o.Open([]byte("before"), c, v.Protocol == "binary", []byte(v.Wire))
		if err != nil || typ != v.Type || string(got) != "before"+string(unhex(t, v.Plaintext)) {
			t.Errorf("open %s: got type %d, %x, %v; want type %d, %s", name, typ, got, err, v.Type, v.Plaintext)
		}
		if weak {
			o.weak = false
			if _, got, err := o.Open(nil, c, false, []byte(v.Wire)); !errors.Is(err, ErrWeak) || got != nil {
				t.Errorf("open %s without AllowWeak: got %x, %v; want ErrWeak", name, got, err)
			}
		}
		o.Close()
	}
}

func TestVectorsSeal(t *testing.T) {
	sealed := 0
	for _, v := range loadVectors(t).Values {
		if v.Layout != "v64" || !Algorithm(v.AlgoID).Authenticated() {
			continue
		}
		s, err := newSealer(secretOf(t, mekOf(t, &v)), hashOf(v.Hash), Algorithm(v.AlgoID), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		iv := unhex(t, v.IV)
		copy(s.nonce[:], unhex(t, v.Nonce))
		copy(s.prefix[:], iv)
		if s.gcm, err = s.algorithm.gcm(unhex(t, v.Dek)); err != nil {
			t.Fatal(err)
		}
		got := s.append64([]byte("x"), v.Type, binary.BigEndian.Uint32(iv[8:]), unhex(t, v.Plaintext))
		if string(got) != "x"+v.Wire {
			t.Errorf("seal %s %s %s:\ngot  %s\nwant x%s", v.Protocol, v.Algo, v.Name, got, v.Wire)
		}
		s.Close()
		sealed++
	}
	if sealed < 80 {
		t.Errorf("only %d values sealed", sealed)
	}
}

func TestVectorsNegative(t *testing.T) {
	o, err := newOpener(secretOf(t, unhex(t, testMEK)), SHA256, true)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, v := range loadVectors(t).Negative {
		text := base64.StdEncoding.EncodeToString(unhex(t, v.Cipher))
		_, got, err := o.Open(nil, NewColumn("", "", "", 3, false, 0), false, []byte(text))
		if got != nil || !errors.Is(err, ErrTampered) && !errors.Is(err, ErrNotCell) {
			t.Errorf("%s: got %x, %v", v.Name, got, err)
		}
	}
}

func TestVectorsEnvelope(t *testing.T) {
	v := loadVectors(t)
	for _, e := range append(v.Envelopes, v.Nonstandard...) {
		pair := v.keyPair(t, e.CipherSuite)
		got, err := pair.Open(unhex(t, e.Envelope))
		if err != nil || string(got) != e.Plaintext {
			t.Errorf("open %s %s: got %q, %v", e.CipherSuite, e.Name, got, err)
		}
		if e.SealedBody != "" {
			iv := append(unhex(t, e.IV), 0, 0, 0, 0)
			body, err := sealEnvelopeBody(nil, pair.suite, unhex(t, e.EphemeralKey), iv, []byte(e.Plaintext))
			if err != nil || hex.EncodeToString(body) != e.SealedBody {
				t.Errorf("seal body of %s: got %x, %v; want %s", e.CipherSuite, body, err, e.SealedBody)
			}
		}
		ours, err := pair.Public().SealEnvelope([]byte(e.Plaintext))
		if err != nil {
			t.Fatal(err)
		}
		if n := int(binary.LittleEndian.Uint16(ours)); pair.suite.Hash() == SHA256 && n != 256 || n < 119 {
			t.Errorf("%s: wrapped key of %d bytes", e.CipherSuite, n)
		}
		if got, err := pair.Open(ours); err != nil || string(got) != e.Plaintext {
			t.Errorf("reopen %s: got %q, %v", e.CipherSuite, got, err)
		}
	}
	for suite, want := range map[string]string{"SM2_WITH_SM4_128_CBC_SM3": v.Keys["sm2"]["public_key_hash_SM3"], "RSA_WITH_AES_128_CBC_SHA256": v.Keys["rsa"]["public_key_hash_SHA256"]} {
		if got := v.keyPair(t, suite).Public().Hash(); got != want {
			t.Errorf("public key hash of %s: got %s, want %s", suite, got, want)
		}
	}
}

// TestVectorsMessages plays the recorded conversation against a Session that
// has the key pair of the vectors.
func TestVectorsMessages(t *testing.T) {
	v := loadVectors(t)
	pair := v.keyPair(t, "SM2_WITH_SM4_128_CBC_SM3")
	s := (&Config{NewKeyPair: func() (*KeyPair, error) { return pair, nil }}).NewSession(Account{User: "app", TLS: true})
	defer s.Close()
	play := func(name, want string) {
		t.Helper()
		st := Recognise([]byte(v.Messages[name]), false)
		if st.Kind != Message || len(st.Args) != 1 {
			t.Fatalf("%s: recognised as %d", name, st.Kind)
		}
		cell, ev := s.Handle(st.Args[0].Value)
		got, err := base64.StdEncoding.DecodeString(string(cell))
		if err != nil || ev.Err != nil {
			t.Fatalf("%s: %v, %v", name, err, ev.Err)
		}
		if !sameJSON(t, got, []byte(v.Messages[want])) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, v.Messages[want])
		}
	}
	play("server_info_sql", "server_info_response_json")
	play("provision_sql", "ok_response_json")
	if got := s.cells.key.Reveal(); hex.EncodeToString(got) != testMEK || s.cells.algorithm != SM4GCM {
		t.Errorf("provisioned another key or %v", s.cells.algorithm)
	}
	if got := string(encodeAnswer(statusOK, "{}")); got != v.Messages["ok_response_wire"] {
		t.Errorf("good answer: %s", got)
	}
	if got := string(encodeAnswer(statusFailed, uniformProblem)); got != v.Messages["error_response_wire"] {
		t.Errorf("bad answer: %s", got)
	}
	c, err := NewClient(ClientConfig{MEK: secretOf(t, unhex(t, testMEK)), Only64: true, Algorithm: SM4GCM})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := string(c.Hello()); got != v.Messages["server_info_sql"] {
		t.Errorf("hello: got %s", got)
	}
	got, err := c.Provision([]byte(v.Messages["server_info_response_wire"]))
	cut := func(s string) string {
		return s[:strings.Index(s, `"envelope"`)] + s[strings.Index(s, `"public_key_hash"`):]
	}
	if err != nil || cut(string(got)) != cut(v.Messages["provision_sql"]) {
		t.Errorf("provision:\ngot  %s, %v\nwant %s", got, err, v.Messages["provision_sql"])
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var got, want answer
	if json.Unmarshal(a, &got) != nil || json.Unmarshal(b, &want) != nil {
		return false
	}
	var x, y any
	if json.Unmarshal([]byte(got.Body), &x) != nil || json.Unmarshal([]byte(want.Body), &y) != nil {
		return false
	}
	g, _ := json.Marshal(x)
	w, _ := json.Marshal(y)
	return *got.Status == *want.Status && bytes.Equal(g, w)
}
