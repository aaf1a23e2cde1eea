package keyring_test

import (
	"testing"

	"github.com/veildb/veildb/internal/keys/keyring"
)

func BenchmarkKeyring(b *testing.B) {
	r, path := initRing(b, keyring.InitOptions{}, options)
	b.Run("op=open/provider=file", func(b *testing.B) {
		for b.Loop() {
			x, err := keyring.Open(b.Context(), path, options)
			if err != nil {
				b.Fatal(err)
			}
			x.Close()
		}
	})
	b.Run("op=rotate/provider=file", func(b *testing.B) {
		r, _ := initRing(b, keyring.InitOptions{}, options)
		for b.Loop() {
			if err := r.Rotate(b.Context()); err != nil {
				b.Fatal(err)
			}
			if r.Generation()%100 == 0 { // every version is kept: begin anew
				b.StopTimer()
				r, _ = initRing(b, keyring.InitOptions{}, options)
				b.StartTimer()
			}
		}
	})
	b.Run("op=dek", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.DEK(1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("op=subkey", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k, err := r.Subkey("file/0123456789abcdef", 1)
			if err != nil {
				b.Fatal(err)
			}
			k.Close()
		}
	})
}
