package gate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/lineage"
	"github.com/veildb/veildb/internal/sql/token"
)

// guard answers a command of a restricted account.
func (ss *session) guard(cmd wire.Command, p []byte) error {
	if !ss.granted { // restricted since its login
		if err := ss.checkGrants(); errors.Is(err, ErrPrivileges) {
			return ss.refuse(&Refusal{"privileges", err.Error()}, "")
		} else if err != nil {
			return err
		}
	}
	if err := ss.confine(); err != nil {
		return err
	}
	if err := ss.sync(); err != nil {
		return err
	}
	defer ss.forget()
	switch cmd {
	case wire.ComQuery:
		return ss.guardQuery(p)
	case wire.ComStmtPrepare:
		return ss.guardPrepare(p)
	case wire.ComStmtExecute, wire.ComStmtFetch, wire.ComStmtReset, wire.ComStmtClose, wire.ComStmtSendLongData:
		return ss.guardStmt(cmd, p)
	case wire.ComInitDB:
		return ss.guardInitDB(p)
	case wire.ComPing, wire.ComResetConnection:
		if _, err := wire.DecodeBare(p); err != nil {
			return err
		}
		err := ss.pass(cmd, p, noResult, nil)
		if cmd == wire.ComResetConnection {
			ss.stmts.Clear()
			ss.temporary.clear()
			ss.last, ss.synced = 0, false
		}
		return err
	case wire.ComSetOption:
		// Multi-statements stay off, whatever the client asks for.
		if o, err := wire.DecodeSetOption(p); err != nil || o != 1 {
			return ss.refuse(refuseMulti, "")
		}
		return ss.pass(cmd, p, noResult, nil)
	}
	return ss.refuse(refuseCommand, "")
}

// refuse answers the command at hand with a refusal.
func (ss *session) refuse(r *Refusal, c lineage.Class) error {
	ss.refused(r, c)
	return r.send(ss.client)
}

