package sqlvfs

import "testing"

// TestLogPlaces checks the mapping of log offsets for small page sizes and all
// offsets of several frames: it is one to one, keeps the order, gives no two
// frames a common block, and logSize is its inverse.
func TestLogPlaces(t *testing.T) {
	for _, size := range []int64{512, 1024, 65536} {
		w := &walFile{pageSize: size}
		frame := walFrameHeader + size
		last := int64(-1)
		for off := int64(0); off < walHeader+3*frame; off++ {
			at, run := w.place(off)
			if at <= last {
				t.Fatalf("page size %d: offset %d lies at %d, the one before at %d", size, off, at, last)
			}
			if run > 1 {
				if next, _ := w.place(off + 1); next != at+1 {
					t.Fatalf("page size %d: offset %d claims a run of %d that breaks", size, off, run)
				}
			}
			if off >= walHeader && (off-walHeader)%frame == 0 && at%16 != 0 {
				t.Fatalf("page size %d: a frame begins at %d", size, at)
			}
			if off >= walHeader && (off-walHeader)%frame == walFrameHeader && at%16 != 0 {
				t.Fatalf("page size %d: a page begins at %d", size, at)
			}
			if got := w.logSize(at + 1); got != off+1 {
				t.Fatalf("page size %d: a file of %d bytes counts as a log of %d, want %d", size, at+1, got, off+1)
			}
			last = at
		}
	}
	w := &walFile{} // before its header is known
	if at, _ := w.place(5000); at != 5000 || w.logSize(5000) != 5000 {
		t.Error("a log without a page size is not taken as it lies")
	}
}

func TestLearnPageSize(t *testing.T) {
	header := func(magic, size uint32) []byte {
		return []byte{byte(magic >> 24), byte(magic >> 16), byte(magic >> 8), byte(magic), 0, 0, 0, 0,
			byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size), 31: 0}
	}
	for name, c := range map[string]struct {
		h    []byte
		want int64
	}{
		"little":      {header(0x377f0682, 4096), 4096},
		"big":         {header(0x377f0683, 65536), 65536},
		"magic":       {header(0x377f0680, 4096), 0},
		"zeros":       {make([]byte, 32), 0},
		"odd size":    {header(0x377f0682, 1000), 0},
		"small size":  {header(0x377f0682, 256), 0},
		"large size":  {header(0x377f0682, 131072), 0},
		"size of one": {header(0x377f0682, 1), 0},
	} {
		w := &walFile{pageSize: 512}
		if w.learn(c.h); w.pageSize != c.want {
			t.Errorf("%s: page size %d, want %d", name, w.pageSize, c.want)
		}
	}
}

func FuzzLogHeader(f *testing.F) {
	f.Add([]byte{0x37, 0x7f, 0x06, 0x82, 0, 0, 0, 0, 0, 0, 16, 0, 31: 0}, int64(9000))
	f.Fuzz(func(t *testing.T, h []byte, off int64) {
		if len(h) < walHeader || off < 0 || off > 1<<50 {
			return
		}
		w := &walFile{}
		w.learn(h)
		at, run := w.place(off)
		if at < off || run <= 0 || w.logSize(at+1) != off+1 {
			t.Errorf("offset %d: at %d, run %d, back %d", off, at, run, w.logSize(at+1))
		}
	})
}
