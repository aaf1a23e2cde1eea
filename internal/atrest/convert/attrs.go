package convert

import (
	"strings"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// copyAttributes gives the target of e what its source has.
func (p *plan) copyAttributes(to side, e *entry) error {
	return volume.CopyAttributes(p.from.path(e.from), to.path(e.to), &e.stat, func(what string) {
		if strings.HasPrefix(what, "owner") {
			p.owner.Do(func() { p.note(e.path, what) }) // all the others neither
			return
		}
		p.note(e.path, what)
	})
}
