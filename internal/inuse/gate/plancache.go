package gate

import (
	"hash/maphash"
	"sync"

	"github.com/veildb/veildb/internal/sql/token"
)

// A planCache keeps the judgements of one access, first by the exact text of
// statements, then by their keys (token.Text.AppendKey). An access stands for a
// catalog and rules as they are, so nothing in it is ever out of date. It is for
// several sessions at once.
type planCache struct {
	mu     sync.RWMutex
	exact  generations
	tokens generations
	// met holds hashes of texts that came once: only the second time a text gets
	// a place in exact, so that texts which never come again take none.
	met  [1024]uint64
	seed maphash.Seed
}

// cacheBytes is how much one account may have cached, for each of both ways.
const cacheBytes = 4 << 20

// maxCachedStatement is the longest statement that is cached, in bytes.
const maxCachedStatement = 64 << 10

// An environment is what a judgement depends on beside an access.
type environment struct {
	mode     token.Mode
	database string
	overlay  uint64 // of temporary tables, 0 for none
}

// A planKey is an environment and a text, or the key of one.
type planKey struct {
	environment
	text string
}

// A cached is a judgement, and the canonical text if that is not the text of
// the key.
type cached struct {
	*judgement
	canonical []byte
}

// generations is a map of bounded size. What was not asked for while half of
// the room was filled is forgotten.
type generations struct {
	young, old map[planKey]cached
	size       int // of young, in bytes
}

// entrySize is what an entry takes beside its text, about.
const entrySize = 512

func (g *generations) put(k planKey, c cached) {
	if g.size >= cacheBytes/2 {
		g.old, g.young, g.size = g.young, nil, 0
	}
	if g.young == nil {
		g.young = map[planKey]cached{}
	}
	if _, ok := g.young[k]; !ok {
		g.size += entrySize + len(k.text) + len(k.database) + len(c.canonical) + c.size()
	}
	g.young[k] = c
}

// get finds a text; old says that it will soon be forgotten.
func (g *generations) get(e environment, text []byte) (c cached, old, ok bool) {
	if c, ok = g.young[planKey{e, string(text)}]; ok {
		return c, false, true
	}
	c, ok = g.old[planKey{e, string(text)}]
	return c, true, ok
}

// get finds a statement by its text.
func (p *planCache) get(e environment, sql []byte) (cached, bool) {
	return p.find(&p.exact, e, sql)
}

// getKey finds a statement by its key.
func (p *planCache) getKey(e environment, key []byte) (cached, bool) {
	return p.find(&p.tokens, e, key)
}

func (p *planCache) find(g *generations, e environment, text []byte) (cached, bool) {
	if len(text) > maxCachedStatement {
		return cached{}, false
	}
	p.mu.RLock()
	c, old, ok := g.get(e, text)
	p.mu.RUnlock()
	if old && ok {
		p.mu.Lock()
		g.put(planKey{e, string(text)}, c)
		p.mu.Unlock()
	}
	return c, ok
}

// put keeps a judgement by the text of its statement, if that came before.
func (p *planCache) put(e environment, sql []byte, c cached) {
	if len(sql) > maxCachedStatement {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seed == (maphash.Seed{}) {
		p.seed = maphash.MakeSeed()
	}
	h := maphash.Bytes(p.seed, sql)
	if slot := &p.met[h%uint64(len(p.met))]; *slot != h {
		*slot = h
		return
	}
	p.exact.put(planKey{e, string(sql)}, c)
}

// putKey keeps a judgement by the key of its statement.
func (p *planCache) putKey(e environment, key []byte, j *judgement) {
	if len(key) > maxCachedStatement {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens.put(planKey{e, string(key)}, cached{judgement: j})
}
