package aead

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var testKey = bytes.Repeat([]byte{0x42, 0x17}, KeySize/2)

func pair(t testing.TB, key []byte) (*Sealer, *Opener) {
	t.Helper()
	return pairOf(t, key, available[0])
}

func pairOf(t testing.TB, key []byte, im impl) (*Sealer, *Opener) {
	t.Helper()
	s, err := newSealer(key, im)
	if err != nil {
		t.Fatal(err)
	}
	o, err := newOpener(key, im)
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

// eachImpl runs f for every implementation this CPU has.
func eachImpl(t *testing.T, f func(t *testing.T, im impl)) {
	for _, im := range available {
		t.Run(im.String(), func(t *testing.T) { f(t, im) })
	}
}

// vectors reads a file of NIST CAVP records: name = hex lines, blank between.
func vectors(t *testing.T, file string) (recs []map[string][]byte) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(data), "\n\n") {
		rec := map[string][]byte{}
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			if name, value, ok := strings.Cut(line, " ="); ok && line[0] != '#' {
				b, err := hex.DecodeString(strings.TrimSpace(value))
				if err != nil {
					t.Fatalf("%s: %q: %v", file, line, err)
				}
				rec[name] = b
			} else if line == "FAIL" {
				rec["FAIL"] = []byte{1}
			}
		}
		if rec["Key"] != nil {
			recs = append(recs, rec)
		}
	}
	return recs
}

func TestVectors(t *testing.T) { eachImpl(t, testVectors) }

func testVectors(t *testing.T, im impl) {
	sealed, opened, refused := 0, 0, 0
	for _, v := range vectors(t, "gcmEncryptExtIV256.rsp") {
		s, _ := pairOf(t, v["Key"], im)
		copy(s.prefix[:], v["IV"])
		got := s.seal(make([]byte, 0, Overhead+len(v["PT"])), binary.BigEndian.Uint32(v["IV"][prefixSize:]), v["PT"], v["AAD"])
		want := slices.Concat(v["IV"], v["CT"], v["Tag"])
		if !bytes.Equal(got, want) {
			t.Errorf("key %x plaintext %x aad %x:\ngot  %x\nwant %x", v["Key"], v["PT"], v["AAD"], got, want)
		}
		sealed++
	}
	for _, v := range vectors(t, "gcmDecrypt256.rsp") {
		_, o := pairOf(t, v["Key"], im)
		cell := slices.Concat(v["IV"], v["CT"], v["Tag"])
		got, err := o.Open(nil, cell, v["AAD"])
		if v["FAIL"] != nil {
			if !errors.Is(err, ErrNotAuthentic) || got != nil {
				t.Errorf("cell %x opened as %x, %v; want ErrNotAuthentic", cell, got, err)
			}
			refused++
			continue
		}
		if err != nil || !bytes.Equal(got, v["PT"]) {
			t.Errorf("cell %x opened as %x, %v; want %x", cell, got, err, v["PT"])
		}
		opened++
	}
	if sealed < 100 || opened < 70 || refused < 70 {
		t.Errorf("only %d sealed, %d opened, %d refused", sealed, opened, refused)
	}
}

// slowSeal is GCM written from SP 800-38D, one bit at a time.
func slowSeal(key, nonce, plaintext, aad []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	encrypt := func(in [16]byte) (out [16]byte) { block.Encrypt(out[:], in[:]); return }
	h := encrypt([16]byte{})
	var y [16]byte
	mul := func() { // y = y * h in GF(2^128)
		var z, v = [16]byte{}, h
		for i := range 128 {
			if y[i/8]>>(7-i%8)&1 == 1 {
				for j := range z {
					z[j] ^= v[j]
				}
			}
			carry := byte(0)
			for j := range v {
				v[j], carry = v[j]>>1|carry<<7, v[j]&1
			}
			v[0] ^= carry * 0xe1
		}
		y = z
	}
	hash := func(data []byte) {
		for chunk := range slices.Chunk(data, 16) {
			for i, c := range chunk {
				y[i] ^= c
			}
			mul()
		}
	}
	var ctr [16]byte
	copy(ctr[:], nonce)
	ctr[15] = 1
	mask := encrypt(ctr)
	out := slices.Clone(plaintext)
	for i := range out {
		if i%16 == 0 {
			binary.BigEndian.PutUint32(ctr[12:], uint32(2+i/16))
		}
		ks := encrypt(ctr)
		out[i] ^= ks[i%16]
	}
	hash(aad)
	hash(out)
	var lengths [16]byte
	binary.BigEndian.PutUint64(lengths[:], uint64(len(aad))*8)
	binary.BigEndian.PutUint64(lengths[8:], uint64(len(out))*8)
	hash(lengths[:])
	for i := range y {
		y[i] ^= mask[i]
	}
	return slices.Concat(nonce, out, y[:])
}

