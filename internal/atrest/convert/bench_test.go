package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkEncrypt converts one large file and many small ones.
func BenchmarkEncrypt(b *testing.B) {
	for _, c := range []struct{ files, size int }{{4, 64 << 20}, {4096, 16 << 10}} {
		b.Run(fmt.Sprintf("files=%d/size=%d", c.files, c.size), func(b *testing.B) {
			dir, keys := b.TempDir(), newTestKeys(b, 1)
			plain, lower := filepath.Join(dir, "plain"), filepath.Join(dir, "lower")
			if err := os.Mkdir(plain, 0o700); err != nil {
				b.Fatal(err)
			}
			content := make([]byte, c.size)
			for i := range content {
				content[i] = byte(i * i >> 7)
			}
			for i := range c.files {
				if err := os.WriteFile(filepath.Join(plain, fmt.Sprint(i)), content, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(c.files) * int64(c.size))
			for b.Loop() {
				if _, err := (&Job{Source: plain, Target: lower, Keys: keys.open}).Run(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				os.RemoveAll(lower)
				b.StartTimer()
			}
		})
	}
}
