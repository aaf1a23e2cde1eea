package sm

import (
	"bytes"
	"crypto/cipher"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSM3 has the examples of GB/T 32905-2016, appendix A.
func TestSM3(t *testing.T) {
	for msg, want := range map[string]string{
		"abc":                      "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0",
		strings.Repeat("abcd", 16): "debe9ff92275b8a138604889c18e5a4d6fdb70e5387e5765293dcba39c0c5732",
	} {
		h := NewSM3()
		h.Write([]byte(msg))
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("SM3(%q) = %s, want %s", msg, got, want)
		}
	}
}

// TestSM4Block has the examples of GB/T 32907-2016, appendix A.
func TestSM4Block(t *testing.T) {
	key := unhex(t, "0123456789abcdeffedcba9876543210")
	block, err := NewSM4(key)
	if err != nil {
		t.Fatal(err)
	}
	b := bytes.Clone(key)
	block.Encrypt(b, b)
	if got, want := hex.EncodeToString(b), "681edf34d206965e86b3e94f536e4246"; got != want {
		t.Errorf("once: %s, want %s", got, want)
	}
	block.Decrypt(b, b)
	if !bytes.Equal(b, key) {
		t.Errorf("back: %x, want %x", b, key)
	}
	for range 1_000_000 {
		block.Encrypt(b, b)
	}
	if got, want := hex.EncodeToString(b), "595298c7c6fd271f0402f804c33d3f66"; got != want {
		t.Errorf("a million times: %s, want %s", got, want)
	}
}

// TestSM4CBC has the examples A.2.2 of draft-ribose-cfrg-sm4-10.
func TestSM4CBC(t *testing.T) {
	for key, want := range map[string]string{
		"0123456789abcdeffedcba9876543210": "78ebb11cc40b0a48312aaeb2040244cb4cb7016951909226979b0d15dc6a8f6d",
		"fedcba98765432100123456789abcdef": "0d3a6ddc2d21c698857215587b7bb59a91f2c147911a4144665e1fa1d40bae38",
	} {
		block, err := NewSM4(unhex(t, key))
		if err != nil {
			t.Fatal(err)
		}
		b := unhex(t, "aaaaaaaabbbbbbbbccccccccddddddddeeeeeeeeffffffffaaaaaaaabbbbbbbb")
		cipher.NewCBCEncrypter(block, unhex(t, "000102030405060708090a0b0c0d0e0f")).CryptBlocks(b, b)
		if got := hex.EncodeToString(b); got != want {
			t.Errorf("key %s: %s, want %s", key, got, want)
		}
	}
}

// TestSM4GCM has the example of RFC 8998, appendix A.1.
func TestSM4GCM(t *testing.T) {
	g, err := NewSM4GCM(unhex(t, "0123456789abcdeffedcba9876543210"))
	if err != nil {
		t.Fatal(err)
	}
	nonce, aad := unhex(t, "00001234567800000000abcd"), unhex(t, "feedfacedeadbeeffeedfacedeadbeefabaddad2")
	pt := unhex(t, "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccddddddddddddddddeeeeeeeeeeeeeeeeffffffffffffffffeeeeeeeeeeeeeeeeaaaaaaaaaaaaaaaa")
	want := "17f399f08c67d5ee19d0dc9969c4bb7d5fd46fd3756489069157b282bb200735d82710ca5c22f0ccfa7cbf93d496ac15a56834cbcf98c397b4024a2691233b8d" +
		"83de3541e4c2b58177e065a9bf7b62ec"
	ct := g.Seal(nil, nonce, pt, aad)
	if got := hex.EncodeToString(ct); got != want {
		t.Errorf("seal:\ngot  %s\nwant %s", got, want)
	}
	if got, err := g.Open(nil, nonce, ct, aad); err != nil || !bytes.Equal(got, pt) {
		t.Errorf("open: %x, %v", got, err)
	}
	ct[3] ^= 1
	if _, err := g.Open(nil, nonce, ct, aad); err == nil {
		t.Error("an altered ciphertext opens")
	}
}

func TestSM4KeySize(t *testing.T) {
	for _, n := range []int{0, 15, 17, 32} {
		if _, err := NewSM4(make([]byte, n)); !errors.Is(err, ErrSize) {
			t.Errorf("NewSM4(%d bytes): %v, want ErrSize", n, err)
		}
		if _, err := NewSM4GCM(make([]byte, n)); !errors.Is(err, ErrSize) {
			t.Errorf("NewSM4GCM(%d bytes): %v, want ErrSize", n, err)
		}
	}
}
