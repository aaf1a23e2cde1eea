package sidecartest

import (
	"encoding/json"
	"slices"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// A conn is one connection of a Gate.
type conn struct {
	g              *Gate
	client, server *wire.Conn
	session        *encdb.Session
	resp           wire.Response
	types          []wire.Type
	columns        []*encdb.Column // nil where not protected
	cols           []int           // the protected ones
	fields         []wire.Field
	row            []byte
	open           map[uint32]cursor
	known          map[uint32]cursor // by statement: of the definitions that came last
	last           uint32            // the statement prepared last
	id             uint32            // the statement at hand
}

type cursor struct {
	types   []wire.Type
	columns []*encdb.Column
	cols    []int
}

func (c *conn) query(p []byte) error {
	q, err := wire.DecodeQuery(p, c.client.Caps)
	if err != nil {
		return err
	}
	switch st := encdb.Recognise(q.SQL, false); st.Kind {
	case encdb.Message:
		text := st.Args[0].Value
		if c.g.Stranger {
			text = withoutExtension(text)
		}
		cell, ev := c.session.Handle(text)
		c.g.mu.Lock()
		c.g.events = append(c.g.events, ev)
		c.g.mu.Unlock()
		return c.rows([]string{encdb.AnswerColumn}, []string{string(cell)})
	case encdb.Probe:
		if !c.g.Unmarked {
			return c.rows(encdb.ProbeAnswer[0][:], encdb.ProbeAnswer[1][:])
		}
	case encdb.Refused:
		return c.client.WriteErr(wire.CodeUnknown, "HY000", st.Reason)
	}
	return c.forward(wire.ComQuery, p)
}

func withoutExtension(request []byte) []byte {
	var m map[string]any
	if json.Unmarshal(request, &m) != nil {
		return request
	}
	delete(m, "veildb")
	out, _ := json.Marshal(m)
	return out
}

// rows answers with one row of strings.
func (c *conn) rows(names, values []string) error {
	c.client.WritePacket(wire.AppendColumnCount(nil, len(names), c.client.Caps))
	var row [][]byte
	for i, n := range names {
		col := wire.Column{Catalog: []byte("def"), Name: []byte(n), Charset: 45, Length: 1 << 20, Type: wire.TypeVarString}
		c.client.WritePacket(col.Append(nil, c.client.Caps))
		row = append(row, []byte(values[i]))
	}
	deprecate := c.client.Caps.Has(wire.DeprecateEOF)
	if !deprecate {
		c.client.WritePacket(wire.EOF{Status: wire.StatusAutocommit}.Append(nil))
	}
	c.client.WritePacket(wire.AppendTextRow(nil, row...))
	if deprecate {
		return c.client.WritePacket(wire.OK{End: true, Status: wire.StatusAutocommit}.Append(nil, c.client.Caps))
	}
	return c.client.WritePacket(wire.EOF{Status: wire.StatusAutocommit}.Append(nil))
}

func (c *conn) forward(cmd wire.Command, p []byte) error {
	var id uint32
	switch cmd {
	case wire.ComStmtExecute, wire.ComStmtFetch:
		if id, _ = wire.StmtID(p); id == wire.LastPrepared {
			id = c.last
		}
		if cmd == wire.ComStmtFetch {
			k := c.open[id]
			c.types, c.columns, c.cols = k.types, k.columns, k.cols
		}
	}
	c.id = id
	if cmd.Shape() == wire.ShapeRefused {
		return c.client.WriteErr(wire.CodeUnknownCommand, "08S01", "Unknown command")
	}
	if err := c.server.WriteCommand(p); err != nil {
		return err
	}
	sealer, err := c.session.Cells()
	if err != nil {
		return err
	}
	if err := sealer.Begin(); err != nil {
		return err
	}
	c.resp.Start(cmd, c.server.Caps)
	for !c.resp.Done() {
		if err := c.packet(sealer); err != nil {
			return err
		}
	}
	if cmd == wire.ComStmtExecute && c.resp.Status.Has(wire.StatusCursorExists) {
		if c.open == nil {
			c.open = map[uint32]cursor{}
		}
		c.open[id] = cursor{slices.Clone(c.types), slices.Clone(c.columns), slices.Clone(c.cols)}
	}
	return nil
}

func (c *conn) packet(sealer *encdb.Sealer) error {
	kind, err := c.resp.Next(c.server)
	if err != nil {
		return err
	}
	switch kind {
	case wire.KindColumns, wire.KindPrepared:
		c.types, c.columns, c.cols = c.types[:0], c.columns[:0], c.cols[:0]
		if kind == wire.KindPrepared {
			c.last = c.resp.Prepared.ID
			c.id = c.last
		}
		if c.resp.Omitted {
			k := c.known[c.id]
			c.types, c.columns, c.cols = slices.Clone(k.types), slices.Clone(k.columns), slices.Clone(k.cols)
		}
	case wire.KindColumn:
		if err := c.define(sealer); err != nil {
			return err
		}
		if c.id != 0 && len(c.types) == c.resp.Columns {
			if c.known == nil {
				c.known = map[uint32]cursor{}
			}
			c.known[c.id] = cursor{slices.Clone(c.types), slices.Clone(c.columns), slices.Clone(c.cols)}
		}
		return nil
	case wire.KindRow:
		if len(c.cols) > 0 {
			return c.seal(sealer)
		}
	}
	if err := c.server.CopyTo(c.client); err != nil {
		return err
	}
	if kind == wire.KindInfile {
		_, err = wire.RelayInfile(c.client, c.server)
	}
	return err
}

func (c *conn) define(sealer *encdb.Sealer) error {
	var col wire.Column
	if err := col.Decode(c.server.Payload(), c.server.Caps); err != nil {
		return err
	}
	protected := slices.Contains(c.g.Columns, string(col.OrgTable)+"."+string(col.OrgName))
	c.types = append(c.types, col.Type)
	if !protected {
		c.columns = append(c.columns, nil)
		return c.server.CopyTo(c.client)
	}
	c.cols = append(c.cols, len(c.columns))
	c.columns = append(c.columns, encdb.NewColumn(string(col.Schema), string(col.OrgTable), string(col.OrgName),
		byte(col.Type), col.Flags&wire.FlagUnsigned != 0, col.Decimals))
	switch {
	case encdb.Own(sealer.Layout()):
		col.Filler = [2]byte{byte(col.Type), encdb.CipherMark}
	default:
		col.Charset, col.Decimals = 45, 0
		col.Flags &= wire.FlagNotNull
		col.Length = max(col.Length, 256)
		if !c.g.Unmarked && c.session.Provisioned() {
			col.Filler[1] = encdb.CipherMark
		}
	}
	col.Type = wire.TypeVarString
	if c.g.Lie != nil {
		c.g.Lie(&col)
	}
	return c.client.WritePacket(col.Append(nil, c.client.Caps))
}

func (c *conn) seal(sealer *encdb.Sealer) error {
	p, err := c.server.Load()
	if err != nil {
		return err
	}
	if c.resp.Binary {
		c.fields, err = wire.DecodeBinaryRow(p, c.types, c.fields)
	} else {
		c.fields, err = wire.DecodeTextRow(p, len(c.types), c.fields)
	}
	if err != nil {
		return err
	}
	c.row, err = wire.ReplaceFields(c.row[:0], p, c.fields, c.cols, func(dst []byte, i int, value []byte) ([]byte, error) {
		n := len(dst)
		dst, err := sealer.Append(dst, c.columns[i], c.resp.Binary, value)
		if err == nil && c.g.Tamper != nil {
			dst = append(dst[:n], c.g.Tamper(dst[n:])...)
		}
		return dst, err
	})
	if err != nil {
		return err
	}
	return c.client.WritePacket(c.row)
}
