package volume

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/veildb/veildb/internal/disk"
)

// TestAgainstModel does random reads, writes and truncations, opens the file
// again now and then, and compares with a byte slice.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runModel(t, rand.New(rand.NewPCG(seed, 1)), 300) })
	}
}

func runModel(t *testing.T, rnd *rand.Rand, steps int) {
	keys := newTestKeys(t, 1)
	f, lower := mustCreate(t, keys)
	var model []byte
	grain := []int64{1, 1, 8, 16, 512, 4096}[rnd.IntN(6)]
	pick := func(limit int64) int64 { return rnd.Int64N(limit/grain+1) * grain }
	for step := range steps {
		switch op := rnd.IntN(10); {
		case op < 5:
			p := make([]byte, pick(3000))
			for i := range p {
				p[i] = byte(rnd.Uint32())
			}
			off := pick(int64(len(model)) + 700*rnd.Int64N(3))
			before := bytes.Clone(p)
			if n, err := f.WriteAt(p, off); n != len(p) || err != nil {
				t.Fatalf("step %d: write %d at %d: %d, %v", step, len(p), off, n, err)
			}
			if !bytes.Equal(p, before) {
				t.Fatal("write changed its argument")
			}
			if end := off + int64(len(p)); len(p) > 0 && end > int64(len(model)) {
				model = append(model, make([]byte, end-int64(len(model)))...)
			}
			if len(p) > 0 {
				copy(model[off:], p)
			}
		case op < 8:
			p := make([]byte, pick(3000))
			off := pick(int64(len(model)) + 100)
			n, err := f.ReadAt(p, off)
			want := model[min(off, int64(len(model))):]
			want = want[:min(len(want), len(p))]
			if n != len(want) || (err == io.EOF) != (n < len(p)) || err != nil && err != io.EOF || !bytes.Equal(p[:n], want) {
				t.Fatalf("step %d: read %d at %d of %d: %d, %v; content equal: %v", step, len(p), off, len(model), n, err, bytes.Equal(p[:n], want))
			}
		case op < 9:
			size := pick(int64(len(model)) + 1500*rnd.Int64N(2))
			if err := f.Truncate(size); err != nil {
				t.Fatalf("step %d: truncate to %d: %v", step, size, err)
			}
			model = append(model[:min(size, int64(len(model)))], make([]byte, max(size-int64(len(model)), 0))...)
		default:
			var err error
			if f, err = Open(lower, keys, Options{}); err != nil {
				t.Fatalf("step %d: reopen: %v", step, err)
			}
		}
		if size, err := f.Size(); err != nil || size != int64(len(model)) {
			t.Fatalf("step %d: size %d, %v; want %d", step, size, err, len(model))
		}
		if int64(len(lower.data)) != LowerSize(int64(len(model))) {
			t.Fatalf("step %d: lower file has %d bytes, want %d", step, len(lower.data), LowerSize(int64(len(model))))
		}
	}
	got := make([]byte, len(model))
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, model) {
		t.Fatalf("content differs at the end: %v", err)
	}
}

// TestRealFile runs over the operating system's files, holes included.
func TestRealFile(t *testing.T) {
	keys := newTestKeys(t, 1)
	lower, err := disk.CreateNew(filepath.Join(t.TempDir(), "f"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Create(lower, keys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 20); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("end"), 2<<20); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 2<<20+3)
	if _, err := f.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	if !isZero(got[:2<<20]) || string(got[2<<20:]) != "end" {
		t.Error("a hole does not read as zeros")
	}
}

func TestZeroedData(t *testing.T) {
	keys := newTestKeys(t, 1)
	f, lower := mustCreate(t, keys)
	if _, err := f.WriteAt(bytes.Repeat([]byte{7}, 4*4096), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 16*4096+100); err != nil { // a hole before it, and around it
		t.Fatal(err)
	}
	if _, err := lower.WriteAt(make([]byte, 4096), HeaderSize+4096); err != nil { // damage
		t.Fatal(err)
	}
	strict, err := Open(lower, keys, Options{RefuseZeros: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		name   string
		off, n int64
		want   error
	}{
		{"with the page before", 0, 8192, ErrZeroed},
		{"the page", 4096, 4096, ErrZeroed},
		{"a block", 5008, 16, ErrZeroed},
		{"some bytes", 5010, 3, ErrZeroed},
		{"beside it", 0, 4096, nil},
		{"a hole", 5 * 4096, 8192, nil},
		{"a page written in part", 16 * 4096, 101, nil},
	} {
		if _, err := strict.ReadAt(make([]byte, r.n), r.off); !errors.Is(err, r.want) || r.want != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want %v", r.name, err, r.want)
		}
		if _, err := f.ReadAt(make([]byte, r.n), r.off); err != nil {
			t.Errorf("%s, without RefuseZeros: %v", r.name, err)
		}
	}
	if _, err := strict.WriteAt([]byte{1}, 5000); !errors.Is(err, ErrZeroed) {
		t.Errorf("partial write into the damage: %v, want ErrZeroed", err)
	}
	if _, err := strict.WriteAt(make([]byte, 16), 4096); err != nil {
		t.Errorf("whole write into the damage: %v", err)
	}
}

