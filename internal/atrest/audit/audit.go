// Package audit writes and verifies manifests of volumes: what was changed,
// put back, lost or added since shows.
package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/disk"
)

// A manifest is lines of JSON: a first line, one for each name of the tree in
// the order of a walk, and a last line with the number of names and an
// HMAC-SHA-256 of all bytes before it. MACs are under
// HKDF-SHA-256(DEK, volume id, "veildb/volume/audit/v1"), the data key being
// the one the first line names.
//
// The content of a file is vouched for by one MAC for each MiB of the lower
// file, header included: the first 16 bytes of
// HMAC-SHA-256(key, file id || number of the MiB || bytes).
const (
	format     = "veildb.manifest/1"
	context1   = "veildb/volume/audit/v1"
	stretch    = 1 << 20
	macSize    = 16
	maxLine    = 64 << 20 // a file of 2 TiB
	maxEntries = 1 << 31
)

// Errors of a manifest.
var (
	// ErrManifest is a manifest that is damaged, cut off or forged.
	ErrManifest = errors.New("manifest is damaged or was tampered with")
	// ErrOther is the manifest of another volume.
	ErrOther = errors.New("manifest is of another volume")
	// ErrUnsupported is a manifest of a newer version.
	ErrUnsupported = errors.New("manifest needs a newer version of this program")
)

// First is what a manifest says of itself.
type First struct {
	Format     string    `json:"format"`
	Volume     string    `json:"volume"` // id, in hex
	KeyVersion uint32    `json:"key_version"`
	Written    time.Time `json:"written"`
	Generation uint64    `json:"generation"` // of the volume's configuration
}

// line describes one name.
type line struct {
	Path  []byte `json:"path"` // bytes: names need not be text
	Mode  uint32 `json:"mode"`
	UID   uint32 `json:"uid"`
	GID   uint32 `json:"gid"`
	Size  int64  `json:"size,omitempty"` // of the lower file
	ID    string `json:"id,omitempty"`   // file id
	Key   uint32 `json:"key,omitempty"`  // key version
	Link  []byte `json:"link,omitempty"` // where a symbolic link leads
	MACs  []byte `json:"macs,omitempty"` // macSize bytes for each stretch
	Same  []byte `json:"same,omitempty"` // an earlier name of the same file
	bytes int64  // read
}

type last struct {
	Names int    `json:"names"`
	MAC   string `json:"mac"`
}

func (l *last) encode() []byte {
	return fmt.Appendf(nil, "{\"names\":%d,\"mac\":%q}\n", l.Names, l.MAC)
}

// Summary tells what a manifest covers. Seal is its last MAC: whoever notes it
// elsewhere can tell this manifest from an older one.
type Summary struct {
	First
	Names int
	Bytes int64
	Seal  string
}

// Progress is called with the bytes read, and what is read.
type Progress func(done int64, path string)

// Write writes the manifest of d, whose content must not change meanwhile, to w.
func Write(ctx context.Context, d *volume.Dir, w io.Writer, progress Progress) (Summary, error) {
	s, err := write(ctx, d, w, progress)
	if err != nil {
		return s, fmt.Errorf("write manifest: %w", err)
	}
	return s, nil
}

func write(ctx context.Context, d *volume.Dir, w io.Writer, progress Progress) (Summary, error) {
	c := d.Config()
	s := Summary{First: First{format, hex.EncodeToString(c.ID[:]), d.Keys().Current(), time.Now().UTC().Truncate(time.Second), c.Generation}}
	r, err := newReader(ctx, d, s.KeyVersion, progress)
	if err != nil {
		return s, err
	}
	defer r.wipe()
	out := bufio.NewWriter(w)
	whole := hmac.New(sha256.New, r.key)
	enc := json.NewEncoder(io.MultiWriter(out, whole))
	if err := enc.Encode(&s.First); err != nil {
		return s, err
	}
	err = d.Walk(func(e *volume.Entry) error {
		l, err := r.describe(e)
		if err != nil {
			return err
		}
		s.Names++
		return enc.Encode(l)
	})
	if err != nil {
		return s, err
	}
	s.Bytes, s.Seal = r.done, hex.EncodeToString(whole.Sum(nil))
	end := last{s.Names, s.Seal}
	if _, err := out.Write(end.encode()); err != nil {
		return s, err
	}
	return s, out.Flush()
}

// A reader makes lines of entries.
type reader struct {
	ctx      context.Context
	root     string
	key      []byte
	mac      hash.Hash
	buf      []byte
	names    map[[2]uint64]string // device and inode → first name
	done     int64
	progress Progress
}

