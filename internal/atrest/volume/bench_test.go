package volume

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/disk"
)

func benchFile(b *testing.B) *File {
	lower, err := disk.CreateNew(filepath.Join(b.TempDir(), "f"), 0o600)
	if err != nil {
		b.Fatal(err)
	}
	f, err := Create(lower, newTestKeys(b, 1), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	if _, err := f.WriteAt(make([]byte, 4<<20), 0); err != nil {
		b.Fatal(err)
	}
	return f
}

// BenchmarkFile compares with the lower file itself, both in the page cache.
func BenchmarkFile(b *testing.B) {
	for _, size := range []int{512, 4096, 16384, 1 << 20} {
		for _, op := range []string{"read", "write"} {
			for _, impl := range []string{"plain", "volume"} {
				b.Run(fmt.Sprintf("op=%s/size=%d/impl=%s", op, size, impl), func(b *testing.B) {
					f := benchFile(b)
					var at disk.File = f.lower
					do := at.ReadAt
					if impl == "volume" {
						do = f.ReadAt
					}
					if op == "write" {
						do = at.WriteAt
						if impl == "volume" {
							do = f.WriteAt
						}
					}
					p := make([]byte, size)
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if _, err := do(p, int64(i*size)%(4<<20)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkOpen derives the keys of one file and checks its header; the bar
// for 10,000 files is 50 ms, 5 µs each, for the keys alone.
func BenchmarkOpen(b *testing.B) {
	keys := newTestKeys(b, 1)
	_, lower := mustCreate(b, keys)
	b.Run("part=keys", func(b *testing.B) {
		for b.Loop() {
			_, c, err := fileKeys(keys, 1, FileID{1})
			if err != nil {
				b.Fatal(err)
			}
			c.Wipe()
		}
	})
	b.Run("part=all", func(b *testing.B) {
		for b.Loop() {
			if _, err := Open(lower, keys, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkZeroBlock(b *testing.B) {
	p := make([]byte, 4096)
	for i := range p {
		p[i] = byte(i)*7 | 1
	}
	b.SetBytes(4096)
	for b.Loop() {
		if zeroBlock(p) != len(p) {
			b.Fatal("found one")
		}
	}
}
