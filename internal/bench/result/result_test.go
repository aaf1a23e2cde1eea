package result

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var cell = Cell{Engine: "sqlite", Variant: "tde", Baseline: "plain", Workload: "tpcc", Threads: 1}

func block(quad, position int) Block {
	arm := [4]string{"baseline", "variant", "variant", "baseline"}[position]
	return Block{
		Type: TypeBlock, Cell: cell, Arm: arm, Quad: quad, Position: position, Order: "ABBA",
		Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), DurationS: 0.5, Transactions: 100, Commits: 99, UserAborts: 1,
		LatencyUS: Latency{Count: 100, Mean: 10, P50: 9, P95: 20, P99: 30, Max: 40},
		KindsUS:   map[string]Latency{"NewOrder": {Count: 45, Mean: 12}},
		CPUS:      CPU{Engine: 0.4},
	}
}

var everyKind = []any{
	block(0, 0), block(0, 1), block(0, 2), block(0, 3),
	Void{Type: TypeVoid, Cell: cell, Quad: 0, Arm: "variant", Cause: "engine-restart"},
	Check{Type: TypeCheck, Name: "consistency", Variant: "tde", OK: true},
	Note{Type: TypeNote, Text: "a line\nbreak and a \u2028"},
	End{Type: TypeEnd, Finished: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)},
}

func write(t *testing.T, dir string, records ...any) string {
	t.Helper()
	w, err := Create(dir, Header{Study: "embedded", Seed: 7, Config: map[string]any{"block": "500ms"}, Cells: []Cell{cell}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, FileName)
}

func TestWriteThenRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	path := write(t, dir, everyKind...)
	run, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if run.Header.Study != "embedded" || run.Header.Seed != 7 || run.Header.Cells[0] != cell || run.Torn {
		t.Errorf("header = %+v, torn = %v", run.Header, run.Torn)
	}
	if !reflect.DeepEqual(run.Records, everyKind) {
		t.Errorf("records = %+v\nwant %+v", run.Records, everyKind)
	}
	if info, _ := os.Stat(path); info.Size() != run.Size {
		t.Errorf("size = %d, want %d", run.Size, info.Size())
	}
	if got := len(All[Block](run)); got != 4 {
		t.Errorf("%d blocks, want 4", got)
	}
}

func TestARunIsNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, block(0, 0))
	before, _ := os.ReadFile(path)
	if _, err := Create(dir, Header{}); !errors.Is(err, ErrExists) {
		t.Errorf("error = %v, want ErrExists", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the run changed")
	}
}

