package volume

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// memFile is a lower file in memory that records its writes and can fail. It
// tells holes like a file system: pages never written.
type memFile struct {
	mu      sync.Mutex
	data    []byte
	written map[int64]bool // by page of the lower file
	ops     []memOp
	fail    func(kind string, off int64, n int) (done int, err error)
	quiet   bool // no ops
}

type memOp struct {
	kind string
	off  int64
	n    int
	data []byte
}

func newMemFile() *memFile { return &memFile{written: map[int64]bool{}} }

func (m *memFile) op(kind string, off int64, data []byte) (int, error) {
	if !m.quiet {
		m.ops = append(m.ops, memOp{kind, off, len(data), bytes.Clone(data)})
	}
	if m.fail == nil {
		return 0, nil
	}
	return m.fail(kind, off, len(data))
}

func (m *memFile) ReadAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if off >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memFile) WriteAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.op("write", off, p)
	if err == nil {
		n = len(p)
	}
	if end := off + int64(n); n > 0 && end > int64(len(m.data)) {
		m.data = append(m.data, make([]byte, end-int64(len(m.data)))...)
	}
	copy(m.data[min(off, int64(len(m.data))):], p[:n])
	for s := off / pageSize; n > 0 && s <= (off+int64(n)-1)/pageSize; s++ {
		m.written[s] = true
	}
	return n, err
}

func (m *memFile) Truncate(size int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.op("truncate", size, nil); err != nil {
		return err
	}
	if size < int64(len(m.data)) {
		m.data = m.data[:size]
		for s := range m.written {
			if s*pageSize >= size {
				delete(m.written, s)
			}
		}
	}
	m.data = append(m.data, make([]byte, size-int64(len(m.data)))...)
	return nil
}

func (m *memFile) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.op("sync", 0, nil)
	return err
}

func (m *memFile) Size() (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.data)), nil
}

func (m *memFile) Close() error { return nil }

func (m *memFile) Hole(off, n int64) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for s := off / pageSize; s <= (off+n-1)/pageSize; s++ {
		if m.written[s] {
			return false, nil
		}
	}
	return true, nil
}

// testKeys is a KeySource of fixed keys: version v has a key of bytes v.
type testKeys struct {
	current uint32
	deks    map[uint32]*secret.Bytes
}

func newTestKeys(t testing.TB, versions ...byte) *testKeys {
	t.Helper()
	k := &testKeys{deks: map[uint32]*secret.Bytes{}}
	for _, v := range versions {
		dek, err := secret.From(bytes.Repeat([]byte{v}, dekSize))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dek.Close() })
		k.deks[uint32(v)] = dek
		k.current = uint32(v)
	}
	return k
}

func (k *testKeys) Current() uint32 { return k.current }

func (k *testKeys) DEK(version uint32) (*secret.Bytes, error) {
	if dek, ok := k.deks[version]; ok {
		return dek, nil
	}
	return nil, ErrUnknownKey
}

// mustCreate returns a new file and what lies below it.
func mustCreate(t testing.TB, keys KeySource) (*File, *memFile) {
	t.Helper()
	lower := newMemFile()
	f, err := Create(lower, keys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f, lower
}

var errBoom = errors.New("boom")
