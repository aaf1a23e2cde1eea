package volume

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"io/fs"
	"os"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/disk"
)

var update = flag.Bool("update", false, "make what testdata lacks; what it has is frozen")

// makesGolden reports whether the frozen file or directory path is to be made:
// one that is there never is again.
func makesGolden(path string) bool {
	_, err := os.Lstat(path)
	return *update && errors.Is(err, fs.ErrNotExist)
}

func TestUpdateKeepsGolden(t *testing.T) {
	defer func(was bool) { *update = was }(*update)
	*update = true
	for _, path := range []string{goldenFile, goldenDir, goldenNamesDir} {
		if makesGolden(path) {
			t.Errorf("-update would make %s again", path)
		}
	}
	if !makesGolden("testdata/missing") {
		t.Error("-update would not make what is missing")
	}
}

// TestEveryBitOfTheHeader flips each bit of a header: the file must be
// reported as damaged, with the right key as well as with a wrong one, and
// nothing may be written.
func TestEveryBitOfTheHeader(t *testing.T) {
	keys, wrong := newTestKeys(t, 1), newTestKeys(t, 2)
	wrong.deks[1] = wrong.deks[2]
	f, lower := mustCreate(t, keys)
	if _, err := f.WriteAt(make([]byte, 4096), 0); err != nil {
		t.Fatal(err)
	}
	lower.fail = func(kind string, off int64, n int) (int, error) { t.Errorf("%s at %d", kind, off); return 0, errBoom }
	for bit := range HeaderSize * 8 {
		lower.data[bit/8] ^= 1 << (bit % 8)
		for name, k := range map[string]KeySource{"right": keys, "wrong": wrong} {
			if _, err := Create(lower, k, Options{}); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("bit %d of byte %d flipped, %s key: %v, want ErrCorrupt", bit%8, bit/8, name, err)
			}
		}
		lower.data[bit/8] ^= 1 << (bit % 8)
	}
}

