//go:build !amd64

package aead

func detect() []impl { return nil }

const noAccel = "aead: internal error: no accelerated implementation"

func (impl) limit() int { panic(noAccel) }

type keys struct{}

func (*keys) expand(*[KeySize]byte) { panic(noAccel) }

func (*keys) seal(im impl, cell, plaintext, aad []byte) { panic(noAccel) }

func (*keys) open(im impl, plaintext, cell, aad []byte) bool { panic(noAccel) }
