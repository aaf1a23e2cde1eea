package volume

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// aReplacement is a volume with a file of three names, and its successor.
type aReplacement struct {
	*Dir
	successor string
	names     []string
}

func newReplacement(t *testing.T) *aReplacement {
	t.Helper()
	keys := newTestKeys(t, 1)
	path := filepath.Join(t.TempDir(), "lower")
	if err := InitDir(path, keys, Config{}); err != nil {
		t.Fatal(err)
	}
	r := &aReplacement{names: []string{"a", "b", "d/c"}}
	r.open(t, path, keys)
	t.Cleanup(func() { r.Dir.Close() })
	err := errors.Join(os.WriteFile(r.inTree("a"), []byte("old"), 0o600), os.Mkdir(r.inTree("d"), 0o700),
		os.Link(r.inTree("a"), r.inTree("b")), os.Link(r.inTree("a"), r.inTree("d/c")))
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.NewSuccessor()
	if err != nil {
		t.Fatal(err)
	}
	r.successor = f.Name()
	_, err = f.WriteString("new")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *aReplacement) open(t *testing.T, path string, keys KeySource) {
	t.Helper()
	var err error
	if r.Dir, err = OpenDir(path, openWith(keys), DirOptions{}); err != nil {
		t.Fatal(err)
	}
}

// journal is what Replace writes down.
func (r *aReplacement) journal() *replacement {
	j := &replacement{Successor: filepath.Base(r.successor)}
	for _, n := range r.names {
		j.Names = append(j.Names, []byte(n))
	}
	return j
}

// reopen is what a mount after a crash does.
func (r *aReplacement) reopen(t *testing.T) {
	t.Helper()
	path, keys := r.path, r.keys
	if err := r.Dir.Close(); err != nil {
		t.Fatal(err)
	}
	r.open(t, path, keys)
	for _, left := range []string{replaceDir, replaceJournal} {
		if _, err := os.Lstat(r.Private(left)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", left, err)
		}
	}
}

// holds looks at what the names are now.
func (r *aReplacement) holds(t *testing.T, want map[string]string) {
	t.Helper()
	for name, content := range want {
		if got, err := os.ReadFile(r.inTree(name)); err != nil || string(got) != content {
			t.Errorf("%s is %q, %v; want %q", name, got, err, content)
		}
	}
}

func TestReplaceNames(t *testing.T) {
	r := newReplacement(t)
	if replaced, err := r.Replace(r.successor, r.names); err != nil || !replaced {
		t.Fatal(replaced, err)
	}
	r.holds(t, map[string]string{"a": "new", "b": "new", "d/c": "new"})
	if left, err := os.ReadDir(r.Private(replaceDir)); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	r.reopen(t)
	r.holds(t, map[string]string{"a": "new", "b": "new", "d/c": "new"})
}

// TestReplaceFails has a name that cannot be replaced, after those that can: all
// of them stay the old file, for ever.
func TestReplaceFails(t *testing.T) {
	for _, at := range []int{0, 1, 3} {
		r := newReplacement(t)
		names := append(append(append([]string{}, r.names[:at]...), "d"), r.names[at:]...) // a directory
		if replaced, err := r.Replace(r.successor, names); err == nil || replaced {
			t.Errorf("a directory as name %d: replaced %v, %v", at, replaced, err)
		}
		old := map[string]string{"a": "old", "b": "old", "d/c": "old"}
		r.holds(t, old)
		r.reopen(t)
		r.holds(t, old)
	}
}

// TestStaleJournal has a replacement stay half done, as after an error of the
// disk, while names go on to other files: opening completes it for the others.
func TestStaleJournal(t *testing.T) {
	r := newReplacement(t)
	j := r.journal()
	err := errors.Join(r.prepareReplace(j), os.Rename(r.spare(j, 0), r.inTree("a")),
		os.Remove(r.inTree("b")), os.WriteFile(r.inTree("b"), []byte("another"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	r.holds(t, map[string]string{"a": "new", "b": "another", "d/c": "new"})

	r = newReplacement(t)
	if err := errors.Join(r.prepareReplace(r.journal()), os.RemoveAll(r.inTree("d"))); err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	r.holds(t, map[string]string{"a": "new", "b": "new"})
}