// refused counts a refusal and tells the audit log.
func (ss *session) refused(r *Refusal, c lineage.Class) {
	ss.srv.count.refused.Add(1)
	n, _ := ss.srv.refusals.LoadOrStore(r.Rule, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	ss.event(Event{Kind: "refused", Rule: r.Rule, Reason: r.Reason, Class: string(c), Level: ss.view.Least().String()})
}

// confine makes an account that was free until now begin anew: nobody knows what
// its temporary tables and variables hold.
func (ss *session) confine() error {
	if !ss.free {
		return nil
	}
	if ss.inTx.Load() {
		return errFree
	}
	if err := ss.server.WriteCommand([]byte{byte(wire.ComResetConnection)}); err != nil {
		return err
	}
	var resp wire.Response
	for resp.Start(wire.ComResetConnection, ss.server.Caps); !resp.Done(); {
		if kind, err := resp.Next(ss.server); err != nil {
			return fmt.Errorf("reset session: %w", err)
		} else if kind == wire.KindErr {
			return errFree
		}
	}
	ss.stmts.Clear()
	ss.temporary.clear()
	ss.last, ss.synced, ss.free = 0, false, false
	return nil
}

// namesOnly are the errors whose text holds nothing but names of the statement:
// a database, table, column, function or variable is not there.
var namesOnly = map[uint16]bool{1049: true, 1051: true, 1052: true, 1054: true, 1109: true, 1146: true, 1193: true, 1305: true}

// namesMissing are the refusals that may be because of that.
var namesMissing = words("unknown-table unknown-column function variable")

// decline refuses a statement, in the server's own words if it names a thing that
// the server has not either: programs look for that error.
func (ss *session) decline(ref *Refusal, v verdict) error {
	if !namesMissing[ref.Rule] || v.sql == nil {
		return ss.refuse(ref, v.Class)
	}
	if err := ss.server.WriteCommand(append([]byte{byte(wire.ComStmtPrepare)}, v.sql...)); err != nil {
		return err
	}
	var resp wire.Response
	for resp.Start(wire.ComStmtPrepare, ss.server.Caps); !resp.Done(); {
		kind, err := resp.Next(ss.server)
		if err != nil {
			return err
		}
		if kind != wire.KindErr {
			continue
		}
		e, err := wire.DecodeErr(ss.server.Payload())
		if err != nil {
			return err
		}
		if namesOnly[e.Code] {
			ss.refused(ref, v.Class)
			return ss.server.CopyTo(ss.client)
		}
	}
	if id := resp.Prepared.ID; id != 0 {
		if err := ss.server.WriteCommand(binary.LittleEndian.AppendUint32([]byte{byte(wire.ComStmtClose)}, id)); err != nil {
			return err
		}
		if err := ss.server.Flush(); err != nil {
			return err
		}
	}
	return ss.refuse(ref, v.Class)
}

// sync learns the settings of the session that decide how the server reads its
// statements.
func (ss *session) sync() error {
	if ss.synced {
		return nil
	}
	ss.bad, ss.reader = "", nil
	known := false
	err := queryStrings(ss.server, settingsQuery, func(v []string) {
		ss.mode, ss.utf8, ss.bad = readSettings(v)
		ss.database, known = v[3], true
	})
	var se *wire.ServerError
	if errors.As(err, &se) || err == nil && !known {
		ss.bad = "settings"
		return nil
	}
	ss.synced = err == nil
	return err
}

// settingsQuery asks for the settings that decide how statements are read. LIMIT
// stands against sql_select_limit, CAST against results in other character sets: the
// catalog's names are UTF-8.
const settingsQuery = "SELECT @@sql_mode, @@character_set_client, IFNULL(@@character_set_results,'binary'), IFNULL(CAST(DATABASE() AS BINARY),'') LIMIT 1"

// readSettings reads a row of settingsQuery. utf8 says that metadata comes in
// UTF-8, bad why statements cannot be read.
func readSettings(v []string) (mode token.Mode, utf8 bool, bad string) {
	for _, m := range strings.Split(fold(v[0]), ",") {
		switch {
		case m == "no_backslash_escapes":
			mode.NoBackslash = true
		case m == "ansi_quotes":
			mode.ANSIQuotes = true
		case m == "pipes_as_concat":
			mode.PipesAsConcat = true
		case m == "ignore_space":
			mode.IgnoreSpace = true
		case m == "high_not_precedence":
			mode.HighNot = true
		case m != "" && !readableModes[m]:
			bad = "sql_mode"
		}
	}
	if !readableCharsets[fold(v[1])] || !readableCharsets[fold(v[2])] {
		bad = "character set"
	}
	mode.SingleByte = !strings.HasPrefix(fold(v[1]), "utf8")
	// Unconverted metadata is as the server stores it, in UTF-8.
	return mode, strings.HasPrefix(fold(v[2]), "utf8") || fold(v[2]) == "binary", bad
}

// prepareReader makes the reader fit for the catalog and rules as they are now.
func (ss *session) prepareReader() *Refusal {
	cat, err := ss.backend.Catalog(context.Background())
	if err != nil {
		return refuseCatalog
	}
	if ss.reader == nil || ss.reader.cat != cat {
		a := ss.srv.access(ss.backend, accessKey{cat, ss.rules.Number, ss.user, ss.host}, ss.view)
		ss.reader = &reader{access: a, tables: &ss.temporary}
	}
	ss.reader.set(ss.mode, ss.database)
	return nil
}

// judge is reader.judge for a statement of this session.
func (ss *session) judge(sql []byte) (verdict, *Refusal) {
	ss.asked = ss.backend.asked.Load()
	if ref := ss.prepareReader(); ref != nil {
		return noResult, ref
	}
	v := ss.reader.judge(sql)
	if v.refusal != nil && v.refusal.Rule == refuseTable.Rule && ss.backend.doubted() {
		if ref := ss.prepareReader(); ref != nil {
			return noResult, ref
		}
		v = ss.reader.judge(sql)
	}
	switch {
	case v.refusal != nil:
		return v, v.refusal
	case v.Class == lineage.ClassUse && systemSchema(fold(v.Database)):
		return v, refuseTable
	case ss.bad != "" && (v.Class != lineage.ClassSet || !ascii(sql)):
		return v, &Refusal{refuseState.Rule, refuseState.Reason + ": " + ss.bad}
	}
	return v, nil
}

func ascii(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= 0x80 })
}

func (ss *session) guardQuery(p []byte) error {
	q, err := wire.DecodeQuery(p, ss.client.Caps)
	if err != nil {
		return err
	}
	v, ref := ss.judge(q.SQL)
	if ref != nil {
		return ss.decline(ref, v)
	}
	if v.Class == lineage.ClassWarnings {
		return ss.writeResult([]string{"Level", "Code", "Message"}, nil, false)
	}
	if ref := ss.spend(v.judgement); ref != nil {
		return ss.refuse(ref, v.Class)
	}
	return ss.perform(wire.ComQuery, wire.AppendQuery(nil, q.Attrs, v.sql, ss.server.Caps), v, nil)
}

func (ss *session) guardInitDB(p []byte) error {
	db, err := wire.DecodeInitDB(p)
	if err != nil {
		return err
	}
	if systemSchema(fold(string(db))) {
		return ss.refuse(refuseTable, lineage.ClassUse)
	}
	ss.synced = false
	return ss.pass(wire.ComInitDB, p, noResult, nil)
}

func (ss *session) guardPrepare(p []byte) error {
	sql, err := wire.DecodeStmtPrepare(p)
	if err != nil {
		return err
	}
	ss.last = 0
	v, ref := ss.judge(sql)
	if ref == nil && v.Class == lineage.ClassWarnings {
		ref = refuseClass
	}
	if ref != nil {
		return ss.decline(ref, v)
	}
	st := &stmt{sql: slices.Clone(sql), mode: ss.mode, db: ss.database, v: v, access: ss.reader.access, tables: ss.temporary.id()}
	st.v.sql = nil // a view
	return ss.pass(wire.ComStmtPrepare, append([]byte{byte(wire.ComStmtPrepare)}, v.sql...), v, st)
}

