package aesxts

func detect() []impl { return nil }

type schedule struct{}

func (*schedule) init(k1, k2 []byte) { panic("aesxts: internal error: no accelerated implementation") }

func (c *Cipher) accelerated(dst, src []byte, tweak [blockSize]byte, index int, dir direction) {
	panic("aesxts: internal error: no accelerated implementation")
}

func (c *Cipher) acceleratedUnits(dst, src []byte, unitSize int, first uint64, dir direction) {
	panic("aesxts: internal error: no accelerated implementation")
}
