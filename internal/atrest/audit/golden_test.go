package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/crypto/secret"
)

var update = flag.Bool("update", false, "make what testdata lacks; what it has is frozen")

// goldenKeys are the data keys of package volume's golden directory: version n
// is 32 bytes of value n.
type goldenKeys map[uint32]*secret.Bytes

func (k goldenKeys) Current() uint32 { return 2 }

func (k goldenKeys) DEK(version uint32) (*secret.Bytes, error) {
	if dek := k[version]; dek != nil {
		return dek, nil
	}
	return nil, volume.ErrUnknownKey
}

// TestGoldenManifest verifies the manifest that an earlier version wrote of
// package volume's golden directory, as every later one must; -update makes one
// that is missing. Owners and modes are those of whoever checked the files out.
func TestGoldenManifest(t *testing.T) {
	const golden = "testdata/v1.manifest"
	keys := goldenKeys{}
	for version := range uint32(2) {
		dek, err := secret.From(bytes.Repeat([]byte{byte(version + 1)}, 32))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dek.Close() })
		keys[version+1] = dek
	}
	path := filepath.Join(t.TempDir(), "lower")
	if err := os.CopyFS(path, os.DirFS("../volume/testdata/v1.dir")); err != nil {
		t.Fatal(err)
	}
	d, err := volume.ViewDir(path, keys)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := os.Lstat(golden); *update && errors.Is(err, fs.ErrNotExist) {
		manifest, _ := mustWrite(t, d)
		if err := os.WriteFile(golden, manifest, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	manifest, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	verify := func() (content []string) {
		s, diffs, err := Verify(t.Context(), d, bytes.NewReader(manifest), nil)
		if err != nil || s.Names != 6 || s.KeyVersion != 2 {
			t.Fatalf("%+v, %v", s, err)
		}
		for _, diff := range diffs {
			if diff.Kind != Attributes {
				content = append(content, fmt.Sprint(diff))
			}
		}
		return content
	}
	if diffs := verify(); diffs != nil {
		t.Errorf("differences %q", diffs)
	}
	if err := os.Truncate(filepath.Join(d.Root().Name(), "dir/page.bin"), 8192); err != nil {
		t.Fatal(err)
	}
	if diffs := verify(); len(diffs) != 1 {
		t.Errorf("differences %q of a file cut off", diffs)
	}
	checkFields(t, manifest)
}

// checkFields fails if a field of the golden manifest is not known any more.
func checkFields(t *testing.T, manifest []byte) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(manifest), []byte("\n"))
	for i, b := range lines {
		var into any = new(line)
		switch i {
		case 0:
			into = new(First)
		case len(lines) - 1:
			into = new(last)
		}
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		if err := dec.Decode(into); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
}
