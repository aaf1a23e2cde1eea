package convert

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/disk"
)

// The journal is lines of JSON: identity, then a record for each part of a file
// that is durable and verified. It is only ever appended to, after the file
// system was synced; a last line without its end is as if it were not there.
const journalFormat = "veildb.convert/1"

type identity struct {
	Format string `json:"format"`
	Way    string `json:"way"` // encrypt, decrypt or copy
	Source string `json:"source"`
	Dev    uint64 `json:"dev"`
	Ino    uint64 `json:"ino"`
}

// identify describes the conversion of source.
func identify(source, way string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Stat(source, &st); err != nil {
		return identity{}, &os.PathError{Op: "stat", Path: source, Err: err}
	}
	return identity{journalFormat, way, source, st.Dev, st.Ino}, nil
}

// A record says that the content of a file in segment Part, or all of it if
// Parts is 1, is durable in the target file with that id.
type record struct {
	Path  []byte `json:"path"` // in the target, where names may be encrypted; bytes: they need not be text
	Stamp stamp  `json:"stamp"`
	ID    string `json:"id"`
	Part  int    `json:"part"`
	Parts int    `json:"parts"`
	Bytes int64  `json:"bytes"` // copied, for the progress
	entry int
	sums  []uint64 // of the chunks of the part; not written
}

// A journal knows what earlier runs did, by entry of the plan.
type journal struct {
	f            *os.File
	ids          map[int]string
	parts        map[int]map[int]int64 // entry → part → bytes
	counts       map[int]int           // entry → parts in all
	resumedBytes int64
}

// openJournal reads the journal at path, forgets what is not true any more of
// source or target, and opens it for more.
func openJournal(path string, id identity, p *plan, to side) (*journal, error) {
	jn := &journal{ids: map[int]string{}, parts: map[int]map[int]int64{}, counts: map[int]int{}}
	records, err := readJournal(path, id)
	if err != nil {
		return nil, err
	}
	kept, err := jn.keep(records, p, to)
	if err != nil {
		return nil, err
	}
	// Written anew, so that no later run meets a record this one gave up.
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	if err := enc.Encode(id); err != nil {
		return nil, err
	}
	for i := range kept {
		if err := enc.Encode(&kept[i]); err != nil {
			return nil, err
		}
	}
	if err := disk.AtomicWrite(path, buf.Bytes(), 0o600); err != nil {
		return nil, err
	}
	jn.f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	return jn, err
}

func readJournal(path string, id identity) ([]record, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	got, records, err := decodeJournal(data)
	if err != nil {
		return nil, err
	}
	if got != id {
		return nil, fmt.Errorf("%w: it is of %s", ErrOther, got.Source)
	}
	return records, nil
}

// decodeJournal parses a journal: ErrJournal if a line that was ended makes no
// sense.
func decodeJournal(data []byte) (identity, []record, error) {
	var id identity
	var records []record
	r := bufio.NewReader(bytes.NewReader(data))
	for n := 0; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return id, nil, fmt.Errorf("%w: no first line", ErrJournal)
			}
			return id, records, nil
		}
		if n == 0 {
			if err := json.Unmarshal(line, &id); err != nil || id.Format != journalFormat {
				return id, nil, fmt.Errorf("%w: first line", ErrJournal)
			}
			continue
		}
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil || rec.Parts < 1 || rec.Part < 0 || rec.Part >= rec.Parts {
			return id, nil, fmt.Errorf("%w: line %d", ErrJournal, n+1)
		}
		records = append(records, rec)
	}
}

// keep takes over the records that still hold: the source file is the same as
// then, and so is the target.
func (jn *journal) keep(records []record, p *plan, to side) ([]record, error) {
	index := map[string]int{}
	for i := range p.entries {
		if p.entries[i].copied() && p.entries[i].to != "" {
			index[p.entries[i].to] = i
		}
	}
	ids := map[int]string{} // of the targets that are there
	var kept []record
	for _, rec := range records {
		i, ok := index[string(rec.Path)]
		if !ok || rec.Stamp != stampOf(&p.entries[i].stat) || rec.Parts != segments(p.entries[i].size) {
			continue
		}
		if _, seen := ids[i]; !seen {
			ids[i] = targetID(to, &p.entries[i])
		}
		if ids[i] == "" || ids[i] != rec.ID {
			continue
		}
		if jn.parts[i] == nil {
			jn.parts[i] = map[int]int64{}
		}
		if _, twice := jn.parts[i][rec.Part]; twice {
			continue
		}
		jn.ids[i], jn.counts[i], jn.parts[i][rec.Part] = rec.ID, rec.Parts, rec.Bytes
		jn.resumedBytes += rec.Bytes
		kept = append(kept, rec)
	}
	return kept, nil
}

// targetID returns the id of the target of e if it is as a run left it, or "".
func targetID(to side, e *entry) string {
	c, err := to.reopen(e.to)
	if err != nil {
		return ""
	}
	defer c.Close()
	if size, err := c.Size(); err != nil || size != e.size {
		return ""
	}
	return c.id
}

// done reports whether an earlier run copied all of entry i.
func (jn *journal) done(i int) bool { return jn.counts[i] > 0 && len(jn.parts[i]) == jn.counts[i] }

// begun reports whether an earlier run copied a part of entry i.
func (jn *journal) begun(i int) bool { return jn.counts[i] > 0 }

func (jn *journal) has(i, part int) bool {
	_, ok := jn.parts[i][part]
	return ok
}

func (jn *journal) bytesOf(i int) (n int64) {
	for _, b := range jn.parts[i] {
		n += b
	}
	return n
}

// append makes records durable, which must be true by now.
func (jn *journal) append(records []record) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for i := range records {
		if err := enc.Encode(&records[i]); err != nil {
			return err
		}
	}
	if _, err := jn.f.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := jn.f.Sync(); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

func (jn *journal) close() error { return jn.f.Close() }