// TestForgedHeader changes fields and makes the checksum good again, as
// someone without the key can.
func TestForgedHeader(t *testing.T) {
	keys := newTestKeys(t, 1, 2)
	_, lower := mustCreate(t, keys)
	good := bytes.Clone(lower.data)
	for name, c := range map[string]struct {
		off   int
		value byte
		want  error
	}{
		"format":      {offVersion, 2, ErrUnsupported},
		"cipher":      {offCipher, 2, ErrUnsupported},
		"size rule":   {offSizeRule, 0, ErrUnsupported},
		"unit":        {offUnit + 1, 2, ErrUnsupported},
		"required":    {offRequired, 1, ErrUnsupported},
		"file id":     {offFileID, good[offFileID] ^ 1, ErrWrongKey},
		"key version": {offKeyVersion, 1, ErrWrongKey}, // the key of version 1 did not make it
		"no such key": {offKeyVersion, 9, ErrUnknownKey},
		"role":        {offRole, 'x', ErrCorrupt},
		"parent":      {offParent, 1, ErrCorrupt},
		"ignorable":   {offIgnorable, 1, ErrCorrupt},
		"reserved":    {100, 1, ErrCorrupt},
		"mac":         {offMAC, good[offMAC] ^ 1, ErrCorrupt},
		"check value": {offKCV, good[offKCV] ^ 1, ErrWrongKey},
	} {
		lower.data = bytes.Clone(good)
		lower.data[c.off] = c.value
		sum := sha256.Sum256(lower.data[:offSum])
		copy(lower.data[offSum:offEnd], sum[:])
		if _, err := Open(lower, keys, Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	keys := newTestKeys(t, 1)
	f, lower := mustCreate(t, keys)
	if _, err := f.WriteAt(make([]byte, 512), 0); err != nil {
		t.Fatal(err)
	}
	good := lower.data
	short, err := secret.From([]byte("short"))
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	shortKey := &testKeys{1, map[uint32]*secret.Bytes{1: short}}
	other := newTestKeys(t, 3)
	other.deks[1] = other.deks[3]
	for name, c := range map[string]struct {
		data []byte
		keys KeySource
		opts Options
		want error
	}{
		"good":                    {good, keys, Options{}, nil},
		"header only":             {good[:HeaderSize], keys, Options{}, nil},
		"empty":                   {nil, keys, Options{}, ErrEmpty},
		"zeros, interrupted":      {make([]byte, 4096), keys, Options{}, ErrEmpty},
		"few zeros":               {make([]byte, 100), keys, Options{}, ErrEmpty},
		"header lost":             {append(make([]byte, 4096), good[4096:]...), keys, Options{}, ErrCorrupt},
		"header lost, unsynced":   {append(make([]byte, 4096), good[4096:]...), keys, Options{Unsynced: true}, ErrEmpty},
		"first sector lost":       {append(make([]byte, 512), bytes.Repeat([]byte{1}, 5000)...), keys, Options{}, ErrNotOurs},
		"cut in the header":       {good[:4095], keys, Options{}, ErrTruncated},
		"cut in the first sector": {good[:100], keys, Options{}, ErrTruncated},
		"cut in the magic":        {good[:3], keys, Options{}, ErrTruncated},
		"another file":            {append([]byte("SQLite format 3\x00"), make([]byte, 5000)...), keys, Options{}, ErrNotOurs},
		"another file, short":     {[]byte("hello"), keys, Options{}, ErrNotOurs},
		"wrong key":               {good, other, Options{}, ErrWrongKey},
		"short key":               {good, shortKey, Options{}, ErrWrongKey},
		"unknown key":             {good, newTestKeys(t, 7), Options{}, ErrUnknownKey},
		"other role":              {good, keys, Options{Role: Role{'x'}}, ErrMismatch},
		"other parent":            {good, keys, Options{Parent: FileID{1}}, ErrMismatch},
	} {
		l := newMemFile()
		l.data = bytes.Clone(c.data)
		_, err := Open(l, c.keys, c.opts)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if len(l.ops) > 0 {
			t.Errorf("%s: opening did %v", name, l.ops)
		}
	}
}

// TestFailedCreate fails each operation of Create, whole and half done: the
// next Create must find an empty file.
func TestFailedCreate(t *testing.T) {
	keys := newTestKeys(t, 1)
	for step := range 3 {
		for _, done := range []int{0, 512, 1000} {
			lower := newMemFile()
			seen := 0
			lower.fail = func(kind string, off int64, n int) (int, error) {
				seen++
				if seen-1 == step {
					return min(done, n), errBoom
				}
				return 0, nil
			}
			if _, err := Create(lower, keys, Options{}); !errors.Is(err, errBoom) {
				t.Fatalf("operation %d failed: %v", step, err)
			}
			lower.fail = nil
			if _, err := Create(lower, keys, Options{}); err != nil {
				t.Errorf("after operation %d failed with %d bytes done: %v", step, done, err)
			}
		}
	}
}

// TestHeaderBeforeData pins the order below: header, sync, data.
func TestHeaderBeforeData(t *testing.T) {
	f, lower := mustCreate(t, newTestKeys(t, 1))
	if _, err := f.WriteAt(make([]byte, 512), 0); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, op := range lower.ops {
		kinds = append(kinds, op.kind)
	}
	if got := len(kinds); got != 4 || kinds[1] != "write" || kinds[2] != "sync" || kinds[3] != "write" {
		t.Errorf("operations %v; want truncate, write, sync, write", kinds)
	}
}

func TestFilesDoNotShareKeys(t *testing.T) {
	keys := newTestKeys(t, 1)
	f1, l1 := mustCreate(t, keys)
	f2, l2 := mustCreate(t, keys)
	p := bytes.Repeat([]byte("same"), 1024)
	f1.WriteAt(p, 0)
	f2.WriteAt(p, 0)
	for off := HeaderSize; off < len(l1.data); off += BlockSize {
		if bytes.Equal(l1.data[off:][:BlockSize], l2.data[off:][:BlockSize]) {
			t.Fatalf("two files have the same ciphertext at %d", off)
		}
	}
}

// TestExpand compares with the standard library's HKDF.
func TestExpand(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	prf := hmac.New(sha256.New, key)
	for _, info := range []string{"", contextHeader, contextXTS + "0123456789abcdef", string(make([]byte, 300))} {
		for n := range 130 {
			want, err := hkdf.Expand(sha256.New, key, info, n)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, n)
			expand(prf, got, info)
			if !bytes.Equal(got, want) {
				t.Fatalf("info %q, %d bytes: %x, want %x", info, n, got, want)
			}
		}
	}
}

func goldenContent() []byte {
	p := make([]byte, 5005)
	for i := range p {
		p[i] = byte(i * i >> 3)
	}
	return p
}

const goldenFile = "testdata/v1.vol"

// TestGolden opens a file of format version 1 that must open for ever. Its
// key is 32 bytes of 42; it has a hole and a tail.
func TestGolden(t *testing.T) {
	path := goldenFile
	keys := newTestKeys(t, 42)
	want := make([]byte, 8192, 16384)
	want = append(want, goldenContent()...)
	if makesGolden(path) {
		lower, err := disk.CreateNew(path, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Create(lower, keys, Options{Role: Role{'g', 'o', 'l', 'd'}, Parent: FileID{1, 2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(goldenContent(), 8192); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lower := newMemFile() // a checkout knows no holes, so all zeros count
	lower.data = data
	f, err := Open(lower, keys, Options{Role: Role{'g', 'o', 'l', 'd'}, Parent: FileID{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Header().KeyVersion != 42 {
		t.Errorf("key version %d, want 42", f.Header().KeyVersion)
	}
	got := make([]byte, len(want))
	if n, err := f.ReadAt(got, 0); n != len(want) || err != nil || !bytes.Equal(got, want) {
		t.Errorf("content differs: %d bytes, %v", n, err)
	}
	if size, err := f.Size(); size != int64(len(want)) || err != nil {
		t.Errorf("size %d, %v; want %d", size, err, len(want))
	}
}

func FuzzInspect(f *testing.F) {
	h := Header{FileID: FileID{1}, KeyVersion: 3, Role: RoleFile}
	good := h.seal(nil, &[32]byte{9})
	f.Add(good)
	f.Add(good[:100])
	f.Add(make([]byte, HeaderSize))
	f.Add([]byte(magic))
	bad := bytes.Clone(good)
	binary.LittleEndian.PutUint16(bad[offVersion:], 7)
	f.Add(bad)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := Inspect(b)
		if err != nil {
			if h != (Header{}) {
				t.Errorf("error %v with a header", err)
			}
			return
		}
		// Only the check value, MAC and ignorable flags may differ from a
		// header made anew.
		again, err := Inspect(h.seal(nil, &[32]byte{9}))
		if err != nil || again != h {
			t.Errorf("header %+v, made anew %+v, %v", h, again, err)
		}
		if err := h.verify(b, &[32]byte{8}); err == nil {
			t.Error("verified under a key nobody used")
		}
	})
}
