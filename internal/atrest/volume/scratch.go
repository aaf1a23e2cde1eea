package volume

import "sync"

// maxScratch bounds one lower write and the buffer for it, in bytes.
const maxScratch = 1 << 20

// scratchPool holds buffers for ciphertext on its way down. Whoever puts
// plaintext into one clears it.
var scratchPool = sync.Pool{New: func() any { return new([]byte) }}

// getScratch returns a buffer of at least n bytes.
func getScratch(n int) *[]byte {
	buf := scratchPool.Get().(*[]byte)
	if cap(*buf) < n {
		*buf = make([]byte, max(n, 2*UnitSize))
	}
	*buf = (*buf)[:cap(*buf)]
	return buf
}

func putScratch(buf *[]byte) { scratchPool.Put(buf) }
