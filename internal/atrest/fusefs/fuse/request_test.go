//go:build linux

package fuse

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// TestLayout compares the structures with the sizes of linux/fuse.h 7.45.
func TestLayout(t *testing.T) {
	for _, c := range []struct {
		v    any
		size uintptr
	}{
		{Header{}, 40}, {outHeader{}, 16}, {initIn{}, 64}, {initOut{}, 64}, {Attr{}, 88}, {EntryOut{}, 128}, {AttrOut{}, 104},
		{ForgetIn{}, 8}, {ForgetOne{}, 16}, {BatchForgetIn{}, 8}, {GetattrIn{}, 16}, {SetattrIn{}, 88}, {MknodIn{}, 16}, {MkdirIn{}, 8},
		{RenameIn{}, 8}, {Rename2In{}, 16}, {LinkIn{}, 8}, {OpenIn{}, 8}, {CreateIn{}, 16}, {OpenOut{}, 16}, {ReleaseIn{}, 24},
		{FlushIn{}, 24}, {IoIn{}, 40}, {WriteOut{}, 8}, {FsyncIn{}, 16}, {SetxattrIn{}, 8}, {GetxattrIn{}, 8}, {GetxattrOut{}, 8},
		{FallocateIn{}, 32}, {LseekIn{}, 24}, {LseekOut{}, 8}, {StatfsOut{}, 80}, {Dirent{}, 24},
	} {
		if got := reflect.TypeOf(c.v).Size(); got != c.size {
			t.Errorf("%T has %d bytes, want %d", c.v, got, c.size)
		}
	}
	if off := unsafe.Offsetof(SetattrIn{}.Mode); off != 68 {
		t.Errorf("SetattrIn.Mode at %d, want 68", off)
	}
	if off := unsafe.Offsetof(initOut{}.MaxPages); off != 28 {
		t.Errorf("initOut.MaxPages at %d, want 28", off)
	}
}

// message builds a request.
func message(op Opcode, args []byte) []byte {
	b := make([]byte, headerSize, headerSize+len(args))
	binary.NativeEndian.PutUint32(b[0:], uint32(headerSize+len(args)))
	binary.NativeEndian.PutUint32(b[4:], uint32(op))
	return append(b, args...)
}

// decode reads all that a handler might read of a request.
func decode(r *Request) {
	name := func(rest []byte, ok bool) {
		for ok {
			_, rest, ok = Name(rest)
		}
	}
	switch r.Opcode {
	case OpForget, OpBatchForget:
		n := 0
		Forgets(r, func(ForgetOne) { n++ })
	case OpSetattr:
		In[SetattrIn](r)
	case OpRename2:
		_, rest, ok := In[Rename2In](r)
		name(rest, ok)
	case OpCreate:
		_, rest, ok := In[CreateIn](r)
		name(rest, ok)
	case OpRead, OpWrite:
		In[IoIn](r)
	case OpFallocate:
		In[FallocateIn](r)
	default:
		name(r.Rest(), true)
	}
}

// FuzzRequest decodes arbitrary bytes. What is accepted lies within them.
func FuzzRequest(f *testing.F) {
	f.Add(message(OpLookup, []byte("name\x00")))
	f.Add(message(OpRename2, append(make([]byte, 16), "old\x00new\x00"...)))
	f.Add(message(OpBatchForget, append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 32)...)))
	f.Add(message(OpBatchForget, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}))
	f.Add(message(OpWrite, make([]byte, 56)))
	f.Fuzz(func(t *testing.T, b []byte) {
		aligned := make([]uint64, len(b)/8+1) // as loop's buffers are
		buf := unsafe.Slice((*byte)(unsafe.Pointer(&aligned[0])), len(b))
		copy(buf, b)
		var r Request
		if !r.parse(buf) {
			return
		}
		if len(r.Rest()) > len(b)-headerSize {
			t.Errorf("%d bytes of arguments in a request of %d", len(r.Rest()), len(b))
		}
		decode(&r)
	})
}

func TestParseRefuses(t *testing.T) {
	good := message(OpLookup, []byte("abcdefg\x00"))
	for name, change := range map[string]func([]byte) []byte{
		"short":           func(b []byte) []byte { return b[:headerSize-1] },
		"cut":             func(b []byte) []byte { return b[:len(b)-1] },
		"longer":          func(b []byte) []byte { return append(b, 0) },
		"extension":       func(b []byte) []byte { b[36] = 2; return b },
		"huge length":     func(b []byte) []byte { b[3] = 0xff; return b },
		"extension alone": func(b []byte) []byte { b[36], b[37] = 0xff, 0xff; return b },
	} {
		var r Request
		if r.parse(change(append([]byte(nil), good...))) {
			t.Errorf("%s: accepted", name)
		}
	}
	var r Request
	if !r.parse(good) || string(r.Rest()) != "abcdefg\x00" {
		t.Errorf("a good request: %q", r.Rest())
	}
	with := append([]byte(nil), good...)
	with[36] = 1 // eight bytes of extensions
	if !r.parse(with) || len(r.Rest()) != 0 {
		t.Errorf("extensions are taken for arguments: %q", r.Rest())
	}
}

func TestAppendDirent(t *testing.T) {
	b := make([]byte, 512)
	n := AppendDirent(b, 0, Dirent{Ino: 7, Off: 8, Type: 4}, []byte("abc"), nil)
	m := AppendDirent(b, n, Dirent{Ino: 9}, []byte("x"), &EntryOut{NodeID: 5})
	if n != 32 || m != 32+128+32 || m-n != DirentLen(1, true) {
		t.Errorf("ends at %d and %d", n, m)
	}
	if d := at2[Dirent](b[0:]); d.Ino != 7 || d.Namelen != 3 || string(b[24:27]) != "abc" {
		t.Errorf("first entry %+v %q", d, b[24:27])
	}
	if e, d := at2[EntryOut](b[n:]), at2[Dirent](b[n+128:]); e.NodeID != 5 || d.Ino != 9 || d.Namelen != 1 {
		t.Errorf("second entry %+v %+v", e, d)
	}
}

// at2 reads a T at the start of b.
func at2[T any](b []byte) T { return *(*T)(unsafe.Pointer(unsafe.SliceData(b))) }

func TestParseMounts(t *testing.T) {
	const table = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 0:44 / /srv/my\040db rw,nosuid,nodev - fuse.veildb /srv/db\134enc rw,user_id=0
41 22 0:45 / /srv/ro ro,nosuid master:3 propagate_from:2 - fuse.veildb /srv/x rw
42 22 7:0 /a\040b /mnt rw - ext4 /dev/loop0 rw
broken line
`
	var got []Entry
	err := parseMounts(strings.NewReader(table), func(e Entry) {
		if e.Type == FSType || e.Root != "/" {
			got = append(got, e)
		}
	})
	want := []Entry{
		{"/srv/my db", `/srv/db\enc`, "0:44", "/", FSType, false}, {"/srv/ro", "/srv/x", "0:45", "/", FSType, true},
		{"/mnt", "/dev/loop0", "7:0", "/a b", "ext4", false},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
