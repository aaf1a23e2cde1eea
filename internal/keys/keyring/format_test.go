package keyring

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// FuzzDecode: whatever decodes encodes to the same bytes, but for the sums.
func FuzzDecode(f *testing.F) {
	golden, err := os.ReadFile("testdata/v1.ring")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(golden[:len(golden)/2])
	f.Add([]byte("{\n  \"format\": \"veildb.keyring/1\",\n"))
	f.Add([]byte("{\n  \"format\": \"veildb.keyring/7\",\n"))
	kek, err := secret.New(keySize)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decode(data)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("decode: %v", err)
			}
			return
		}
		again, err := got.encode(kek)
		if err != nil {
			t.Fatal(err)
		}
		second, err := decode(again)
		if err != nil {
			t.Fatalf("encoded again it does not decode: %v", err)
		}
		third, err := second.encode(kek)
		if err != nil || !bytes.Equal(again, third) {
			t.Errorf("no fixed point: %v\n%s\n%s", err, again, third)
		}
	})
}

func TestEncodeIsStable(t *testing.T) {
	golden, err := os.ReadFile("testdata/v1.ring")
	if err != nil {
		t.Fatal(err)
	}
	f, err := decode(golden)
	if err != nil {
		t.Fatal(err)
	}
	kek, err := secret.New(keySize)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.encode(kek)
	if err != nil {
		t.Fatal(err)
	}
	if cut := len(golden) - macTailLength; !bytes.Equal(again[:len(again)-macTailLength], golden[:cut]) {
		t.Errorf("encoded again:\n%s\nwant\n%s", again, golden)
	}
}
