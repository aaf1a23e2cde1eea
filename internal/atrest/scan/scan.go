// Package scan looks for plaintext in what a volume keeps below its mount.
package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

// A Kind is what a finding is about.
type Kind string

const (
	// NoHeader is a file that is no encrypted file, in the tree.
	NoHeader Kind = "no header"
	// Foreign is a file that is neither in the tree nor the volume's own.
	Foreign Kind = "foreign file"
	// Canary is a place where a canary was found.
	Canary Kind = "canary"
	// PlainName is a name, or where a link leads, that is not encrypted in a
	// volume whose names are.
	PlainName Kind = "plain name"
	// Magic is a place that a known format starts with.
	Magic Kind = "known format"
	// Text is a long run of readable characters.
	Text Kind = "readable text"
	// Pattern is a data unit whose bytes are not as evenly spread as those of
	// ciphertext.
	Pattern Kind = "not random"
)

// ErrCanary is a canary that is too short, so that chance would find it, or too
// long.
var ErrCanary = errors.New("canary cannot be looked for")

// A Finding is a place that does not look like ciphertext. It never holds the
// bytes themselves.
type Finding struct {
	File   string `json:"file"`   // relative to the volume directory
	Offset int64  `json:"offset"` // in the lower file, in bytes
	Bytes  int64  `json:"bytes"`  // how far it reaches, if known
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail,omitempty"`
	More   int    `json:"more,omitempty"` // such places behind it that are not listed
}