func TestAgainstSlow(t *testing.T) { eachImpl(t, testAgainstSlow) }

func testAgainstSlow(t *testing.T, im impl) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	for range 200 {
		key, pt, aad := random(KeySize), random(rnd.IntN(400)), random(rnd.IntN(80))
		s, o := pairOf(t, key, im)
		skip := rnd.IntN(16) // any alignment of source and destination
		pt = append(make([]byte, skip), pt...)[skip:]
		dst := random(rnd.IntN(16))
		got, err := s.Seal(slices.Clone(dst), pt, aad)
		if err != nil {
			t.Fatal(err)
		}
		cell := got[len(dst):]
		if want := slowSeal(key, cell[:nonceSize], pt, aad); !bytes.Equal(cell, want) || !bytes.Equal(got[:len(dst)], dst) {
			t.Fatalf("key %x pt %x aad %x:\ngot  %x\nwant %x", key, pt, aad, cell, want)
		}
		back, err := o.Open(slices.Clone(dst), cell, aad)
		if err != nil || !bytes.Equal(back, append(dst, pt...)) {
			t.Fatalf("open: %x, %v; want %x", back, err, pt)
		}
	}
}

func TestNonceRule(t *testing.T) {
	s, _ := pair(t, testKey)
	s2, _ := pair(t, testKey)
	if s.prefix == s2.prefix {
		t.Error("two sealers have one prefix")
	}
	nonceOf := func(size int) uint32 {
		t.Helper()
		c, err := s.Seal(nil, make([]byte, size), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(c[:prefixSize], s.prefix[:]) {
			t.Errorf("nonce %x lacks prefix %x", c[:nonceSize], s.prefix)
		}
		return binary.BigEndian.Uint32(c[prefixSize:nonceSize])
	}
	for i, tc := range []struct {
		size int
		want uint32
	}{{0, 0}, {1, 1}, {64 << 10, 2}, {64<<10 + 1, 3}, {0, 5}, {1 << 20, 6}, {5, 22}} {
		if got := nonceOf(tc.size); got != tc.want {
			t.Errorf("cell %d of %d bytes has counter %d, want %d", i, tc.size, got, tc.want)
		}
	}

	s.steps.Store(maxSteps - 2)
	if got := nonceOf(1); got != 1<<32-2 {
		t.Errorf("last but one counter is %d", got)
	}
	if _, err := s.Seal(nil, make([]byte, 64<<10+1), nil); !errors.Is(err, ErrExhausted) {
		t.Errorf("a cell that needs two of one left: %v, want ErrExhausted", err)
	}
	for range 3 {
		if _, err := s.Seal(nil, nil, nil); !errors.Is(err, ErrExhausted) {
			t.Errorf("after the last: %v, want ErrExhausted", err)
		}
	}
	row := [][]byte{{1}}
	if _, err := s.SealRow(nil, row, row, row); !errors.Is(err, ErrExhausted) {
		t.Errorf("row after the last: %v, want ErrExhausted", err)
	}
}

func TestNoncesAreUniqueAcrossGoroutines(t *testing.T) {
	s, _ := pair(t, testKey)
	var (
		mu   sync.Mutex
		seen = map[string]bool{}
		wg   sync.WaitGroup
	)
	for range 8 {
		wg.Go(func() {
			out, plain := make([][]byte, 3), [][]byte{{1}, nil, {2}}
			for range 200 {
				if _, err := s.SealRow(nil, out, plain, make([][]byte, 3)); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				seen[string(out[0][:nonceSize])] = true
				seen[string(out[2][:nonceSize])] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 8*200*2 {
		t.Errorf("%d distinct nonces, want %d", len(seen), 8*200*2)
	}
}

func TestRow(t *testing.T) { eachImpl(t, testRow) }

func testRow(t *testing.T, im impl) {
	s, o := pairOf(t, testKey, im)
	plain := [][]byte{[]byte("alpha"), nil, {}, bytes.Repeat([]byte("x"), 70_000), []byte("omega")}
	aad := [][]byte{[]byte("t.a"), nil, []byte("t.c"), []byte("t.d"), nil}
	cells := make([][]byte, len(plain))
	buf, err := s.SealRow([]byte("head"), cells, plain, aad)
	if err != nil || string(buf[:4]) != "head" {
		t.Fatalf("buffer starts %q, %v", buf[:4], err)
	}
	if !bytes.Equal(buf[4:], slices.Concat(cells...)) {
		t.Error("the buffer is not the cells one after another")
	}
	back := make([][]byte, len(plain))
	if _, err := o.OpenRow(nil, back, cells, aad); err != nil {
		t.Fatal(err)
	}
	for i := range plain {
		if !bytes.Equal(back[i], plain[i]) || (back[i] == nil) != (plain[i] == nil) {
			t.Errorf("value %d came back as %q, want %q", i, back[i], plain[i])
		}
		if cells[i] == nil {
			continue
		}
		if one, err := o.Open(nil, cells[i], aad[i]); err != nil || !bytes.Equal(one, plain[i]) {
			t.Errorf("value %d alone: %q, %v", i, one, err)
		}
	}

	cells[4] = slices.Clone(cells[4])
	cells[4][nonceSize] ^= 1
	scratch := make([]byte, 0, 80_000)
	if got, err := o.OpenRow(scratch, back, cells, aad); !errors.Is(err, ErrNotAuthentic) || got != nil || back[0] != nil {
		t.Errorf("altered row: %q, first value %q, %v; want nothing and ErrNotAuthentic", got, back[0], err)
	}
	if !bytes.Equal(scratch[:cap(scratch)], make([]byte, cap(scratch))) {
		t.Error("plaintext of a refused row stays in the caller's buffer")
	}
	if _, err := s.SealRow(nil, cells[:1], plain, aad); !errors.Is(err, ErrSize) {
		t.Errorf("uneven seal: %v, want ErrSize", err)
	}
	if _, err := o.OpenRow(nil, back, cells, aad[:1]); !errors.Is(err, ErrSize) {
		t.Errorf("uneven open: %v, want ErrSize", err)
	}
}

func TestTooLong(t *testing.T) {
	s, _ := pair(t, testKey)
	if _, err := s.Seal(nil, make([]byte, MaxPlaintext+1), nil); !errors.Is(err, ErrSize) {
		t.Errorf("plaintext too long: %v, want ErrSize", err)
	}
}

func TestRefused(t *testing.T) { eachImpl(t, testRefused) }

func testRefused(t *testing.T, im impl) {
	for _, n := range []int{0, 16, 24, 31, 33, 64} {
		if _, err := newSealer(make([]byte, n), im); !errors.Is(err, ErrSize) {
			t.Errorf("NewSealer(%d bytes) = %v, want ErrSize", n, err)
		}
		if _, err := newOpener(make([]byte, n), im); !errors.Is(err, ErrSize) {
			t.Errorf("NewOpener(%d bytes) = %v, want ErrSize", n, err)
		}
	}
	s, o := pairOf(t, testKey, im)
	cell, err := s.Seal(nil, []byte("value"), []byte("table.column"))
	if err != nil {
		t.Fatal(err)
	}
	_, other := pairOf(t, bytes.Repeat([]byte{9}, KeySize), im)
	for name, f := range map[string]func() ([]byte, error){
		"other key":   func() ([]byte, error) { return other.Open(nil, cell, []byte("table.column")) },
		"other place": func() ([]byte, error) { return o.Open(nil, cell, []byte("table.other")) },
		"no place":    func() ([]byte, error) { return o.Open(nil, cell, nil) },
		"empty":       func() ([]byte, error) { return o.Open(nil, nil, nil) },
		"longer":      func() ([]byte, error) { return o.Open(nil, append(slices.Clip(cell), 0), []byte("table.column")) },
	} {
		if got, err := f(); !errors.Is(err, ErrNotAuthentic) || got != nil {
			t.Errorf("%s: %q, %v; want ErrNotAuthentic", name, got, err)
		}
	}
	for i := range len(cell) * 8 {
		bad := slices.Clone(cell)
		bad[i/8] ^= 1 << (i % 8)
		if got, err := o.Open(nil, bad, []byte("table.column")); err != ErrNotAuthentic || got != nil {
			t.Errorf("bit %d flipped: %q, %v", i, got, err)
		}
	}
	for n := range len(cell) {
		if _, err := o.Open(nil, cell[:n], []byte("table.column")); err != ErrNotAuthentic {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

func TestNoAllocation(t *testing.T) { eachImpl(t, testNoAllocation) }

func testNoAllocation(t *testing.T, im impl) {
	s, o := pairOf(t, testKey, im)
	pt, aad, buf, buf2 := make([]byte, 16), make([]byte, 24), make([]byte, 0, 4096), make([]byte, 0, 4096)
	cell, err := s.Seal(nil, pt, aad)
	if err != nil {
		t.Fatal(err)
	}
	plain, places, cells, back := [][]byte{pt, nil, pt}, [][]byte{aad, aad, aad}, make([][]byte, 3), make([][]byte, 3)
	for name, f := range map[string]func(){
		"seal": func() { s.Seal(buf, pt, aad) },
		"open": func() { o.Open(buf, cell, aad) },
		"row": func() {
			s.SealRow(buf, cells, plain, places)
			if _, err := o.OpenRow(buf2, back, cells, places); err != nil {
				panic(err)
			}
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
