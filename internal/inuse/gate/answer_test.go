package gate

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
	"github.com/veildb/veildb/internal/sql/schema"
)

// canned is a connection whose peer says the same after each write.
type canned struct {
	net.Conn
	answer []byte
	at     int
}

func (c *canned) Read(b []byte) (int, error) {
	if c.at == len(c.answer) {
		return 0, io.EOF
	}
	n := copy(b, c.answer[c.at:])
	c.at += n
	return n, nil
}

func (c *canned) Write(b []byte) (int, error) {
	c.at = 0
	return len(b), nil
}

func (*canned) Close() error                     { return nil }
func (*canned) SetReadDeadline(time.Time) error  { return nil }
func (*canned) SetWriteDeadline(time.Time) error { return nil }
func (*canned) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*canned) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// cannedResult is the answer to the execution of a prepared statement, or if
// prepare, to its preparation: rows of 10 columns of 24 bytes.
func cannedResult(rows int, prepare bool) []byte {
	var buf bytes.Buffer
	w := &sink{&canned{}, &buf}
	c := wire.NewConn(w, wire.Limits{})
	c.Caps = wire.Protocol41
	c.SetSequence(1)
	const columns = 10
	if prepare {
		c.WritePacket(wire.Prepared{ID: 1, Columns: columns}.Append(nil))
	} else {
		c.WritePacket([]byte{columns})
	}
	types, values := make([]wire.Type, columns), make([][]byte, columns)
	for i := range columns {
		name := fmt.Appendf(nil, "c%d", i)
		col := wire.Column{Catalog: []byte("def"), Schema: []byte("db"), OrgTable: []byte("t"), Table: []byte("t"), Type: wire.TypeVarString, OrgName: name, Name: name, Charset: 45, Length: 96}
		types[i], values[i] = col.Type, bytes.Repeat([]byte("v"), 24)
		c.WritePacket(col.Append(nil, c.Caps))
	}
	c.WritePacket(wire.EOF{Status: wire.StatusAutocommit}.Append(nil))
	if !prepare {
		row := wire.AppendBinaryRow(nil, types, values...)
		for range rows {
			c.WritePacket(row)
		}
		c.WritePacket(wire.EOF{Status: wire.StatusAutocommit}.Append(nil))
	}
	c.Flush()
	return buf.Bytes()
}

type sink struct {
	*canned
	to io.Writer
}

func (s *sink) Write(b []byte) (int, error) { return s.to.Write(b) }

// cannedSession is a session of an account with statement 1 prepared, in which
// so many columns are protected, before a server that answers an execution with
// rows.
func cannedSession(tb testing.TB, rows, protected int) (ss *session, server *canned, execute []byte) {
	tb.Helper()
	rules := "version: 1\naccounts: {ciphertext: [app]}\nrules:\n  - {name: other, databases: [db], tables: [u], columns: [x], inference: documented}\n"
	table := &schema.Table{TableName: schema.TableName{Database: "db", Table: "t"}, Engine: "InnoDB"}
	other := &schema.Table{TableName: schema.TableName{Database: "db", Table: "u"}, Engine: "InnoDB", Columns: []schema.TableColumn{{Name: "x"}}}
	for i := range 10 {
		table.Columns = append(table.Columns, schema.TableColumn{Name: fmt.Sprintf("c%d", i)})
		if i < protected {
			rules += fmt.Sprintf("  - {name: r%d, databases: [db], tables: [t], columns: [c%d], inference: documented}\n", i, i)
		}
	}
	user := "app"
	if protected < 0 {
		rules, user = "version: 1\naccounts: {full: [boss]}\nrules: []\n", "boss"
	}
	store, err := policy.NewStore(context.Background(), &memorySource{text: rules}, schema.MatchCase)
	if err != nil {
		tb.Fatal(err)
	}
	cat := schema.NewCatalog(schema.Server{MariaDB: true, Version: 101100}, schema.MatchCase)
	for _, t := range []*schema.Table{table, other} {
		cat.Tables[cat.Key(t.TableName)] = t
	}
	b := &Backend{}
	b.current.Store(cat)
	srv := New(Config{Backends: []*Backend{b}, Rules: store, EncDB: &encdb.Config{AllowClear: true}})
	server = &canned{}
	ss = &session{srv: srv, backend: b, user: user, rules: store.Current(), utf8: true, synced: true, database: "db", granted: true,
		client: wire.NewConn(&canned{}, wire.Limits{Write: time.Minute}), server: wire.NewBackend(server, wire.Limits{Write: time.Minute})}
	ss.client.Caps, ss.server.Caps = wire.Protocol41, wire.Protocol41
	wire.Link(ss.client, ss.server)
	ss.view = ss.rules.For(user, "")
	ss.enc = srv.cfg.EncDB.NewSession(encdb.Account{User: user})
	agree(tb, ss.enc)
	server.answer = cannedResult(0, true)
	if err := ss.command(append([]byte{byte(wire.ComStmtPrepare)}, "SELECT * FROM t WHERE c0 = ?"...)); err != nil {
		tb.Fatal(err)
	}
	server.answer = cannedResult(rows, false)
	return ss, server, append([]byte{byte(wire.ComStmtExecute)}, append(binary.LittleEndian.AppendUint32(nil, 1), 0, 1, 0, 0, 0)...)
}

// agree hands a master key over to a session.
func agree(tb testing.TB, session *encdb.Session) {
	tb.Helper()
	key, err := secret.From([]byte("0123456789abcdef"))
	if err != nil {
		tb.Fatal(err)
	}
	defer key.Close()
	client, err := encdb.NewClient(encdb.ClientConfig{MEK: key})
	if err != nil {
		tb.Fatal(err)
	}
	cell, _ := session.Handle(encdb.Recognise(client.Hello(), false).Args[0].Value)
	request, err := client.Provision(cell)
	if err != nil {
		tb.Fatal(err)
	}
	session.Handle(encdb.Recognise(request, false).Args[0].Value)
	if !session.Provisioned() {
		tb.Fatal("no key was handed over")
	}
}

// run runs a statement as serve does.
func (ss *session) run(tb testing.TB, command []byte) {
	tb.Helper()
	ss.client.ResetSequence()
	if err := ss.command(command); err != nil {
		tb.Fatal(err)
	}
	if err := ss.client.Flush(); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkExecute is what an execution of a prepared statement costs the gate,
// system calls left out; protected=-1 is an account that may see all.
func BenchmarkExecute(b *testing.B) {
	for _, rows := range []int{1, 100} {
		for _, protected := range []int{-1, 0, 1, 10} {
			b.Run(fmt.Sprintf("rows=%d/protected=%d", rows, protected), func(b *testing.B) {
				ss, _, execute := cannedSession(b, rows, protected)
				b.ReportAllocs()
				for b.Loop() {
					ss.run(b, execute)
				}
			})
		}
	}
}