// A Report is the result of a scan.
type Report struct {
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`    // read
	Units    int64     `json:"units"`    // judged by their bytes
	Unjudged int64     `json:"unjudged"` // units too short for that, or holes
	Total    int       `json:"total"`    // findings in all
	Findings []Finding `json:"findings"` // the first of them, in order of files
}

// Options for Run. The zero value scans for everything but canaries.
type Options struct {
	// Canaries are strings that must not be found. Each is also looked for in
	// UTF-16, both byte orders.
	Canaries [][]byte
	// Workers is how many parts of files are read at once; 0 suits the machine.
	Workers int
	// MaxFindings bounds Report.Findings; 0 stands for 1000.
	MaxFindings int
	// Progress is called, one call at a time, with the bytes done and in all.
	Progress func(done, all int64)
}

// own are the files of a volume that are not encrypted, by their path; what
// they hold is judged for canaries and known formats only.
var own = map[string]bool{
	".veildb/config": true, ".veildb/config.copy": true, ".veildb/lock": true,
	".veildb/convert": true, ".veildb/mount.log": true, ".veildb/rekey.journal": true,
}

// target is a file to scan.
type target struct {
	rel    string // to the volume directory
	size   int64
	header bool // starts with a header
	plain  bool // is known not to be encrypted
}

// Run scans the volume directory d, which may be mounted meanwhile.
//
// The error matches ErrCanary if a canary has a length that cannot be looked
// for.
func Run(ctx context.Context, d *volume.Dir, o Options) (*Report, error) {
	for i, c := range o.Canaries {
		if len(c) < minCanary || len(c) > maxCanary/4 {
			return nil, fmt.Errorf("scan volume: %w: canary %d has %d bytes, not %d to %d", ErrCanary, i+1, len(c), minCanary, maxCanary/4)
		}
	}
	s := &scanner{report: Report{Findings: []Finding{}}, ctx: ctx, root: d.Path(), o: o, canaries: expandCanaries(o.Canaries)}
	if s.o.MaxFindings == 0 {
		s.o.MaxFindings = 1000
	}
	targets, err := s.targets(d)
	if err == nil {
		err = s.scanAll(targets)
	}
	if err != nil {
		return nil, fmt.Errorf("scan volume: %w", err)
	}
	s.finish()
	return &s.report, nil
}

type scanner struct {
	ctx      context.Context
	root     string
	o        Options
	canaries []pattern

	mu     sync.Mutex // guards what follows
	report Report
	all    int64
}

// targets lists all regular files below the volume directory, each inode once,
// and finds those without a header.
func (s *scanner) targets(d *volume.Dir) ([]target, error) {
	files, err := filepath.Rel(d.Path(), d.Root().Name())
	if err != nil {
		return nil, err
	}
	var list []target
	err = d.Walk(func(e *volume.Entry) error {
		if d.Config().Names == volume.NamesEncrypted {
			if err := s.judgeName(d, filepath.Join(files, e.Path), e); err != nil {
				return err
			}
		}
		if e.Kind() != unix.S_IFREG || e.Again {
			return nil
		}
		t := target{rel: filepath.Join(files, e.Path), size: e.Stat.Size, header: e.Err == nil}
		if e.Own && e.Header == (volume.Header{}) {
			t.header = false // a long name, too short to be judged
		}
		if e.Err != nil && !errors.Is(e.Err, volume.ErrEmpty) {
			s.add(Finding{File: t.rel, Kind: NoHeader, Bytes: t.size, Detail: e.Err.Error()})
		}
		list = append(list, t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(d.Path(), func(path string, de fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if de.IsDir() && path == d.Root().Name() {
			return fs.SkipDir
		}
		if !de.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(d.Path(), path)
		if err != nil {
			return err
		}
		fi, err := de.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		t := target{rel: rel, size: fi.Size(), plain: own[rel]}
		if _, err := volume.ReadHeader(path, d.Keys()); err == nil {
			t.header = true
		} else if !t.plain {
			s.add(Finding{File: rel, Kind: Foreign, Bytes: t.size})
		}
		list = append(list, t)
		return nil
	})
	return list, err
}

// scanAll reads the targets, a part of a file at a time.
func (s *scanner) scanAll(targets []target) error {
	type part struct {
		target
		off int64
	}
	for _, t := range targets {
		s.all += t.size
	}
	s.report.Files = len(targets)
	workers := s.o.Workers
	if workers <= 0 {
		workers = min(max(2, runtime.GOMAXPROCS(0)), 16)
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	parts := make(chan part)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			buf := make([]byte, readSize+maxCanary)
			defer clear(buf)
			for p := range parts {
				if err := s.scanPart(ctx, p.target, p.off, buf); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for _, t := range targets {
		for off := int64(0); off < max(t.size, 1); off += partSize {
			select {
			case parts <- part{t, off}:
			case <-ctx.Done():
				break feed
			}
		}
	}
	close(parts)
	wg.Wait()
	return context.Cause(ctx)
}

const (
	partSize = 64 << 20 // bytes of a file that one worker reads
	readSize = 1 << 20  // bytes at once, whole units
	unitSize = volume.UnitSize
)

// scanPart judges the part of a file that starts at off.
func (s *scanner) scanPart(ctx context.Context, t target, off int64, buf []byte) error {
	f, err := disk.OS.OpenFile(filepath.Join(s.root, t.rel), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var notes notebook
	defer func() { s.add(notes...) }()
	end := min(off+partSize, t.size)
	for ; off < end; off += readSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		// A little more than its share, for canaries across the boundary.
		n, err := disk.ReadSparse(f, buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		share := min(n, readSize)
		s.judge(&notes, t, off, buf[:share], buf[:n])
		s.done(int64(share))
		if n < len(buf) {
			return nil
		}
	}
	return nil
}

func (s *scanner) done(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Bytes += n
	if s.o.Progress != nil {
		s.o.Progress(s.report.Bytes, s.all)
	}
}

// add reports findings of one file, in order of offsets.
func (s *scanner) add(list ...Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		s.report.Total += 1 + list[i].More
	}
	room := max(s.o.MaxFindings-len(s.report.Findings), 0)
	s.report.Findings = append(s.report.Findings, list[:min(len(list), room)]...)
}

// A notebook collects the findings of one part of a file.
type notebook []Finding

// maxAlike is how many findings of a kind a notebook lists one by one.
const maxAlike = 8

// add notes f. Data units one behind the other are one finding.
func (n *notebook) add(f Finding) {
	alike := 0
	for i := range slices.Backward(*n) {
		last := &(*n)[i]
		if last.Kind != f.Kind || last.Detail != f.Detail {
			continue
		}
		if f.Kind == Pattern && last.Offset+last.Bytes == f.Offset {
			last.Bytes += f.Bytes
			return
		}
		if alike++; alike == maxAlike {
			last.More++ // the first one that is listed
			return
		}
	}
	*n = append(*n, f)
}

func (s *scanner) finish() {
	sort.SliceStable(s.report.Findings, func(i, j int) bool {
		a, b := &s.report.Findings[i], &s.report.Findings[j]
		if a.File != b.File {
			return a.File < b.File
		}
		return a.Offset < b.Offset
	})
}