func TestWritePair(t *testing.T) {
	for _, c := range []struct{ before, off, a, b int64 }{{0, 0, 32, 4096}, {100, 0, 32, 512}, {100, 96, 16, 16}, {7, 64, 5, 11}, {4096, 48, 16, 32}} {
		f, _ := mustCreate(t, newTestKeys(t, 1))
		want := make([]byte, max(c.before, c.off+c.a+c.b))
		copy(want, bytes.Repeat([]byte{'x'}, int(c.before)))
		if _, err := f.WriteAt(want[:c.before], 0); err != nil {
			t.Fatal(err)
		}
		a, b := bytes.Repeat([]byte{'a'}, int(c.a)), bytes.Repeat([]byte{'b'}, int(c.b))
		copy(want[c.off:], a)
		copy(want[c.off+c.a:], b)
		if err := f.WritePair(a, b, c.off); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want)+1)
		if n, err := f.ReadAt(got, 0); n != len(want) || err != io.EOF || !bytes.Equal(got[:n], want) {
			t.Errorf("%+v: content differs: %d bytes, %v", c, n, err)
		}
	}
}

// TestSectorHoles checks Options.SectorHoles with every set of holes in a page
// and reads of any block range of it.
func TestSectorHoles(t *testing.T) {
	keys := newTestKeys(t, 1)
	for holes := range 256 {
		f, lower := mustCreate(t, keys)
		if err := f.Truncate(4096); err != nil {
			t.Fatal(err)
		}
		want := make([]byte, 4096)
		for s := range 8 {
			if holes>>s&1 == 0 {
				sector := bytes.Repeat([]byte{byte(s + 1)}, 512)
				copy(want[s*512:], sector)
				if _, err := f.WriteAt(sector, int64(s)*512); err != nil {
					t.Fatal(err)
				}
			}
		}
		f, err := Open(lower, keys, Options{SectorHoles: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range [][2]int{{0, 4096}, {512, 512}, {496, 32}, {24, 16}, {16, 4064}, {1024, 2048}, {3, 4000}} {
			got := make([]byte, r[1])
			if _, err := f.ReadAt(got, int64(r[0])); err != nil || !bytes.Equal(got, want[r[0]:r[0]+r[1]]) {
				t.Fatalf("holes %08b: read %d at %d differs: %v", holes, r[1], r[0], err)
			}
		}
	}
}

// TestHolesOnDisk checks RefuseZeros with the holes of a real file system.
func TestHolesOnDisk(t *testing.T) {
	lower, err := disk.CreateNew(filepath.Join(t.TempDir(), "f"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Create(lower, newTestKeys(t, 1), Options{RefuseZeros: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{7}, 4096), 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 1<<20), 0); err != nil {
		t.Errorf("reading a hole: %v", err)
	}
	if _, err := lower.WriteAt(make([]byte, 4096), HeaderSize+1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 4096), 1<<20); !errors.Is(err, ErrZeroed) {
		t.Errorf("reading zeroed data: %v, want ErrZeroed", err)
	}
}

// TestZeroContentIsCiphertext checks that content that is zero shows on disk
// as anything but zero.
func TestZeroContentIsCiphertext(t *testing.T) {
	f, lower := mustCreate(t, newTestKeys(t, 1))
	if _, err := f.WriteAt(make([]byte, 8192), 0); err != nil {
		t.Fatal(err)
	}
	for off := HeaderSize; off < len(lower.data); off += BlockSize {
		if isZero(lower.data[off:][:BlockSize]) {
			t.Fatalf("zeros at %d below", off)
		}
	}
}

// TestTornWrite cuts a lower write at every 512-byte boundary: the content is
// then the same mix of old and new as if a plain file's write had been cut
// there. Writes start at any multiple of 16; the part kept may be the head or
// the tail, or alternate sectors.
func TestTornWrite(t *testing.T) {
	const size = 16384
	keys := newTestKeys(t, 1)
	before, after := bytes.Repeat([]byte("old content here"), size/16), bytes.Repeat([]byte("NEW CONTENT NOW!"), size/16)
	for _, w := range []struct{ off, n int }{{0, 8192}, {512, 4096}, {4096, 512}, {4112, 8192}, {32, 4128}, {16, 16368}} {
		f, lower := mustCreate(t, keys)
		if _, err := f.WriteAt(before, 0); err != nil {
			t.Fatal(err)
		}
		old := bytes.Clone(lower.data)
		lower.ops = nil
		if _, err := f.WriteAt(after[w.off:w.off+w.n], int64(w.off)); err != nil {
			t.Fatal(err)
		}
		if len(lower.ops) != 1 {
			t.Fatalf("write of %d at %d became %d lower operations", w.n, w.off, len(lower.ops))
		}
		done := bytes.Clone(lower.data)
		for cut := (w.off + 511) / 512 * 512; cut <= w.off+w.n; cut += 512 {
			for _, mix := range []struct {
				name string
				kept func(x int) bool // is content byte x new?
			}{
				{"head", func(x int) bool { return x < cut }},
				{"tail", func(x int) bool { return x >= cut }},
				{"alternate", func(x int) bool { return x/512%2 == cut/512%2 }},
			} {
				want := make([]byte, size)
				for x := range want {
					from := before
					lower.data[HeaderSize+x] = old[HeaderSize+x]
					if x >= w.off && x < w.off+w.n && mix.kept(x) {
						from = after
						lower.data[HeaderSize+x] = done[HeaderSize+x]
					}
					want[x] = from[x]
				}
				got := make([]byte, size)
				if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("write of %d at %d, %s cut at %d: content is another mix (%v)", w.n, w.off, mix.name, cut, err)
				}
			}
		}
	}
}

// TestAlignedWriteIsOneLowerWrite pins the costs: no reading, no second write,
// and a read is one lower read.
func TestAlignedWriteIsOneLowerWrite(t *testing.T) {
	f, lower := mustCreate(t, newTestKeys(t, 1))
	for _, w := range []struct{ off, n int64 }{{0, 512}, {512, 4096}, {4608, 16}, {0, 4624}, {4624, 65536}} {
		lower.ops = nil
		lower.fail = func(kind string, off int64, n int) (int, error) {
			if kind != "write" || off != HeaderSize+w.off || n != int(w.n) {
				return 0, fmt.Errorf("unexpected %s of %d at %d", kind, n, off)
			}
			return 0, nil
		}
		if _, err := f.WriteAt(make([]byte, w.n), w.off); err != nil || len(lower.ops) != 1 {
			t.Errorf("write %d at %d: %d lower operations, %v", w.n, w.off, len(lower.ops), err)
		}
	}
}

// TestFailedAppendKeepsContent fails every lower operation of an append, in
// full or half done, and checks that the bytes before it stay.
func TestFailedAppendKeepsContent(t *testing.T) {
	keys := newTestKeys(t, 1)
	for size := range int64(40) {
		for length := int64(1); length < 40; length++ {
			for step := 0; ; step++ {
				f, lower := mustCreate(t, keys)
				content := bytes.Repeat([]byte("synced"), 10)[:size]
				if _, err := f.WriteAt(content, 0); err != nil {
					t.Fatal(err)
				}
				seen := 0
				lower.fail = func(kind string, off int64, n int) (int, error) {
					seen++
					if seen-1 == step {
						return 0, errBoom
					}
					return 0, nil
				}
				_, err := f.WriteAt(make([]byte, length), size)
				lower.fail = nil
				f, operr := Open(lower, keys, Options{})
				if operr != nil {
					t.Fatal(operr)
				}
				got := make([]byte, size)
				if _, rerr := f.ReadAt(got, 0); rerr != nil || !bytes.Equal(got, content) {
					t.Fatalf("append of %d to %d, operation %d failed: content %q, %v", length, size, step, got, rerr)
				}
				if seen <= step {
					break
				}
				if !errors.Is(err, errBoom) {
					t.Fatalf("append of %d to %d, operation %d failed: error %v", length, size, step, err)
				}
			}
		}
	}
}

// TestConcurrentNeighbours lets goroutines write disjoint bytes of the same
// blocks while others read: every reader sees old or new bytes only.
func TestConcurrentNeighbours(t *testing.T) {
	f, _ := mustCreate(t, newTestKeys(t, 1))
	const lanes, laneSize = 8, 5 // 40 bytes, three blocks
	if _, err := f.WriteAt(bytes.Repeat([]byte{'a'}, lanes*laneSize), 0); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for lane := range lanes {
		wg.Go(func() {
			for round := range 300 {
				p := bytes.Repeat([]byte{byte('a' + round%26)}, laneSize)
				if _, err := f.WriteAt(p, int64(lane*laneSize)); err != nil {
					t.Error(err)
					return
				}
				got := make([]byte, laneSize)
				if _, err := f.ReadAt(got, int64(lane*laneSize)); err != nil || !bytes.Equal(got, p) {
					t.Errorf("lane %d: wrote %q, read %q, %v", lane, p, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestTruncateAndReadTogether: a read during truncations returns old bytes,
// zeros or fewer bytes, never noise.
func TestTruncateAndReadTogether(t *testing.T) {
	lower, err := disk.CreateNew(filepath.Join(t.TempDir(), "f"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Create(lower, newTestKeys(t, 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(stop)
		for round := range 2000 {
			if _, err := f.WriteAt(bytes.Repeat([]byte{'x'}, 8192), 0); err != nil {
				t.Error(err)
			}
			if err := f.Truncate(int64(round * 7 % 8192)); err != nil {
				t.Error(err)
			}
		}
	})
	for reading := true; reading; {
		select {
		case <-stop:
			reading = false
		default:
		}
		p := make([]byte, 8192)
		n, err := f.ReadAt(p, 0)
		if err != nil && err != io.EOF {
			t.Error(err)
			break
		}
		if i := bytes.IndexFunc(p[:n], func(c rune) bool { return c != 'x' && c != 0 }); i >= 0 {
			t.Errorf("byte %d reads %#x", i, p[i])
			break
		}
	}
	wg.Wait()
}

func TestScratchLeavesNoTrace(t *testing.T) {
	lower := newMemFile()
	f, err := Scratch(lower)
	if err != nil {
		t.Fatal(err)
	}
	p := bytes.Repeat([]byte("canary 0123456789"), 300)
	if _, err := f.WriteAt(p, 3); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(p))
	if _, err := f.ReadAt(got, 3); err != nil || !bytes.Equal(got, p) {
		t.Fatal("content differs", err)
	}
	if bytes.Contains(lower.data, []byte("canary")) || IsEncrypted(lower.data) {
		t.Error("a scratch file shows content or a header")
	}
}

func TestNoAllocation(t *testing.T) {
	lower, err := disk.CreateNew(filepath.Join(t.TempDir(), "f"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Create(lower, newTestKeys(t, 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := make([]byte, 4096)
	if _, err := f.WriteAt(p, 0); err != nil {
		t.Fatal(err)
	}
	for name, op := range map[string]func(){
		"write": func() { f.WriteAt(p, 0) },
		"read":  func() { f.ReadAt(p, 0) },
	} {
		if n := testing.AllocsPerRun(200, op); n >= 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestCreateRace lets many openers, each with a file of its own, create one
// empty file: all must end with the same file id and see each other's data.
func TestCreateRace(t *testing.T) {
	keys := newTestKeys(t, 1)
	for range 20 {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		const openers = 8
		files := make([]*File, openers)
		var wg sync.WaitGroup
		for i := range openers {
			wg.Go(func() {
				lower, err := disk.OS.OpenFile(path, os.O_RDWR, 0)
				if err != nil {
					t.Error(err)
					return
				}
				if files[i], err = Create(lower, keys, Options{}); err != nil {
					t.Error(err)
					return
				}
				if _, err := files[i].WriteAt(bytes.Repeat([]byte{byte(i)}, 512), int64(i)*512); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		got := make([]byte, 512)
		for i, f := range files {
			if f.Header().FileID != files[0].Header().FileID {
				t.Fatal("two headers were made")
			}
			if _, err := files[0].ReadAt(got, int64(i)*512); err != nil || got[0] != byte(i) || got[511] != byte(i) {
				t.Fatalf("opener %d's data is lost: %v", i, err)
			}
			defer f.Close()
		}
	}
}
