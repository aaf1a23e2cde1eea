package audit

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// A Kind is in what way a volume differs from its manifest.
type Kind string

// Kinds of differences. Changed, Replaced and Size are of content: damage,
// tampering or an older state.
const (
	Changed    Kind = "content changed"
	Size       Kind = "length changed"
	Replaced   Kind = "another file of that name"
	Missing    Kind = "missing"
	Extra      Kind = "not in the manifest"
	Attributes Kind = "type, mode, owner or link changed"
)

// IsContent reports whether a difference of kind k is of content.
func (k Kind) IsContent() bool { return k == Changed || k == Size || k == Replaced }

// A Difference is one between a volume and its manifest.
type Difference struct {
	Path   string `json:"path"`           // as it is below
	Name   string `json:"name,omitempty"` // as a mount shows it, if that is not the same
	Kind   Kind   `json:"kind"`
	Offset int64  `json:"offset,omitempty"` // of the first MiB of the lower file that changed
}

// Verify compares d, whose content must not change meanwhile, with the
// manifest in src. It returns the differences in the order of a walk, missing
// names last. Errors: ErrManifest, ErrOther, ErrUnsupported, and those of keys.
func Verify(ctx context.Context, d *volume.Dir, src io.Reader, progress Progress) (Summary, []Difference, error) {
	s, diffs, err := verify(ctx, d, src, progress)
	if err != nil {
		return s, nil, fmt.Errorf("verify manifest: %w", err)
	}
	return s, diffs, nil
}

func verify(ctx context.Context, d *volume.Dir, src io.Reader, progress Progress) (Summary, []Difference, error) {
	var r *reader
	id := d.Config().ID
	lines := map[string]*line{}
	var order []string
	first, end, h, err := readManifest(src, func(f First) (hash.Hash, error) {
		if f.Volume != hex.EncodeToString(id[:]) {
			return nil, fmt.Errorf("%w: %.32s", ErrOther, f.Volume)
		}
		var err error
		if r, err = newReader(ctx, d, f.KeyVersion, progress); err != nil {
			return nil, err
		}
		return hmac.New(sha256.New, r.key), nil
	}, func(l *line) error {
		if lines[string(l.Path)] != nil {
			return fmt.Errorf("%w: a name twice", ErrManifest)
		}
		lines[string(l.Path)] = l
		order = append(order, string(l.Path))
		return nil
	})
	if r != nil {
		defer r.wipe()
	}
	s := Summary{First: first, Names: end.Names, Seal: end.MAC}
	if err != nil {
		return s, nil, err
	}
	if !hmac.Equal([]byte(end.MAC), []byte(hex.EncodeToString(h.Sum(nil)))) {
		return s, nil, fmt.Errorf("%w: seal", ErrManifest)
	}
	var diffs []Difference
	err = d.Walk(func(e *volume.Entry) error {
		want := lines[e.Path]
		if want == nil {
			diffs = append(diffs, Difference{Path: e.Path, Kind: Extra})
			return nil
		}
		delete(lines, e.Path)
		got, err := r.describe(e)
		if err != nil {
			return err
		}
		if diff, ok := compare(want, got); !ok {
			diffs = append(diffs, diff)
		}
		return nil
	})
	if err != nil {
		return s, nil, err
	}
	for _, path := range order {
		if lines[path] != nil {
			diffs = append(diffs, Difference{Path: path, Kind: Missing})
		}
	}
	for i := range diffs {
		if name := d.PlainPath(diffs[i].Path); name != diffs[i].Path {
			diffs[i].Name = name
		}
	}
	s.Bytes = r.done
	return s, diffs, nil
}

// compare returns the gravest difference of two lines of one name.
func compare(want, got *line) (Difference, bool) {
	diff := Difference{Path: string(want.Path)}
	switch {
	case want.ID != got.ID || want.Key != got.Key || !bytes.Equal(want.Same, got.Same):
		diff.Kind = Replaced
	case want.Size != got.Size:
		diff.Kind = Size
	case !hmac.Equal(want.MACs, got.MACs):
		diff.Kind = Changed
		for i := 0; i+macSize <= min(len(want.MACs), len(got.MACs)); i += macSize {
			if !bytes.Equal(want.MACs[i:i+macSize], got.MACs[i:i+macSize]) {
				diff.Offset = int64(i/macSize) * stretch
				break
			}
		}
	case want.Mode != got.Mode || want.UID != got.UID || want.GID != got.GID || !bytes.Equal(want.Link, got.Link):
		diff.Kind = Attributes
	default:
		return diff, true
	}
	return diff, false
}
