package sm

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emmansun/gmsm/sm2"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

func newKey(t testing.TB) *SM2PrivateKey {
	t.Helper()
	k, err := GenerateSM2()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestSM2Example is the example of GB/T 32918.5-2017, appendix C.2, on the
// recommended curve.
func TestSM2Example(t *testing.T) {
	var key sm2.PrivateKey
	key.Curve = sm2.P256()
	key.D = new(big.Int).SetBytes(unhex(t, "3945208f7b2144b13f36e38ac6d39f95889393692860b51a42fb81ef4df7c5b8"))
	key.X = new(big.Int).SetBytes(unhex(t, "09f9df311e5421a150dd7d161e4bc5c672179fad1833fc076bb08ff356f35020"))
	key.Y = new(big.Int).SetBytes(unhex(t, "ccea490ce26775a52dc6ea718cc1aa600aed05fbf35e084a6632f6072da9ad13"))
	raw := unhex(t, "04"+
		"04ebfc718e8d1798620432268e77feb6415e2ede0e073c0f4f640ecd2e149a73"+ // x
		"e858f9d81e5430a57b36daab8f950a3c64e6ee6a63094d99283aff767e124df0"+ // y
		"59983c18f809e262923c53aec295d30383b54e39d609d160afcb1908d0bd8766"+ // C3
		"21886ca989ca9c7d58087307ca93092d651efa") // C2
	got, err := (&SM2PrivateKey{&key}).Decrypt(raw)
	if err != nil || string(got) != "encryption standard" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSM2RoundTrip(t *testing.T) {
	k := newKey(t)
	for _, n := range []int{1, 16, 32, MaxSM2Plaintext} {
		want := bytes.Repeat([]byte{byte(n)}, n)
		for name, encrypt := range map[string]func([]byte) ([]byte, error){"der": k.Public().Encrypt, "raw": k.Public().EncryptRaw} {
			ct, err := encrypt(want)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.Decrypt(ct); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %d bytes: %x, %v", name, n, got, err)
			}
			if _, err := newKey(t).Decrypt(ct); !errors.Is(err, ErrDecrypt) {
				t.Errorf("%s, other key: %v, want ErrDecrypt", name, err)
			}
		}
	}
	for _, n := range []int{0, MaxSM2Plaintext + 1} {
		if _, err := k.Public().Encrypt(make([]byte, n)); !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes: %v, want ErrSize", n, err)
		}
	}
}

