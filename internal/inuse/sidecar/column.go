package sidecar

import (
	"fmt"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// noDecimals stands for a number of decimals that is not known: Layout64 does
// not say, so text has the value's own digits.
const noDecimals = 31

// A definition is a column that holds cells, as the application sees it.
type definition struct {
	payload []byte // of its column definition
	typ     wire.Type
	strict  bool // cells are of the column's own type
	cells   *encdb.Column
	name    string // for errors
}

// definitions remembers the definitions of a session, by the payload they came
// as: an application runs the same statements again and again.
type definitions struct {
	tag   string
	known map[string]*definition
}

// maxKnown bounds what is remembered.
const maxKnown = 1 << 10

// find returns the definition of a column of cells that came as payload,
// decoded into c. own says whether the first filler byte is the own type.
func (d *definitions) find(payload []byte, c *wire.Column, own bool, caps wire.Capabilities) *definition {
	if found := d.known[string(payload)]; found != nil {
		return found
	}
	if len(d.known) >= maxKnown {
		clear(d.known)
	}
	if d.known == nil {
		d.known = map[string]*definition{}
	}
	made := d.make(c, own, caps)
	d.known[string(payload)] = made
	return made
}

func (d *definitions) make(c *wire.Column, own bool, caps wire.Capabilities) *definition {
	place := c.OrgName
	if len(place) == 0 {
		place = c.Name
	}
	out := *c
	decimals := byte(noDecimals)
	if own {
		out.Type, decimals = wire.Type(c.Filler[0]), c.Decimals
	} else {
		out.Type = wire.TypeVarString
		out.Name = append(append([]byte{}, c.Name...), d.tag...)
	}
	out.Filler = [2]byte{}
	unsigned := own && c.Flags&wire.FlagUnsigned != 0
	return &definition{
		payload: out.Append(nil, caps), typ: out.Type, strict: own,
		cells: encdb.NewColumn(string(c.Schema), string(c.OrgTable), string(place), byte(out.Type), unsigned, decimals),
		name:  fmt.Sprintf("%s.%s", c.Table, c.Name),
	}
}

// isString reports whether a column of the type can hold the text of a cell.
func isString(t wire.Type) bool {
	switch t {
	case wire.TypeVarString, wire.TypeString, wire.TypeVarchar,
		wire.TypeTinyBlob, wire.TypeMediumBlob, wire.TypeLongBlob, wire.TypeBlob:
		return true
	}
	return false
}