// TestEveryCut cuts a run at every byte: it must read up to the cut, and
// resuming must go on from there.
func TestEveryCut(t *testing.T) {
	whole, err := os.ReadFile(write(t, t.TempDir(), everyKind...))
	if err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(whole, '\n')
	for cut := range len(whole) {
		run, err := Read(bytes.NewReader(whole[:cut]))
		if cut < header {
			if !errors.Is(err, ErrNotRun) {
				t.Fatalf("cut at %d: error = %v, want ErrNotRun", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		complete := bytes.Count(whole[:cut], []byte{'\n'})
		if len(run.Records) < complete-1 || len(run.Records) > complete {
			t.Fatalf("cut at %d: %d records of %d", cut, len(run.Records), complete-1)
		}
		if cut%31 != 0 { // syncing each takes its time
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		w, resumed, err := Resume(dir)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := errors.Join(w.Write(Note{Type: TypeNote, Text: "resumed"}), w.Close()); err != nil {
			t.Fatal(err)
		}
		again, err := ReadDir(dir)
		if err != nil || again.Torn || len(again.Records) != len(resumed.Records)+1 {
			t.Fatalf("cut at %d: after resuming %d records, torn %v, error %v", cut, len(again.Records), again.Torn, err)
		}
	}
}

// TestEveryFlip flips a bit of each byte of a run: no change goes unnoticed. In the last
// record it looks like a write that a crash has torn.
func TestEveryFlip(t *testing.T) {
	whole, err := os.ReadFile(write(t, t.TempDir(), everyKind...))
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n')
	for at := range whole {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << (at % 8)
		run, err := Read(bytes.NewReader(flipped))
		switch {
		case err == nil && at >= last && run.Torn && len(run.Records) < len(everyKind):
		case err == nil:
			t.Fatalf("byte %d changed: read as if nothing were", at)
		case !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotRun):
			t.Fatalf("byte %d changed: error %v", at, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	const header = `{"type":"header","format":"veildb.run/1","study":"x","cells":[]}` + "\n"
	good := `{"type":"note","text":"x"}` + "\n"
	for _, c := range []struct {
		name, in string
		want     error
	}{
		{"nothing", "", ErrNotRun},
		{"not JSON", "hello\n" + good, ErrNotRun},
		{"another format", strings.Replace(header, "run/1", "run/2", 1), ErrNotRun},
		{"no header", good + good, ErrNotRun},
		{"garbage in the middle", header + "garbage\n" + good, ErrCorrupt},
		{"a second header", header + header + good, ErrCorrupt},
		{"no type", header + `{"text":"x"}` + "\n" + good, ErrCorrupt},
		{"a block of no arm", header + `{"type":"block","arm":"third","duration_s":1}` + "\n" + good, ErrCorrupt},
		{"a block of no time", header + `{"type":"block","arm":"variant"}` + "\n" + good, ErrCorrupt},
		{"a block at position 4", header + `{"type":"block","arm":"variant","position":4,"duration_s":1}` + "\n" + good, ErrCorrupt},
		{"a block of an age", header + `{"type":"block","arm":"variant","threads":1,"duration_s":1e308}` + "\n" + good, ErrCorrupt},
		{"a block of no threads", header + `{"type":"block","arm":"variant","duration_s":1}` + "\n" + good, ErrCorrupt},
		{"latency below zero", header + `{"type":"block","arm":"variant","threads":1,"duration_s":1,"latency_us":{"p95":-1}}` + "\n" + good, ErrCorrupt},
		{"latency of an age", header + `{"type":"block","arm":"variant","threads":1,"duration_s":1,"kinds_us":{"x":{"max":1e300}}}` + "\n" + good, ErrCorrupt},
		{"processor time of an age", header + `{"type":"block","arm":"variant","threads":1,"duration_s":1,"cpu_s":{"engine":-1e308}}` + "\n" + good, ErrCorrupt},
		{"a negative count", header + `{"type":"block","arm":"variant","duration_s":1,"commits":-1}` + "\n" + good, ErrCorrupt},
		{"an endless line", header + strings.Repeat("x", MaxLine+1), ErrCorrupt},
	} {
		if _, err := Read(strings.NewReader(c.in)); !errors.Is(err, c.want) {
			t.Errorf("%s: error = %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := ReadDir(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: error = %v", err)
	}
	broken := errors.New("disk error")
	if _, err := Read(io.MultiReader(strings.NewReader(header), failing{broken})); !errors.Is(err, broken) {
		t.Errorf("failing reader: error = %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestUnknownRecordsAreSkipped(t *testing.T) {
	run, err := Read(strings.NewReader(`{"type":"header","format":"veildb.run/1"}
{"type":"novelty","x":1}
{"type":"note","text":"kept"}
`))
	if err != nil || len(run.Records) != 1 {
		t.Errorf("records %v, error %v", run.Records, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"header","format":"veildb.run/1"}` + "\n" + `{"type":"block","arm":"variant","duration_s":1}` + "\n"))
	f.Add([]byte(`{"type":"header","format":"veildb.run/1"}` + "\n" + `{"type":"void","quad":1}` + "\n" + `{"ty`))
	f.Fuzz(func(t *testing.T, in []byte) {
		run, err := Read(bytes.NewReader(in))
		if err != nil {
			if !errors.Is(err, ErrNotRun) && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error %v matches no sentinel", err)
			}
			return
		}
		if run.Size > int64(len(in)) || !run.Torn && run.Size != int64(len(in)) {
			t.Fatalf("size %d of %d bytes, torn %v", run.Size, len(in), run.Torn)
		}
		// What was read is a run again.
		again, err := Read(bytes.NewReader(in[:run.Size]))
		if err != nil || again.Torn || len(again.Records) != len(run.Records) {
			t.Fatalf("the part that was read: %+v, %v", again, err)
		}
	})
}
