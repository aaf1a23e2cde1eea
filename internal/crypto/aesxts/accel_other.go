//go:build !amd64 && !arm64

package aesxts

func detect() []impl { return nil }

const noAccel = "aesxts: internal error: no accelerated implementation"

type schedule struct{}

func (*schedule) init(k1, k2 []byte) { panic(noAccel) }

func (*schedule) crypt(im impl, dst, src []byte, lo, hi uint64, index int, dir direction) {
	panic(noAccel)
}

func (*schedule) cryptUnits(im impl, dst, src []byte, unitSize int, first uint64, dir direction) {
	panic(noAccel)
}
