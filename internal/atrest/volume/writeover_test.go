package volume

import (
	"bytes"
	"testing"
)

func TestWriteOver(t *testing.T) {
	for _, c := range []struct{ off, n int }{{0, 16}, {4096, 8192}, {48, 3 << 20}, {5, 100}, {16, 17}, {0, 1}, {1 << 20, 0}} {
		f, m := mustCreate(t, newTestKeys(t, 1))
		want := bytes.Repeat([]byte("0123456789abcdefg"), c.n/17+1)[:c.n]
		if n, err := f.WriteOver(bytes.Clone(want), int64(c.off)); n != c.n || err != nil {
			t.Fatalf("%+v: wrote %d bytes, %v", c, n, err)
		}
		got := make([]byte, c.n)
		if n, err := f.ReadAt(got, int64(c.off)); n != c.n && err != nil || !bytes.Equal(got, want) {
			t.Errorf("%+v: other content, %v", c, err)
		}
		if size, err := f.Size(); c.n > 0 && size != int64(c.off+c.n) || err != nil {
			t.Errorf("%+v: size %d, %v", c, size, err)
		}
		if c.n > 15 && bytes.Contains(m.data, want[:15]) {
			t.Errorf("%+v: stored in plain", c)
		}
	}
	f, _ := mustCreate(t, newTestKeys(t, 1))
	if _, err := f.WriteOver(nil, -1); err == nil {
		t.Error("negative offset: no error")
	}
}
