package convert

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDecodeJournal(t *testing.T) {
	const first = `{"format":"veildb.convert/1","way":"encrypt","source":"/s","dev":1,"ino":2}` + "\n"
	const line = `{"path":"YQ==","stamp":{"ino":1,"size":2,"mtime":3,"ctime":4},"id":"x","part":0,"parts":1,"bytes":2}` + "\n"
	for _, c := range []struct {
		name, data string
		records    int
		want       error
	}{
		{"whole", first + line + line, 2, nil},
		{"torn end", first + line + line[:40], 1, nil},
		{"only the first line", first, 0, nil},
		{"empty", "", 0, ErrJournal},
		{"torn first line", first[:20], 0, ErrJournal},
		{"another format", strings.Replace(first, "convert/1", "convert/2", 1), 0, ErrJournal},
		{"noise in the middle", first + "\x00\x00\n" + line, 0, ErrJournal},
		{"no such part", first + strings.Replace(line, `"part":0`, `"part":1`, 1), 0, ErrJournal},
		{"negative part", first + strings.Replace(line, `"part":0`, `"part":-1`, 1), 0, ErrJournal},
	} {
		_, records, err := decodeJournal([]byte(c.data))
		if !errors.Is(err, c.want) || len(records) != c.records {
			t.Errorf("%s: %d records, %v; want %d, %v", c.name, len(records), err, c.records, c.want)
		}
	}
}

func FuzzDecodeJournal(f *testing.F) {
	f.Add([]byte(`{"format":"veildb.convert/1"}` + "\n" + `{"parts":1}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, records, err := decodeJournal(data)
		for _, r := range records {
			if err == nil && (r.Part < 0 || r.Part >= r.Parts) {
				t.Errorf("part %d of %d", r.Part, r.Parts)
			}
		}
	})
}

// TestChangedMeanwhile changes the source behind the plan in each way.
func TestChangedMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(root string) error
	}{
		{"content", func(root string) error {
			f, err := os.OpenFile(filepath.Join(root, "sizes/4096"), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte("changed"), 0)
			return errors.Join(err, f.Close())
		}},
		{"new file", func(root string) error { return os.WriteFile(filepath.Join(root, "zzz"), nil, 0o600) }},
		{"file gone", func(root string) error { return os.Remove(filepath.Join(root, "sizes/1")) }},
		{"mode", func(root string) error { return os.Chmod(filepath.Join(root, "empty"), 0o700) }},
		{"name", func(root string) error {
			return os.Rename(filepath.Join(root, "sizes/1"), filepath.Join(root, "sizes/one"))
		}},
	} {
		root := filepath.Join(t.TempDir(), "plain")
		makeTree(t, root)
		p, err := makePlan(side{root: root}, func(string, string) {})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.checkUnchanged(); err != nil {
			t.Fatalf("nothing changed: %v", err)
		}
		if err := c.change(root); err != nil {
			t.Fatal(err)
		}
		if err := p.checkUnchanged(); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v, want ErrChanged", c.name, err)
		}
	}
}
