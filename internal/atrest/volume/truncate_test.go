package volume

import (
	"bytes"
	"io"
	"testing"
)

// TestTruncateForgetsWithinBlock shortens a file inside a block and lengthens
// it again inside the same: the bytes between must not come back.
func TestTruncateForgetsWithinBlock(t *testing.T) {
	for _, c := range []struct{ size, short, long int64 }{
		{100, 33, 38}, {100, 33, 47}, {100, 33, 48}, {100, 33, 64}, {100, 33, 5000}, {36, 33, 36}, {100, 97, 99},
	} {
		f, _ := mustCreate(t, newTestKeys(t, 1))
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, int(c.size)), 0); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int64{c.short, c.long} {
			if err := f.Truncate(size); err != nil {
				t.Fatal(err)
			}
		}
		want := append(bytes.Repeat([]byte{0xff}, int(c.short)), make([]byte, c.long-c.short)...)
		got := make([]byte, c.long)
		if _, err := f.ReadAt(got, 0); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d, %d, %d bytes: got %x, want %x", c.size, c.short, c.long, got[:min(len(got), 64)], want[:min(len(want), 64)])
		}
	}
}
