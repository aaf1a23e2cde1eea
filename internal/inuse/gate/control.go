package gate

import (
	"fmt"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// A control is a prepared statement of the client protocol, which the server
// never sees.
type control struct {
	st    encdb.Statement
	types []wire.ParamType // of the last execution
	lost  bool             // a parameter came in a way that is not supported
}

// firstLocal is the first number of the gate's own prepared statements; servers
// count from 1.
const firstLocal = 0xf000_0000

// controls answers a command that belongs to the client protocol, and reports
// whether it was one. Those never reach the server.
func (ss *session) controls(cmd wire.Command, p []byte) (bool, error) {
	noBackslash := ss.resp.Status.Has(wire.StatusNoBackslashEscapes)
	switch cmd {
	case wire.ComQuery:
		q, err := wire.DecodeQuery(p, ss.client.Caps)
		if err != nil {
			return false, err
		}
		st := encdb.Recognise(q.SQL, noBackslash)
		if st.Kind == encdb.Other {
			return false, nil
		}
		return true, ss.control(st, false)
	case wire.ComStmtPrepare:
		sql, err := wire.DecodeStmtPrepare(p)
		if err != nil {
			return false, err
		}
		st := encdb.Recognise(sql, noBackslash)
		if st.Kind == encdb.Other {
			return false, nil
		}
		return true, ss.prepareControl(st)
	case wire.ComStmtExecute, wire.ComStmtClose, wire.ComStmtReset, wire.ComStmtSendLongData, wire.ComStmtFetch:
		id, err := wire.StmtID(p)
		if err != nil {
			return false, err
		}
		if id == wire.LastPrepared && ss.last >= firstLocal {
			id = ss.last
		}
		if id < firstLocal || id == wire.LastPrepared {
			return false, nil
		}
		return true, ss.controlStmt(cmd, id, p)
	}
	return false, nil
}

// control answers a statement of the protocol whose arguments are known.
func (ss *session) control(st encdb.Statement, binary bool) error {
	for _, a := range st.Args {
		if a.Parameter {
			return ss.client.WriteErr(wire.CodeNotSupported, "42000", "the argument is missing")
		}
	}
	switch st.Kind {
	case encdb.Probe:
		return ss.writeResult(encdb.ProbeAnswer[0][:], [][]byte{[]byte(encdb.ProbeAnswer[1][0]), []byte(encdb.ProbeAnswer[1][1])}, binary)
	case encdb.Message:
		cell, ev := ss.enc.Handle(st.Args[0].Value)
		ss.protocolEvent(ev)
		return ss.writeResult([]string{encdb.AnswerColumn}, [][]byte{cell}, binary)
	case encdb.RuleOp:
		ev := ss.enc.RuleOp(string(st.Args[0].Value), st.Args[1].Value)
		ss.protocolEvent(ev)
		if ev.Err != nil {
			return ss.client.WriteErr(wire.CodeUnknown, "HY000", ev.Err.Error())
		}
		return ss.writeResult([]string{"ENCDB_RULE_OP()"}, [][]byte{[]byte("OK")}, binary)
	}
	ss.event(Event{Kind: "refused", Rule: "protocol", Reason: st.Reason})
	return ss.client.WriteErr(wire.CodeNotSupported, "42000", st.Reason)
}

func (ss *session) protocolEvent(ev encdb.Event) {
	e := Event{Kind: "protocol", Class: ev.Request}
	if ev.Err != nil {
		e.Reason = ev.Err.Error()
	}
	ss.event(e)
}

// adopt gives a client that has handed over no master key cells under the one its
// account did.
func (ss *session) adopt() {
	if id, ok := ss.enc.Adopt(); ok {
		ss.event(Event{Kind: "protocol", Class: "kept key", Reason: fmt.Sprintf("cells are under master key %d, which another connection of the account handed over", id)})
	}
}

// prepareControl answers COM_STMT_PREPARE.
func (ss *session) prepareControl(st encdb.Statement) error {
	if st.Kind == encdb.Refused {
		return ss.control(st, false)
	}
	for i := range st.Args {
		st.Args[i].Value = append([]byte(nil), st.Args[i].Value...)
	}
	id := firstLocal + ss.local
	ss.local = (ss.local + 1) % (1 << 24)
	ss.stmts.Put(id, &stmt{control: &control{st: st}})
	ss.last = id
	params := 0
	for _, a := range st.Args {
		if a.Parameter {
			params++
		}
	}
	names := []string{encdb.AnswerColumn}
	if st.Kind == encdb.Probe {
		names = encdb.ProbeAnswer[0][:]
	}
	c := ss.client
	if err := c.WritePacket(wire.Prepared{ID: id, Columns: uint16(len(names)), Params: uint16(params)}.Append(nil)); err != nil {
		return err
	}
	if params > 0 {
		for range params {
			if err := ss.writeColumn("?"); err != nil {
				return err
			}
		}
		if err := ss.writeDefsEnd(); err != nil {
			return err
		}
	}
	for _, n := range names {
		if err := ss.writeColumn(n); err != nil {
			return err
		}
	}
	return ss.writeDefsEnd()
}

// controlStmt answers the commands about a prepared statement of the protocol.
func (ss *session) controlStmt(cmd wire.Command, id uint32, p []byte) error {
	st := ss.stmts.Get(id)
	if st == nil || st.control == nil {
		if cmd.Shape() == wire.ShapeNothing {
			return nil
		}
		return refuseStatement.send(ss.client)
	}
	switch cmd {
	case wire.ComStmtClose:
		ss.stmts.Drop(id)
		return nil
	case wire.ComStmtSendLongData:
		st.control.lost = true
		return nil
	case wire.ComStmtReset:
		st.control.lost = false
		return ss.writeOK()
	case wire.ComStmtExecute:
		return ss.executeControl(st.control, p)
	}
	return refuseStatement.send(ss.client)
}

func (ss *session) executeControl(ct *control, p []byte) error {
	n := 0
	for _, a := range ct.st.Args {
		if a.Parameter {
			n++
		}
	}
	var e wire.Execute
	if err := e.Decode(p, n, ct.types, nil, ss.client.Caps); err != nil {
		return err
	}
	st := encdb.Statement{Kind: ct.st.Kind, Args: append([]encdb.Arg(nil), ct.st.Args...)}
	ct.types = ct.types[:0]
	next := 0
	for i := range st.Args {
		if !st.Args[i].Parameter {
			// Handle overwrites parts of a request.
			st.Args[i].Value = append([]byte(nil), st.Args[i].Value...)
			continue
		}
		param := e.Params[next]
		next++
		ct.types = append(ct.types, param.ParamType)
		if param.Null || ct.lost {
			return ss.client.WriteErr(wire.CodeNotSupported, "42000", "the argument is missing")
		}
		st.Args[i] = encdb.Arg{Value: append([]byte(nil), param.Value...)}
	}
	return ss.control(st, true)
}

// writeColumn writes the definition of a column of text.
func (ss *session) writeColumn(name string) error {
	c := wire.Column{Catalog: []byte("def"), Name: []byte(name), Charset: cipherCharset, Length: 1 << 16, Type: wire.TypeVarString}
	return ss.client.WritePacket(c.Append(nil, ss.client.Caps))
}

// writeDefsEnd writes the EOF after definitions where the client expects one.
func (ss *session) writeDefsEnd() error {
	if ss.client.Caps.Has(wire.DeprecateEOF) {
		return nil
	}
	return ss.client.WritePacket(wire.EOF{Status: ss.status()}.Append(nil))
}

func (ss *session) writeOK() error {
	return ss.client.WritePacket(wire.OK{Status: ss.status()}.Append(nil, ss.client.Caps))
}

// status are the flags of the session that an answer of the gate's own repeats.
func (ss *session) status() wire.Status {
	const kept = wire.StatusInTransaction | wire.StatusAutocommit | wire.StatusNoBackslashEscapes | wire.StatusInTransReadonly | wire.StatusANSIQuotes
	return ss.resp.Status & kept
}

// writeResult answers the command at hand with a result of text columns and
// one row, or none.
func (ss *session) writeResult(names []string, row [][]byte, binary bool) error {
	c := ss.client
	if err := c.WritePacket(wire.AppendColumnCount(nil, len(names), c.Caps)); err != nil {
		return err
	}
	types := make([]wire.Type, len(names))
	for i, n := range names {
		types[i] = wire.TypeVarString
		if err := ss.writeColumn(n); err != nil {
			return err
		}
	}
	if err := ss.writeDefsEnd(); err != nil {
		return err
	}
	if row != nil {
		p := wire.AppendTextRow(nil, row...)
		if binary {
			p = wire.AppendBinaryRow(nil, types, row...)
		}
		if err := c.WritePacket(p); err != nil {
			return err
		}
	}
	if c.Caps.Has(wire.DeprecateEOF) {
		return c.WritePacket(wire.OK{End: true, Status: ss.status()}.Append(nil, c.Caps))
	}
	return c.WritePacket(wire.EOF{Status: ss.status()}.Append(nil))
}
