package encdb

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "make what testdata lacks; what it has is frozen")

// ends returns a Sealer and an Opener of one connection.
func ends(t testing.TB, layout byte, a Algorithm) (*Sealer, *Opener) {
	t.Helper()
	key := secretOf(t, unhex(t, testMEK))
	s, err := newSealer(key, SM3, a, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	o, err := newOpener(key, SM3, false)
	if err != nil {
		t.Fatal(err)
	}
	s.layout, o.layout, s.keyID, o.keyID = layout, layout, 7, 7
	for i := range s.session {
		s.session[i], o.session[i] = byte(i), byte(i)
	}
	t.Cleanup(func() { s.Close(); o.Close() })
	return s, o
}

func le(n uint64, size int) string { return string(binary.LittleEndian.AppendUint64(nil, n)[:size]) }

// values are rows' values of every type: text, binary, and the text of the
// binary value where it is another.
var values = []struct {
	name         string
	typ          byte
	unsigned     bool
	decimals     byte
	text, binary string
}{
	{"tiny", TypeTiny, false, 0, "-128", le(0x80, 1)},
	{"tiny unsigned", TypeTiny, true, 0, "255", le(255, 1)},
	{"short", TypeShort, false, 0, "-2", le(0xfffe, 2)},
	{"short unsigned", TypeShort, true, 0, "65535", le(0xffff, 2)},
	{"year", TypeYear, true, 0, "2023", le(2023, 2)},
	{"int24", TypeInt24, false, 0, "-8388608", le(0xff800000, 4)},
	{"int24 unsigned", TypeInt24, true, 0, "16777215", le(1<<24-1, 4)},
	{"int", TypeLong, false, 0, "-2147483648", le(1<<31, 4)},
	{"int unsigned", TypeLong, true, 0, "4294967295", le(1<<32-1, 4)},
	{"bigint", TypeLongLong, false, 0, "-1", le(math.MaxUint64, 8)},
	{"bigint unsigned small", TypeLongLong, true, 0, "9223372036854775807", le(math.MaxInt64, 8)},
	{"bigint unsigned", TypeLongLong, true, 0, "18446744073709551615", le(math.MaxUint64, 8)},
	{"float", TypeFloat, false, 31, "1.5", le(uint64(math.Float32bits(1.5)), 4)},
	{"double", TypeDouble, false, 31, "1e20", le(math.Float64bits(1e20), 8)},
	{"double scale", TypeDouble, false, 2, "-12.50", le(math.Float64bits(-12.5), 8)},
	{"decimal", TypeNewDecimal, false, 3, "-12.500", "-12.500"},
	{"date", TypeDate, false, 0, "2024-05-10", "\xe8\x07\x05\x0a"},
	{"date zero", TypeDate, false, 0, "0000-00-00", ""},
	{"datetime zero", TypeDateTime, false, 0, "0000-00-00 00:00:00", ""},
	{"datetime zero fraction", TypeDateTime, false, 3, "0000-00-00 00:00:00.000", ""},
	{"datetime date", TypeDateTime, false, 0, "2024-05-10 00:00:00", "\xe8\x07\x05\x0a"},
	{"datetime", TypeDateTime, false, 0, "2024-05-10 09:44:11", "\xe8\x07\x05\x0a\x09\x2c\x0b"},
	{"timestamp fraction", TypeTimestamp, false, 6, "2024-05-10 09:44:11.123456", "\xe8\x07\x05\x0a\x09\x2c\x0b" + le(123456, 4)},
	{"time zero", TypeTime, false, 0, "00:00:00", ""},
	{"time", TypeTime, false, 0, "838:59:59", "\x00" + le(34, 4) + "\x16\x3b\x3b"},
	{"time negative", TypeTime, false, 1, "-26:03:04.5", "\x01" + le(1, 4) + "\x02\x03\x04" + le(500000, 4)},
	{"bit", TypeBit, true, 0, "\x00\x41", "\x00\x41"},
	{"varchar", TypeVarString, false, 0, "密态", "密态"},
	{"char empty", TypeString, false, 0, "", ""},
	{"blob", TypeBlob, false, 0, "\x00\xff", "\x00\xff"},
	{"json", TypeJSON, false, 0, `{"k": 1}`, `{"k": 1}`},
	{"geometry", TypeGeometry, false, 0, "\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x01"},
	{"vector", TypeVector, false, 0, "\x00\x00\x80\x3f", "\x00\x00\x80\x3f"},
	{"enum", TypeEnum, false, 0, "a", "a"},
}

// TestRoundTrip seals every type in both protocols and layouts, and restores
// it both as its own type and, for clients that do not know it, as text.
func TestRoundTrip(t *testing.T) {
	for _, layout := range []byte{Layout64, Layout65, Layout66} {
		for _, a := range []Algorithm{AES128GCM, SM4GCM, AES256GCM} {
			s, o := ends(t, layout, a)
			for _, v := range values {
				c := NewColumn("shop", "orders", "c", v.typ, v.unsigned, v.decimals)
				for _, bin := range []bool{false, true} {
					value := v.text
					if bin {
						value = v.binary
					}
					text, err := s.Append(nil, c, bin, []byte(value))
					if err != nil {
						t.Fatalf("seal %s: %v", v.name, err)
					}
					if layout != Layout65 && len(text) != CellSize(layout, len(value)) && (layout == Layout66 || !v.unsigned) {
						t.Errorf("%s: cell of %d bytes, CellSize says %d", v.name, len(text), CellSize(layout, len(value)))
					}
					typ, plain, err := o.Open(nil, c, bin, text)
					if err != nil {
						t.Fatalf("open %s: %v", v.name, err)
					}
					got, err := Restore(nil, c, bin, typ, plain)
					if err != nil || string(got) != value {
						t.Errorf("layout %x %v %s bin=%v: got %q, %v; want %q", layout, a, v.name, bin, got, err, value)
					}
					asText := &Column{typ: TypeVarString, decimals: v.decimals}
					got, err = Restore(nil, asText, bin, typ, plain)
					if Own(layout) && v.unsigned && isInteger(v.typ) {
						continue // the type is known there
					}
					if err != nil || string(got) != v.text {
						t.Errorf("layout %x %v %s bin=%v as text: got %q, %v; want %q", layout, a, v.name, bin, got, err, v.text)
					}
				}
			}
		}
	}
}

func TestPlainType(t *testing.T) {
	for _, c := range []struct {
		name     string
		typ      byte
		unsigned bool
		binary   bool
		in       string
		wantType byte
		want     string
	}{
		{"signed int", TypeLong, false, true, le(5, 4), TypeLong, le(5, 4)},
		{"unsigned int text", TypeLong, true, false, "4294967295", TypeLongLong, "4294967295"},
		{"unsigned tiny binary", TypeTiny, true, true, "\xff", TypeLongLong, le(255, 8)},
		{"unsigned bigint", TypeLongLong, true, true, le(0, 8), TypeNewDecimal, "0"},
		{"unsigned bigint beyond", TypeLongLong, true, true, le(1<<63, 8), TypeNewDecimal, "9223372036854775808"},
		{"unsigned bigint text", TypeLongLong, true, false, "0", TypeNewDecimal, "0"},
		{"unsigned bigint text beyond", TypeLongLong, true, false, "9223372036854775808", TypeNewDecimal, "9223372036854775808"},
		{"zerofill", TypeLongLong, true, false, "00000000000000000042", TypeNewDecimal, "00000000000000000042"},
		{"year keeps its type", TypeYear, true, true, le(2023, 2), TypeYear, le(2023, 2)},
		{"unknown type", 244, false, true, "x", TypeBlob, "x"},
	} {
		typ, got, err := PlainType(c.typ, c.unsigned, c.binary, []byte(c.in))
		if err != nil || typ != c.wantType || string(got) != c.want {
			t.Errorf("%s: got type %d, %q, %v; want %d, %q", c.name, typ, got, err, c.wantType, c.want)
		}
	}
	if _, _, err := PlainType(TypeLong, false, true, []byte("123")); !errors.Is(err, ErrValue) {
		t.Errorf("3 bytes for INT: got %v, want ErrValue", err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	col := func(typ byte, unsigned bool) *Column { return NewColumn("", "", "", typ, unsigned, 0) }
	for _, c := range []struct {
		name  string
		col   *Column
		typ   byte
		plain string
	}{
		{"short plaintext", col(TypeLong, false), TypeLong, "abc"},
		{"too big for the column", col(TypeTiny, true), TypeLongLong, le(256, 8)},
		{"too big for a signed column", col(TypeShort, false), TypeLongLong, le(1<<15, 8)},
		{"another fixed type", col(TypeDouble, false), TypeLong, le(1, 4)},
		{"decimal that is no number", col(TypeLongLong, true), TypeNewDecimal, "1e3"},
		{"date for a number", col(TypeLong, false), TypeDate, "\xe8\x07\x05\x0a"},
	} {
		if got, err := Restore(nil, c.col, true, c.typ, []byte(c.plain)); !errors.Is(err, ErrValue) {
			t.Errorf("%s: got %x, %v; want ErrValue", c.name, got, err)
		}
	}
}

func TestOwnLayoutsBind(t *testing.T) {
	for _, layout := range []byte{Layout65, Layout66} {
		for _, a := range []Algorithm{AES256GCM, SM4GCM} {
			t.Run(fmt.Sprintf("layout=%x/algorithm=%v", layout, a), func(t *testing.T) { testBinds(t, layout, a) })
		}
	}
}

func testBinds(t *testing.T, layout byte, a Algorithm) {
	s, o := ends(t, layout, a)
	c := NewColumn("shop", "orders", "card", TypeVarString, false, 0)
	text, err := s.Append(nil, c, false, []byte("4111 1111"))
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := o.Open(nil, c, false, text); err != nil || string(got) != "4111 1111" {
		t.Fatalf("open: %q, %v", got, err)
	}
	fails := func(name string, bin bool, c *Column, text []byte) {
		t.Helper()
		if _, got, err := o.Open(nil, c, bin, text); err == nil || got != nil {
			t.Errorf("%s: opened %q", name, got)
		}
	}
	fails("another column", false, NewColumn("shop", "orders", "name", TypeVarString, false, 0), text)
	fails("another split of the names", false, NewColumn("shopo", "rders", "card", TypeVarString, false, 0), text)
	fails("another type", false, NewColumn("shop", "orders", "card", TypeBlob, false, 0), text)
	number := NewColumn("shop", "orders", "card", TypeLong, false, 0)
	signed, err := s.Append(nil, number, false, []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	fails("another sign", false, NewColumn("shop", "orders", "card", TypeLong, true, 0), signed)
	fails("another protocol", true, c, text)
	raw, encode := bytes.Clone(text), bytes.Clone
	if layout == Layout65 {
		raw, _ = base64.StdEncoding.DecodeString(string(text))
		encode = func(b []byte) []byte { return base64.StdEncoding.AppendEncode(nil, b) }
	}
	for bit := range len(raw) * 8 {
		raw[bit/8] ^= 1 << (bit % 8)
		fails(fmt.Sprintf("bit %d", bit), false, c, encode(raw))
		raw[bit/8] ^= 1 << (bit % 8)
	}
	for n := range raw {
		fails(fmt.Sprintf("%d bytes", n), false, c, encode(raw[:n]))
	}
	fails("a byte more", false, c, encode(append(bytes.Clone(raw), 0)))
	o.session[0]++
	fails("another session", false, c, text)
	o.session[0]--
	o.keyID++
	fails("another key id", false, c, text)
	o.keyID--

	s64, o64 := ends(t, Layout64, AES256GCM)
	old, err := s64.Append(nil, c, false, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	fails("a cell of layout 64", false, c, old)
	if _, _, err := o64.Open(nil, c, false, text); err == nil {
		t.Error("opened where layout 64 was agreed on")
	}
	other, _ := ends(t, Layout65^Layout66^layout, a)
	if text, err = other.Append(nil, c, false, []byte("x")); err != nil {
		t.Fatal(err)
	}
	fails("a cell of the other own layout", false, c, text)
}

// TestLayout64Altered flips every bit: nothing but the type byte together with
// its check code could pass, and a single bit never does.
func TestLayout64Altered(t *testing.T) {
	s, o := ends(t, Layout64, SM4GCM)
	c := NewColumn("", "", "", TypeVarString, false, 0)
	text, err := s.Append(nil, c, false, []byte("foobar"))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := base64.StdEncoding.DecodeString(string(text))
	for bit := range len(raw) * 8 {
		raw[bit/8] ^= 1 << (bit % 8)
		if _, got, err := o.Open(nil, c, false, []byte(base64.StdEncoding.EncodeToString(raw))); err == nil {
			t.Errorf("bit %d: opened %q", bit, got)
		}
		raw[bit/8] ^= 1 << (bit % 8)
	}
	for _, bad := range []string{string(text[:len(text)-4]), string(text) + "\n", string(text) + "====", "", "AAAA", strings.Repeat("A", 60)} {
		if _, got, err := o.Open(nil, c, false, []byte(bad)); err == nil {
			t.Errorf("%q opened as %q", bad, got)
		}
	}
}

func TestPadding(t *testing.T) {
	for _, layout := range []byte{Layout65, Layout66} {
		for _, a := range []Algorithm{AES256GCM, SM4GCM} {
			t.Run(fmt.Sprintf("layout=%x/algorithm=%v", layout, a), func(t *testing.T) { testPadding(t, layout, a) })
		}
	}
}

func testPadding(t *testing.T, layout byte, a Algorithm) {
	s, o := ends(t, layout, a)
	s.padTo = 16
	c := NewColumn("", "", "c", TypeBlob, false, 0)
	sizes := map[int]bool{}
	for n := range 16 {
		value := bytes.Repeat([]byte{0}, n)
		text, err := s.Append(nil, c, false, value)
		if err != nil {
			t.Fatal(err)
		}
		sizes[len(text)] = true
		if _, got, err := o.Open(nil, c, false, text); err != nil || !bytes.Equal(got, value) {
			t.Errorf("%d bytes: got %x, %v", n, got, err)
		}
	}
	if len(sizes) != 1 {
		t.Errorf("values of 0 to 15 bytes have cells of %d sizes", len(sizes))
	}
}

// TestBlocked looks for any trace of a value in cells that are for nobody.
func TestBlocked(t *testing.T) {
	s := (&Config{}).NewSession(Account{})
	defer s.Close()
	b, err := s.Blocked()
	if err != nil {
		t.Fatal(err)
	}
	var size int
	for _, v := range values {
		c := NewColumn("a", "b", "c", v.typ, v.unsigned, v.decimals)
		text, err := b.Append(nil, c, true, []byte(v.binary))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := base64.StdEncoding.DecodeString(string(text))
		if size == 0 {
			size = len(raw)
		}
		if len(raw) != size || raw[2] != TypeVarString {
			t.Errorf("%s shows in %d bytes of type %d", v.name, len(raw), raw[2])
		}
	}
	s.ChangeUser(Account{})
	if _, err := b.Append(nil, NewColumn("", "", "", TypeLong, false, 0), true, []byte{1, 2, 3, 4}); !errors.Is(err, ErrClosed) {
		t.Errorf("after ChangeUser: %v, want ErrClosed", err)
	}
}

func TestRotation(t *testing.T) {
	s, o := ends(t, Layout64, AES128GCM)
	now := time.Now()
	s.now, s.made = func() time.Time { return now }, now
	c := NewColumn("", "", "", TypeLong, false, 0)
	nonces := map[string]bool{}
	ivs := map[string]bool{}
	seal := func(value string) {
		t.Helper()
		text, err := s.Append(nil, c, false, []byte(value))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := base64.StdEncoding.DecodeString(string(text))
		nonces[string(raw[4:12])] = true
		if iv := string(raw[4:24]); ivs[iv] {
			t.Fatalf("IV %x used twice", iv)
		} else {
			ivs[iv] = true
		}
		if _, got, err := o.Open(nil, c, false, text); err != nil || string(got) != value {
			t.Fatalf("open %v", err)
		}
	}
	seal("1")
	s.steps = maxSteps - 2
	seal("2")
	seal("3")
	if len(nonces) != 1 {
		t.Fatalf("%d keys before the last step", len(nonces))
	}
	seal("4")
	if len(nonces) != 2 {
		t.Fatal("no fresh key after 2^20 steps")
	}
	s.steps = maxSteps - 1
	seal(strings.Repeat("x", stepSize+1)) // takes two
	if len(nonces) != 3 || s.steps != 2 {
		t.Fatalf("%d keys, %d steps after a long value", len(nonces), s.steps)
	}
	now = now.Add(maxAge)
	if err := s.Begin(); err != nil {
		t.Fatal(err)
	}
	seal("5")
	if len(nonces) != 4 {
		t.Fatal("no fresh key after an hour")
	}
	now = now.Add(maxAge)
	for i := range lookAt + 1 {
		seal(fmt.Sprint(i))
	}
	if len(nonces) != 5 {
		t.Fatalf("%d keys: a long result never looked at the clock", len(nonces))
	}
}

// TestCellsDoNotAllocate covers both directions and layouts.
func TestCellsDoNotAllocate(t *testing.T) {
	for _, layout := range []byte{Layout64, Layout65, Layout66} {
		s, o := ends(t, layout, AES256GCM)
		c := NewColumn("d", "t", "c", TypeLongLong, true, 0)
		value, dst, out := []byte(le(math.MaxUint64, 8)), make([]byte, 0, 256), make([]byte, 0, 64)
		n := testing.AllocsPerRun(1000, func() {
			text, err := s.Append(dst, c, true, value)
			if err == nil {
				_, _, err = o.Open(out, c, true, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("layout %x: %v allocations", layout, n)
		}
	}
}

// TestText compares base64 with the standard library's at every length, and
// for every character in every place.
func TestText(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	for n := 1; n < 600; n++ {
		raw := make([]byte, n)
		r.Read(raw)
		b := make([]byte, base64.StdEncoding.EncodedLen(n))
		copy(b[len(b)-n:], raw)
		encodeInPlace(b, n)
		if want := base64.StdEncoding.EncodeToString(raw); string(b) != want {
			t.Fatalf("%d bytes: got %s, want %s", n, b, want)
		}
		got, ok := decodeText([]byte("x"), b, 0)
		if !ok || string(got) != "x"+string(raw) {
			t.Fatalf("%d bytes: %x decoded as %x, %v", n, raw, got, ok)
		}
		x := byte(0)
		for _, c := range raw {
			x ^= c
		}
		if xorAll(raw) != x {
			t.Fatalf("%d bytes: wrong check code", n)
		}
	}
	text := []byte(base64.StdEncoding.EncodeToString(make([]byte, 20)))
	for i := range text {
		for c := range 256 {
			bad := bytes.Clone(text)
			bad[i] = byte(c)
			want, err := base64.StdEncoding.Strict().AppendDecode(nil, bad)
			if c == '\n' || c == '\r' {
				err = ErrNotCell
			}
			if got, ok := decodeText(nil, bad, 3); ok != (err == nil) || ok && !bytes.Equal(got, want) {
				t.Fatalf("character %q in place %d: %x, %v; want %x, %v", byte(c), i, got, ok, want, err)
			}
		}
	}
}

func TestLongCell(t *testing.T) {
	value := make([]byte, 17<<20+1)
	rand.NewChaCha8([32]byte{2}).Read(value)
	s, o := ends(t, Layout64, AES128GCM)
	c := NewColumn("", "", "", TypeLongBlob, false, 0)
	text, err := s.Append(nil, c, false, value)
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := o.Open(nil, c, false, text)
	if err != nil || !bytes.Equal(got, value) {
		t.Errorf("17 MiB do not come back: %v", err)
	}
	if cap(o.buf) > keepBuffer {
		t.Errorf("%d bytes kept", cap(o.buf))
	}
}

// TestGolden freezes our own layouts: the cells in testdata must keep
// opening, and the same inputs must keep giving them.
func TestGolden(t *testing.T) {
	t.Run("layout=65", func(t *testing.T) { testGolden(t, Layout65, "testdata/layout65.txt") })
	t.Run("layout=66", func(t *testing.T) { testGolden(t, Layout66, "testdata/layout66.txt") })
}

func testGolden(t *testing.T, layout byte, path string) {
	var got strings.Builder
	got.WriteString("# algorithm padding column type unsigned decimals protocol value-hex cell\n" +
		"# MEK 00..0f, SM3, key id 7, session 00..0f, nonce a0..a7, IV b0..b7 00000005\n")
	for _, a := range []Algorithm{AES256GCM, SM4GCM} {
		for _, pad := range []int{0, 32} {
			for _, v := range values {
				s, o := ends(t, layout, a)
				copy(s.nonce[:], unhex(t, "a0a1a2a3a4a5a6a7"))
				copy(s.prefix[:], unhex(t, "b0b1b2b3b4b5b6b7"))
				s.padTo, s.steps = pad, 5
				dek, err := s.hash.derive(s.key.Reveal(), s.nonce[:], "", algorithms[a].keySize)
				if err != nil {
					t.Fatal(err)
				}
				if s.gcm, err = a.gcm(dek); err != nil {
					t.Fatal(err)
				}
				s.fast = nil // has nonces of its own
				c := NewColumn("shop", "orders", v.name, v.typ, v.unsigned, v.decimals)
				text, err := s.Append(nil, c, true, []byte(v.binary))
				if err != nil {
					t.Fatal(err)
				}
				if typ, plain, err := o.Open(nil, c, true, text); err != nil || typ != v.typ || string(plain) != v.binary {
					t.Errorf("%s: %v", v.name, err)
				}
				if layout == Layout66 {
					text = hex.AppendEncode(nil, text)
				}
				fmt.Fprintf(&got, "%v %d %q %d %v %d binary %s %s\n", a, pad, v.name, v.typ, v.unsigned, v.decimals, hex.EncodeToString([]byte(v.binary)), text)
			}
		}
	}
	if _, err := os.Lstat(path); *update && errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the layout has changed:\ngot\n%s\nwant\n%s", got.String(), want)
	}
}
