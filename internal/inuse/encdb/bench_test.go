package encdb

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"
)

func BenchmarkSeal(b *testing.B) { benchmarkCells(b, false) }
func BenchmarkOpen(b *testing.B) { benchmarkCells(b, true) }

func benchmarkCells(b *testing.B, open bool) {
	for _, layout := range []byte{Layout64, Layout65, Layout66} {
		for _, a := range []Algorithm{AES128GCM, AES256GCM, SM4GCM} {
			for _, size := range []int{8, 32, 500, 1 << 20} {
				b.Run(fmt.Sprintf("layout=%x/algorithm=%v/size=%d", layout, a, size), func(b *testing.B) {
					s, o := ends(b, layout, a)
					c := NewColumn("tpcc", "customer", "c_data", TypeVarString, false, 0)
					value := bytes.Repeat([]byte("x"), size)
					text, err := s.Append(nil, c, false, value)
					if err != nil {
						b.Fatal(err)
					}
					dst, out := make([]byte, 0, len(text)+tagSize), make([]byte, 0, size+tagSize)
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for b.Loop() {
						if open {
							_, _, err = o.Open(out, c, false, text)
						} else {
							_, err = s.Append(dst, c, false, value)
						}
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkText compares our base64 with the standard library's.
func BenchmarkText(b *testing.B) {
	for _, size := range []int{46 + 8, 46 + 500} {
		n := base64.StdEncoding.EncodedLen(size)
		text, raw := make([]byte, n), bytes.Repeat([]byte{0x5a}, size)
		out := make([]byte, 0, n)
		run := func(op, impl string, f func()) {
			b.Run(fmt.Sprintf("op=%s/size=%d/impl=%s", op, size, impl), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					f()
				}
			})
		}
		run("encode", "std", func() { base64.StdEncoding.Encode(text, raw) })
		run("encode", "table", func() { encodeInPlace(text, size) })
		base64.StdEncoding.Encode(text, raw)
		run("decode", "std", func() { _, _ = base64.StdEncoding.Decode(out[:n], text) })
		run("decode", "table", func() { decodeText(out, text, 0) })
	}
}

func BenchmarkHandshake(b *testing.B) {
	for _, layout := range []byte{Layout64, Layout66} {
		b.Run(fmt.Sprintf("layout=%x/suite=%v", layout, SM2CBC), func(b *testing.B) {
			cfg := &Config{Only64: layout == Layout64}
			for b.Loop() {
				s := newSession(b, cfg)
				if _, err := handshake(b, newClient(b, ClientConfig{}), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecognise is what every statement of a connection pays.
func BenchmarkRecognise(b *testing.B) {
	for name, sql := range map[string]string{
		"point_select": "SELECT c FROM sbtest1 WHERE id=4711",
		"update":       "UPDATE sbtest1 SET k=k+1 WHERE id=4711",
		"set":          "SET autocommit=0",
	} {
		b.Run("statement="+name, func(b *testing.B) {
			text := []byte(sql)
			b.ReportAllocs()
			for b.Loop() {
				if Recognise(text, false).Kind != Other {
					b.Fatal("recognised")
				}
			}
		})
	}
}
