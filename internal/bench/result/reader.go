package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// FileName is the name of a run's records within its directory.
const FileName = "run.jsonl"

// Errors of reading a run.
var (
	// ErrNotRun reports a file that is no run, or one of a format this
	// version does not know.
	ErrNotRun = errors.New("not a run of format " + RunFormat)
	// ErrCorrupt reports a damaged record before the last.
	ErrCorrupt = errors.New("damaged run")
)

// MaxLine is the longest line accepted, in bytes.
const MaxLine = 1 << 20

// A Run is the content of run.jsonl.
type Run struct {
	Header Header
	// Records are what follows the header, in order: Block, Check, Void,
	// Note and End values. Types this version does not know are left out.
	Records []any
	// Torn is set when the last line was cut off, as a crash leaves it, and
	// was left out. Size is the length of what was read before it, in bytes.
	Torn bool
	Size int64
}

// All returns the records of one type, in order.
func All[T any](r *Run) []T {
	var out []T
	for _, rec := range r.Records {
		if v, ok := rec.(T); ok {
			out = append(out, v)
		}
	}
	return out
}

// ReadDir reads the run in a directory; errors as for Read.
func ReadDir(dir string) (*Run, error) {
	f, err := os.Open(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	defer f.Close()
	return Read(f)
}

// Read reads the records of a run, finished or not. Its errors match ErrNotRun
// if the first line is no header, and ErrCorrupt if a later one that is not
// the last does not hold what it should.
func Read(r io.Reader) (*Run, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	run := &Run{}
	summed := false // records have checksums, as those of older versions do not
	for n := 1; ; n++ {
		line, whole, err := readLine(in)
		if err != nil {
			return nil, fmt.Errorf("read run: line %d: %w", n, err)
		}
		if len(line) == 0 && !whole {
			if n == 1 {
				return nil, fmt.Errorf("read run: empty file: %w", ErrNotRun)
			}
			return run, nil
		}
		has, ok := checkSum(line)
		if n == 1 {
			summed = has
			if !ok {
				return nil, fmt.Errorf("read run: line 1: %w: %w", ErrCorrupt, errSum)
			}
			if err := run.header(line); err != nil {
				return nil, fmt.Errorf("read run: %w: %w", ErrNotRun, err)
			}
		} else if rec, err := decodeSummed(line, ok && has == summed); err == nil {
			if rec != nil {
				run.Records = append(run.Records, rec)
			}
		} else if torn(in, whole) {
			run.Torn = true
			return run, nil
		} else {
			return nil, fmt.Errorf("read run: line %d: %w: %w", n, ErrCorrupt, err)
		}
		run.Size += int64(len(line))
		if whole {
			run.Size++
		}
	}
}

// torn reports whether a bad line is the last one. A crash may leave it
// without its newline, or, on some file systems, with the rest zeroed.
func torn(in *bufio.Reader, whole bool) bool {
	if !whole {
		return true
	}
	_, err := in.Peek(1)
	return err == io.EOF
}

// readLine returns the next line without its newline; whole is whether it had
// one. At the end of the input it returns an empty line that is not whole.
func readLine(in *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, false, fmt.Errorf("%w: longer than %d bytes", ErrCorrupt, MaxLine)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], true, nil
		case err == io.EOF:
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

func (run *Run) header(line []byte) error {
	if err := json.Unmarshal(line, &run.Header); err != nil {
		return err
	}
	if run.Header.Type != TypeHeader || run.Header.Format != RunFormat {
		return fmt.Errorf("first record is type %q, format %q", run.Header.Type, run.Header.Format)
	}
	return nil
}

var errSum = errors.New("its checksum does not hold")

// decodeSummed is decode for a line whose checksum holds, or not.
func decodeSummed(line []byte, holds bool) (any, error) {
	rec, err := decode(line)
	if err == nil && !holds {
		err = errSum
	}
	return rec, err
}

// decode decodes one record after the header; nil for an unknown type.
func decode(line []byte) (any, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return nil, err
	}
	switch kind.Type {
	case TypeBlock:
		b, err := decodeAs[Block](line)
		if err == nil {
			err = b.validate()
		}
		return b, err
	case TypeCheck:
		return decodeAs[Check](line)
	case TypeVoid:
		return decodeAs[Void](line)
	case TypeNote:
		return decodeAs[Note](line)
	case TypeFailover:
		return decodeAs[Failover](line)
	case TypeEnd:
		return decodeAs[End](line)
	case "":
		return nil, errors.New("record without a type")
	case TypeHeader:
		return nil, errors.New("second header")
	}
	return nil, nil
}

func decodeAs[T any](line []byte) (T, error) {
	var v T
	err := json.Unmarshal(bytes.TrimSpace(line), &v)
	return v, err
}

// validate refuses a block no run can have written, so that nothing computed
// from blocks has to.
func (b Block) validate() error {
	switch {
	case b.Arm != "baseline" && b.Arm != "variant":
		return fmt.Errorf("block of arm %q", b.Arm)
	case b.Position < 0 || b.Position > 3 || b.Quad < 0:
		return fmt.Errorf("block at quad %d, position %d", b.Quad, b.Position)
	case !(b.DurationS >= 1e-9 && b.DurationS <= century):
		return fmt.Errorf("block of %v seconds", b.DurationS)
	case b.Transactions > maxCount || b.Commits > maxCount:
		return fmt.Errorf("block of %d transactions, %d commits", b.Transactions, b.Commits)
	case b.Threads < 1:
		return fmt.Errorf("block of %d threads", b.Threads)
	}
	latencies := []Latency{b.LatencyUS}
	for _, l := range b.KindsUS {
		latencies = append(latencies, l)
	}
	for _, l := range latencies {
		for _, us := range []float64{l.Mean, l.P50, l.P95, l.P99, l.P999, l.Max} {
			if !(us >= 0 && us <= 1e6*century) {
				return fmt.Errorf("latency of %v microseconds", us)
			}
		}
	}
	for _, v := range []float64{b.CPUS.Client, b.CPUS.Engine, b.CPUS.Product, b.StealPct, b.ForeignPct, b.Rate} {
		if !(math.Abs(v) <= century) { // differences of counters may come out below zero
			return fmt.Errorf("processor time, share or rate of %v", v)
		}
	}
	return nil
}

// More than any block can have.
const (
	century  = 3.2e9 // seconds
	maxCount = 1 << 50
)
