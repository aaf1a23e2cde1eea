package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
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
		err := ss.pass(cmd, p, verdict{}, nil)
		if cmd == wire.ComResetConnection {
			clear(ss.stmts)
			ss.last, ss.synced = 0, false
		}
		return err
	case wire.ComSetOption:
		// Multi-statements stay off, whatever the client asks for.
		if o, err := wire.DecodeSetOption(p); err != nil || o != 1 {
			return ss.refuse(refuseMulti, "")
		}
		return ss.pass(cmd, p, verdict{}, nil)
	}
	return ss.refuse(refuseCommand, "")
}

// refuse answers the command at hand with a refusal.
func (ss *session) refuse(r *Refusal, c class) error {
	ss.srv.count.refused.Add(1)
	ss.event(Event{Kind: "refused", Rule: r.Rule, Reason: r.Reason, Class: string(c), Level: ss.view.Least().String()})
	return r.send(ss.client)
}

// sync learns the settings of the session that decide how the server reads its
// statements.
func (ss *session) sync() error {
	if ss.synced {
		return nil
	}
	ss.bad, ss.reader = "", nil
	err := queryStrings(ss.server, "SELECT @@sql_mode, @@character_set_client, IFNULL(@@character_set_results,'binary'), IFNULL(DATABASE(),'')", func(v []string) {
		ss.mode = token.Mode{}
		for _, m := range strings.Split(fold(v[0]), ",") {
			switch {
			case m == "no_backslash_escapes":
				ss.mode.NoBackslash = true
			case m == "ansi_quotes":
				ss.mode.ANSIQuotes = true
			case m != "" && !readableModes[m]:
				ss.bad = "sql_mode"
			}
		}
		if !readableCharsets[fold(v[1])] || !readableCharsets[fold(v[2])] {
			ss.bad = "character set"
		}
		ss.mode.SingleByte = !strings.HasPrefix(fold(v[1]), "utf8")
		// Unconverted metadata is as the server stores it, in UTF-8.
		ss.utf8 = strings.HasPrefix(fold(v[2]), "utf8") || fold(v[2]) == "binary"
		ss.database = v[3]
	})
	var se *wire.ServerError
	if errors.As(err, &se) {
		ss.bad = "settings"
		return nil
	}
	ss.synced = err == nil
	return err
}

// prepareReader makes the reader fit for the catalog and rules as they are now.
func (ss *session) prepareReader() *Refusal {
	cat, err := ss.backend.Catalog(context.Background())
	if err != nil {
		return refuseCatalog
	}
	if ss.reader == nil || ss.reader.cat != cat {
		ss.reader = &reader{access: ss.srv.access(accessKey{cat, ss.rules.Number, ss.user, ss.host}, ss.view)}
	}
	ss.reader.mode, ss.reader.database = ss.mode, ss.database
	return nil
}

// judge is reader.judge for a statement of this session.
func (ss *session) judge(sql []byte) (verdict, *Refusal) {
	if ref := ss.prepareReader(); ref != nil {
		return verdict{}, ref
	}
	v, ref := ss.reader.recall(sql)
	if ref == refuseTable && ss.backend.doubted() {
		if ref = ss.prepareReader(); ref == nil {
			v, ref = ss.reader.recall(sql)
		}
	}
	if ref == nil && ss.bad != "" && (v.class != classSet || !ascii(sql)) {
		return v, &Refusal{refuseState.Rule, refuseState.Reason + ": " + ss.bad}
	}
	return v, ref
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
		return ss.refuse(ref, v.class)
	}
	if v.class == classWarnings {
		return ss.writeResult([]string{"Level", "Code", "Message"}, nil, false)
	}
	if v.class == classSet || v.class == classUse {
		ss.synced = false
	}
	return ss.pass(wire.ComQuery, wire.AppendQuery(nil, q.Attrs, v.sql, ss.server.Caps), v, nil)
}

func (ss *session) guardInitDB(p []byte) error {
	db, err := wire.DecodeInitDB(p)
	if err != nil {
		return err
	}
	if systemSchema(fold(string(db))) {
		return ss.refuse(refuseTable, classUse)
	}
	ss.synced = false
	return ss.pass(wire.ComInitDB, p, verdict{}, nil)
}

func (ss *session) guardPrepare(p []byte) error {
	sql, err := wire.DecodeStmtPrepare(p)
	if err != nil {
		return err
	}
	ss.last = 0
	v, ref := ss.judge(sql)
	if ref == nil && v.class == classWarnings {
		ref = refuseClass
	}
	if ref != nil {
		return ss.refuse(ref, v.class)
	}
	st := &stmt{sql: slices.Clone(sql), mode: ss.mode, db: ss.database, v: v, access: ss.reader.access}
	st.v.sql = nil // a view
	return ss.pass(wire.ComStmtPrepare, append([]byte{byte(wire.ComStmtPrepare)}, v.sql...), v, st)
}

// guardStmt answers the commands about a prepared statement.
func (ss *session) guardStmt(cmd wire.Command, p []byte) error {
	id, err := wire.StmtID(p)
	if err != nil {
		return err
	}
	if id == wire.LastPrepared {
		id = ss.last
	}
	st := ss.stmts[id]
	if st == nil || st.control != nil {
		if cmd.Shape() == wire.ShapeNothing {
			return nil // has no answer
		}
		return ss.refuse(refuseStatement, "")
	}
	switch cmd {
	case wire.ComStmtClose:
		delete(ss.stmts, id)
	case wire.ComStmtFetch:
		return ss.fetch(p, st)
	case wire.ComStmtExecute:
		if ref := ss.rejudge(st); ref != nil {
			return ss.refuse(ref, st.v.class)
		}
		if st.v.class == classSet || st.v.class == classUse {
			ss.synced = false
		}
		return ss.pass(cmd, p, st.v, st)
	}
	return ss.pass(cmd, p, verdict{}, nil)
}

// rejudge judges a prepared statement again if tables or rules have changed.
func (ss *session) rejudge(st *stmt) *Refusal {
	if ref := ss.prepareReader(); ref != nil {
		return ref
	}
	if st.access == ss.reader.access {
		return nil
	}
	ss.reader.mode, ss.reader.database = st.mode, st.db
	v, ref := ss.reader.recall(st.sql)
	if ref != nil {
		return ref
	}
	st.v, st.access = v, ss.reader.access
	return nil
}

// cellLevel is that of the cells a decision leads to.
func cellLevel(d policy.Decision) policy.Level { return min(d.Level, policy.Ciphertext) }