// statementOf returns the prepared statement of the server's that a command names,
// nil if there is none.
func (ss *session) statementOf(p []byte) (id uint32, st *stmt, err error) {
	if id, err = wire.StmtID(p); err != nil {
		return 0, nil, err
	}
	if id == wire.LastPrepared {
		id = ss.last
	}
	if st = ss.stmts.Get(id); st != nil && st.control != nil {
		st = nil
	}
	return id, st, nil
}

// guardStmt answers the commands about a prepared statement.
func (ss *session) guardStmt(cmd wire.Command, p []byte) error {
	id, st, err := ss.statementOf(p)
	if err != nil {
		return err
	}
	if st == nil {
		if cmd.Shape() == wire.ShapeNothing {
			return nil // has no answer
		}
		return ss.refuse(refuseStatement, "")
	}
	switch cmd {
	case wire.ComStmtClose:
		ss.stmts.Drop(id)
	case wire.ComStmtFetch:
		return ss.fetch(p, st)
	case wire.ComStmtExecute:
		ref := ss.rejudge(st)
		if ref == nil && ss.bad != "" && st.v.Class != lineage.ClassSet {
			ref = &Refusal{refuseState.Rule, refuseState.Reason + ": " + ss.bad}
		}
		if ref == nil {
			ref = ss.spend(st.v.judgement)
		}
		if ref == nil && !ss.reader.texts(st, p, ss.client.Caps) {
			ref = refuseType
		}
		if ref != nil {
			return ss.refuse(ref, st.v.Class)
		}
		return ss.perform(cmd, p, st.v, st)
	}
	return ss.pass(cmd, p, noResult, nil)
}

// texts takes note of the types of an execution's parameters, and reports whether
// those that are compared with protected texts are no numbers or times: with such,
// the server compares what texts begin with.
func (r *reader) texts(st *stmt, p []byte, caps wire.Capabilities) bool {
	if r.types = wire.ParamTypes(r.types[:0], p, st.params, caps); len(r.types) > 0 {
		st.types = append(st.types[:0], r.types...)
	}
	for _, n := range st.v.TextParams {
		if n > len(st.types) || len(st.types) == 0 {
			return false
		}
		of := st.types
		if n > 0 {
			of = of[n-1 : n]
		}
		for _, t := range of {
			if !textTypes[t] {
				return false
			}
		}
	}
	return true
}

// textTypes are the types of parameters that are texts, or NULL.
var textTypes = map[wire.Type]bool{
	wire.TypeNull: true, wire.TypeVarchar: true, wire.TypeVarString: true, wire.TypeString: true, wire.TypeJSON: true, wire.TypeEnum: true, wire.TypeSet: true,
	wire.TypeTinyBlob: true, wire.TypeMediumBlob: true, wire.TypeLongBlob: true, wire.TypeBlob: true,
}

// rejudge judges a prepared statement again if tables or rules have changed.
func (ss *session) rejudge(st *stmt) *Refusal {
	ss.asked = ss.backend.asked.Load()
	if ref := ss.prepareReader(); ref != nil {
		return ref
	}
	if st.access == ss.reader.access && st.tables == ss.temporary.id() {
		return nil
	}
	ss.reader.set(st.mode, st.db)
	v := ss.reader.judge(st.sql)
	if v.refusal != nil {
		return v.refusal
	}
	st.v, st.access, st.tables = verdict{v.judgement, nil}, ss.reader.access, ss.temporary.id()
	return nil
}

// perform passes a statement, and takes note of what it changes.
func (ss *session) perform(cmd wire.Command, p []byte, v verdict, st *stmt) error {
	if v.Counted && ss.compared {
		return ss.refuse(refuseCounted, v.Class)
	}
	switch v.Class {
	case lineage.ClassSet, lineage.ClassUse:
		ss.synced = false
	case lineage.ClassSelect, lineage.ClassInsert, lineage.ClassUpdate, lineage.ClassDelete:
		// With FoundRows the server counts rows that UPDATE matched, changed or not.
		compares := v.Compares && !(v.Class == lineage.ClassUpdate && ss.server.Caps.Has(wire.FoundRows))
		defer func() { ss.compared = compares || ss.compared && ss.answer.failed }()
	case lineage.ClassDefine:
		ss.backend.changed()
		defer ss.backend.changed()
	}
	err := ss.pass(cmd, p, v, st)
	if err == nil && !ss.answer.failed {
		ss.temporary.ran(ss.reader.cat, v.Verdict)
	}
	return err
}

// cellLevel is that of the cells a decision leads to.
func cellLevel(d policy.Decision) policy.Level { return min(d.Level, policy.Ciphertext) }
