package keyring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/disk"
)

// The generation record is a file of one line,
//
//	veildb.generation/1 KEYFILE-ID GENERATION
//
// kept where whoever replaces the key file does not reach. It needs no secret:
// an attacker who can write it needs no older record either.
const recordFormat = "veildb.generation/1"

// maxRecord is more than a record has, in bytes.
const maxRecord = 1024

func recordPath(f *file, opts Options) string {
	if opts.Record != "" {
		return opts.Record
	}
	return f.Record
}

// readRecord returns the generation that path records for the key file id.
// exists is false if there is no record.
func readRecord(path, id string) (generation uint64, exists bool, err error) {
	f, err := disk.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read generation record: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return 0, false, fmt.Errorf("read generation record: %w", err)
	}
	field := strings.Fields(string(data))
	if len(field) != 3 || field[0] != recordFormat {
		return 0, false, fmt.Errorf("read generation record %s: %w", path, ErrCorrupt)
	}
	generation, err = strconv.ParseUint(field[2], 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("read generation record %s: %w", path, ErrCorrupt)
	}
	if field[1] != id {
		return 0, false, fmt.Errorf("generation record %s is of another key file (id %s): %w", path, field[1], ErrRollback)
	}
	return generation, true, nil
}

// recorded returns the highest generation on record for f: in the record file,
// in the provider, and in the generation before, which is beside the key file.
func recorded(ctx context.Context, f *file, path string, p Provider, opts Options) (uint64, error) {
	highest := uint64(0)
	if rec := recordPath(f, opts); rec != "" {
		g, exists, err := readRecord(rec, f.ID)
		if err != nil {
			return 0, err
		}
		if !exists {
			return 0, fmt.Errorf("generation record %s is missing: %w", rec, ErrRollback)
		}
		highest = g
	}
	if rec, ok := p.(Recorder); ok {
		g, err := rec.Generation(ctx, f.ID)
		if err != nil {
			return 0, fmt.Errorf("read generation from %s: %w", p.URI(), err)
		}
		highest = max(highest, g)
	}
	if prev, err := decodeAt(prevPath(path)); err == nil && prev.ID == f.ID {
		highest = max(highest, prev.Generation)
	}
	return highest, nil
}

// checkGeneration refuses f if a higher generation is on record.
func (r *Ring) checkGeneration(ctx context.Context, f *file, p Provider) error {
	if r.opts.AllowRollback {
		return nil
	}
	highest, err := recorded(ctx, f, r.path, p, r.opts)
	if err != nil {
		return err
	}
	if f.Generation < highest {
		return fmt.Errorf("generation %d, on record %d: %w", f.Generation, highest, ErrRollback)
	}
	return nil
}

// record writes the generation of f down wherever it is recorded.
func (r *Ring) record(ctx context.Context, f *file, p Provider) error {
	if rec := recordPath(f, r.opts); rec != "" {
		line := fmt.Sprintf("%s %s %d\n", recordFormat, f.ID, f.Generation)
		if err := disk.AtomicWriteFS(r.opts.FS, rec, []byte(line), 0o600); err != nil {
			return fmt.Errorf("record generation: %w", err)
		}
	}
	if rec, ok := p.(Recorder); ok {
		if err := rec.RecordGeneration(ctx, f.ID, f.Generation); err != nil {
			return fmt.Errorf("record generation in %s: %w", p.URI(), err)
		}
	}
	return nil
}
