package fuse

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A crew decides which loops read requests. A few always do: the kernel gives
// requests to readers in turn, and the fewer take turns the warmer their caches
// are. When all of them are at work, some on a disk that takes its time, one
// more is woken for the next request; when there are too many for a while, it
// rests again.
type crew struct {
	base    int32
	readers atomic.Int32 // loops that wait for a request
	resting atomic.Int32
	wake    chan struct{}
	over    chan struct{}
	once    sync.Once
}

// A member is what the crew knows of one loop.
type member struct {
	surplus int // how often in succession it was one too many
}

// newMember is one that rests at first, if there are others.
func newMember() member { return member{surplus: patience - 1} }

// patience is how often in succession a loop is one too many before it rests:
// waking it costs more than having it.
const patience = 64

func newCrew(loops int) *crew {
	return &crew{
		base: int32(min(loops, max(2, runtime.NumCPU()/2))),
		wake: make(chan struct{}, loops),
		over: make(chan struct{}),
	}
}

// join returns true when m is to read, false when nobody is any more. leave
// follows.
func (c *crew) join(m *member) bool {
	if c.readers.Add(1) <= c.base {
		m.surplus = 0
		return true
	}
	if m.surplus++; m.surplus < patience {
		return true
	}
	m.surplus = 0
	c.resting.Add(1)
	defer c.resting.Add(-1)
	if c.readers.Add(-1) == 0 { // all others have left meanwhile
		c.readers.Add(1)
		return true
	}
	select {
	case <-c.wake:
		c.readers.Add(1)
		return true
	case <-c.over:
		return false
	}
}

// leave says that the loop has read a request.
func (c *crew) leave() {
	if c.readers.Add(-1) == 0 && c.resting.Load() > 0 {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// dismiss ends the rest of all.
func (c *crew) dismiss() { c.once.Do(func() { close(c.over) }) }