func newReader(ctx context.Context, d *volume.Dir, version uint32, progress Progress) (*reader, error) {
	dek, err := d.Keys().DEK(version)
	if err != nil {
		return nil, fmt.Errorf("load key version %d: %w", version, err)
	}
	id := d.Config().ID
	key, err := hkdf.Key(sha256.New, dek.Reveal(), id[:], context1, sha256.Size)
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(int64, string) {}
	}
	return &reader{
		ctx: ctx, root: d.Root().Name(), key: key, mac: hmac.New(sha256.New, key), buf: make([]byte, stretch),
		names: map[[2]uint64]string{}, progress: progress,
	}, nil
}

func (r *reader) wipe() { clear(r.key) }

// describe returns the line of e, reading its content.
func (r *reader) describe(e *volume.Entry) (*line, error) {
	l := &line{Path: []byte(e.Path), Mode: e.Stat.Mode, UID: e.Stat.Uid, GID: e.Stat.Gid}
	switch e.Kind() {
	case unix.S_IFLNK:
		to, err := os.Readlink(filepath.Join(r.root, e.Path))
		if err != nil {
			return nil, err
		}
		l.Link = []byte(to)
	case unix.S_IFREG:
		key := [2]uint64{e.Stat.Dev, e.Stat.Ino}
		if e.Again {
			l.Same = []byte(r.names[key])
			return l, nil
		}
		r.names[key] = e.Path
		l.Size = e.Stat.Size
		if e.Err == nil && e.Header != (volume.Header{}) { // names have files without one
			l.ID, l.Key = hex.EncodeToString(e.Header.FileID[:]), e.Header.KeyVersion
		}
		return l, r.readContent(l, e)
	}
	return l, nil
}

func (r *reader) readContent(l *line, e *volume.Entry) error {
	f, err := disk.OS.OpenFile(filepath.Join(r.root, e.Path), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for i := uint64(0); ; i++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		n, err := disk.ReadSparse(f, r.buf, int64(i)*stretch)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n > 0 {
			l.MACs = r.appendMAC(l.MACs, e.Header.FileID, i, r.buf[:n])
			l.bytes += int64(n)
			r.done += int64(n)
			r.progress(r.done, e.Path)
		}
		if err != nil {
			if l.bytes != l.Size {
				return fmt.Errorf("%s changed while it was read: %w", e.Path, volume.ErrBusy)
			}
			return nil
		}
	}
}

func (r *reader) appendMAC(dst []byte, id volume.FileID, n uint64, b []byte) []byte {
	r.mac.Reset()
	r.mac.Write(id[:])
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], n)
	r.mac.Write(number[:])
	r.mac.Write(b)
	var sum [sha256.Size]byte
	return append(dst, r.mac.Sum(sum[:0])[:macSize]...)
}

// readManifest parses the manifest in src, calling each for the names, and
// returns what it says of itself and its seal. Nothing of it can be trusted
// unless the seal is right; hashed gets the bytes it is over.
func readManifest(src io.Reader, hashed func(First) (hash.Hash, error), each func(*line) error) (First, last, hash.Hash, error) {
	in := bufio.NewReaderSize(src, 1<<20)
	var first First
	var end last
	b, err := readLine(in)
	if err != nil {
		return first, end, nil, err
	}
	switch err := json.Unmarshal(b, &first); {
	case err != nil || len(first.Format) > 40 || !bytes.HasPrefix([]byte(first.Format), []byte("veildb.manifest/")):
		return first, end, nil, fmt.Errorf("%w: first line", ErrManifest)
	case first.Format != format:
		return first, end, nil, fmt.Errorf("%w: format %s", ErrUnsupported, first.Format)
	}
	h, err := hashed(first)
	if err != nil {
		return first, end, nil, err
	}
	h.Write(b)
	for n := 0; ; n++ {
		if b, err = readLine(in); err != nil {
			return first, end, nil, err
		}
		if bytes.HasPrefix(b, []byte(`{"names":`)) {
			// The seal does not cover this line, so there is one way to write it.
			if err := json.Unmarshal(b, &end); err != nil || end.Names != n || !bytes.Equal(b, end.encode()) {
				return first, end, nil, fmt.Errorf("%w: last line", ErrManifest)
			}
			if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
				return first, end, nil, fmt.Errorf("%w: more behind the last line", ErrManifest)
			}
			return first, end, h, nil
		}
		h.Write(b)
		var l line
		if err := json.Unmarshal(b, &l); err != nil || len(l.MACs)%macSize != 0 || l.Size < 0 || n > maxEntries {
			return first, end, nil, fmt.Errorf("%w: line %d", ErrManifest, n+2)
		}
		if err := each(&l); err != nil {
			return first, end, nil, err
		}
	}
}

// readLine reads a line with its end, up to maxLine bytes.
func readLine(in *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		b, err := in.ReadSlice('\n')
		out = append(out, b...)
		switch {
		case err == nil:
			return out, nil
		case errors.Is(err, bufio.ErrBufferFull) && len(out) < maxLine:
		case errors.Is(err, io.EOF), errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("%w: it is cut off", ErrManifest)
		default:
			return nil, err
		}
	}
}