// TestSM2Integers decodes the ways in which encoders write x and y.
func TestSM2Integers(t *testing.T) {
	k := newKey(t)
	raw, err := k.Public().EncryptRaw([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	encode := func(integer func([]byte) []byte) []byte {
		var b cryptobyte.Builder
		b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
			for i := range 2 {
				c := integer(raw[1+i*coordinate : 1+(i+1)*coordinate])
				b.AddASN1(asn1.INTEGER, func(b *cryptobyte.Builder) { b.AddBytes(c) })
			}
			b.AddASN1OctetString(raw[1+2*coordinate : rawHeader])
			b.AddASN1OctetString(raw[rawHeader:])
		})
		return b.BytesOrPanic()
	}
	for name, integer := range map[string]func([]byte) []byte{
		"32 bytes, maybe negative": func(c []byte) []byte { return c },
		"always a zero byte":       func(c []byte) []byte { return append([]byte{0}, c...) },
		"minimal":                  func(c []byte) []byte { return bytes.TrimLeft(c, "\x00") },
	} {
		if got, err := k.Decrypt(encode(integer)); err != nil || string(got) != "0123456789abcdef" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, integer := range map[string]func([]byte) []byte{
		"33 bytes":   func(c []byte) []byte { return append([]byte{1}, c...) },
		"empty":      func(c []byte) []byte { return nil },
		"off curve":  func(c []byte) []byte { c = bytes.Clone(c); c[31] ^= 1; return c },
		"above p":    func(c []byte) []byte { return bytes.Repeat([]byte{0xff}, 32) },
		"point zero": func(c []byte) []byte { return make([]byte, 32) },
	} {
		if got, err := k.Decrypt(encode(integer)); !errors.Is(err, ErrDecrypt) || got != nil {
			t.Errorf("%s: %q, %v; want ErrDecrypt", name, got, err)
		}
	}
	der := encode(func(c []byte) []byte { return c })
	for n := range len(der) {
		if _, err := k.Decrypt(der[:n]); !errors.Is(err, ErrDecrypt) {
			t.Errorf("cut to %d bytes: %v, want ErrDecrypt", n, err)
		}
	}
	if _, err := k.Decrypt(append(der, 0)); !errors.Is(err, ErrDecrypt) {
		t.Errorf("trailing byte: %v, want ErrDecrypt", err)
	}
}

func TestSM2PEM(t *testing.T) {
	k := newKey(t)
	private, err := k.MarshalPEM()
	if err != nil {
		t.Fatal(err)
	}
	public, err := k.Public().MarshalPEM()
	if err != nil {
		t.Fatal(err)
	}
	pub, err := ParseSM2PublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	priv, err := ParseSM2PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	ct, err := pub.Encrypt([]byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := priv.Decrypt(ct); err != nil || string(got) != "hello" {
		t.Errorf("through PEM: %q, %v", got, err)
	}
	for name, data := range map[string][]byte{"empty": nil, "junk": []byte("junk"), "swapped": public} {
		if _, err := ParseSM2PrivateKey(data); !errors.Is(err, ErrKey) {
			t.Errorf("private, %s: %v, want ErrKey", name, err)
		}
	}
	for name, data := range map[string][]byte{"empty": nil, "junk": []byte("junk"), "swapped": private} {
		if _, err := ParseSM2PublicKey(data); !errors.Is(err, ErrKey) {
			t.Errorf("public, %s: %v, want ErrKey", name, err)
		}
	}
	if out := fmt.Sprintf("%v %+v %#v %x %s %d", k, *k, k, *k, k, struct{ K *SM2PrivateKey }{k}); strings.Count(out, "[secret]") != 6 {
		t.Errorf("printed %s", out)
	}
}

// TestSM2OpenSSL exchanges ciphertexts with OpenSSL in both directions.
func TestSM2OpenSSL(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed: nothing to compare with")
	}
	k, dir := newKey(t), t.TempDir()
	put := func(name string, data []byte, err error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	private, err := k.MarshalPEM()
	keyFile := put("key.pem", private, err)
	public, err := k.Public().MarshalPEM()
	pubFile := put("pub.pem", public, err)
	openssl := func(args ...string) []byte {
		t.Helper()
		out, err := exec.Command("openssl", args...).Output()
		if err != nil {
			t.Fatalf("openssl %v: %v", args, err)
		}
		return out
	}
	const want = "0123456789abcdef"
	ct, err := k.Public().Encrypt([]byte(want))
	if got := openssl("pkeyutl", "-decrypt", "-inkey", keyFile, "-in", put("ours", ct, err)); string(got) != want {
		t.Errorf("OpenSSL reads ours as %q", got)
	}
	ct = openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", pubFile, "-in", put("plain", []byte(want), nil))
	if got, err := k.Decrypt(ct); err != nil || string(got) != want {
		t.Errorf("we read OpenSSL's as %q, %v", got, err)
	}
}

func FuzzSM2Decrypt(f *testing.F) {
	k := newKey(f)
	ct, err := k.Public().Encrypt([]byte("seed"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ct)
	f.Add([]byte{0x04})
	f.Add([]byte{0x30, 0})
	f.Fuzz(func(t *testing.T, ct []byte) {
		if _, err := k.Decrypt(ct); err != nil && !errors.Is(err, ErrDecrypt) {
			t.Errorf("%x: %v, want ErrDecrypt", ct, err)
		}
	})
}

func FuzzParseSM2Key(f *testing.F) {
	k := newKey(f)
	private, err := k.MarshalPEM()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(private)
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := ParseSM2PrivateKey(data); err != nil && !errors.Is(err, ErrKey) {
			t.Errorf("private: %v", err)
		}
		if _, err := ParseSM2PublicKey(data); err != nil && !errors.Is(err, ErrKey) {
			t.Errorf("public: %v", err)
		}
	})
}
