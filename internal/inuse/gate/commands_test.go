package gate

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// TestEveryCommand sends each command there can be, with and without arguments. An
// account that may see all gets what the server answers, or is told that the command
// does not pass; a restricted one gets nothing but from those that are known to be
// safe. Whatever it was, the session goes on, unless the server ends it too.
func TestEveryCommand(t *testing.T) {
	g := startGate(t, nil)
	root := rootOn(t, g)
	root.must("CREATE OR REPLACE USER plain@'%'") // may not stop the server
	root.must("GRANT ALL ON hr.* TO plain@'%'")
	t.Cleanup(func() { root.must("DROP USER plain@'%'") })
	g.source.Write(t.Context(), nil, []byte(strings.Replace(testRules, "full: [", "full: [plain, ", 1)))
	if _, err := g.rules.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Of no server, which has them do nothing, refuse them, or answer with a form of
	// their own.
	elsewhere := map[wire.Command]bool{
		wire.ComChangeUser: true, wire.ComQuit: true, wire.ComStatistics: true, wire.ComProcessInfo: true, // times and threads
		wire.ComRefresh: true, wire.ComDebug: true, // no privilege: told below
	}
	arguments := func(cmd wire.Command) [][]byte {
		kill := binary.LittleEndian.AppendUint32(nil, 0x7fffffff) // nobody
		return map[wire.Command][][]byte{
			wire.ComQuery: {[]byte("SELECT 1")}, wire.ComInitDB: {[]byte("hr"), []byte("nonesuch")}, wire.ComFieldList: {[]byte("dept\x00%")},
			wire.ComCreateDB: {[]byte("hr")}, wire.ComDropDB: {[]byte("nonesuch")}, wire.ComProcessKill: {kill},
			wire.ComSetOption: {{0, 0}, {1, 0}, {9, 9}}, wire.ComStmtPrepare: {[]byte("SELECT 1")},
			wire.ComStmtExecute: {{9, 0, 0, 0, 0, 1, 0, 0, 0}}, wire.ComStmtFetch: {{9, 0, 0, 0, 1, 0, 0, 0}}, wire.ComStmtReset: {{9, 0, 0, 0}},
			wire.ComStmtClose: {{9, 0, 0, 0}}, wire.ComStmtSendLongData: {{9, 0, 0, 0, 0, 0, 'x'}}, wire.ComShutdown: {{0}},
			wire.ComBinlogDump: {{4, 0, 0, 0, 0, 0, 9, 0, 0, 0}}, wire.ComTableDump: {[]byte("\x02hr\x08employee")},
			wire.ComRegisterReplica: {append([]byte{9, 0, 0, 0}, make([]byte, 15)...)}, wire.ComBulkExecute: {{9, 0, 0, 0, 0, 0}},
			wire.ComMulti: {append([]byte{22, 0, 0, 0, 3}, "SELECT ssn FROM employee"...)},
		}[cmd]
	}
	answers := func(addr, user string, cmd wire.Command, args []byte) string {
		at := dialRaw(t, addr, user, "hr", 0)
		defer at.Close()
		tr := transcript{marked: map[int]bool{}}
		if err := at.do(&tr, append([]byte{byte(cmd)}, args...)); err != nil {
			return "ends: " + kindOf(err)
		}
		if err := at.query(&tr, "SELECT 'here'"); err != nil {
			return "ends afterwards: " + kindOf(err)
		}
		return tr.String()
	}
	for i := range 256 {
		cmd := wire.Command(i)
		for _, args := range append(arguments(cmd), nil) {
			if cmd.Shape() == wire.ShapeRefused || cmd.Shape() == wire.ShapeLogin || cmd == wire.ComQuit {
				continue
			}
			if args == nil && len(arguments(cmd)) > 0 && (cmd == wire.ComProcessKill || strings.HasPrefix(cmd.String(), "STMT_")) {
				continue // cut short: the gate ends the connection, the server reads what is not there
			}
			direct, through := answers(backendServer(t).Addr(), "plain", cmd, args), answers(g.addr, "plain", cmd, args)
			if !elsewhere[cmd] && direct != through {
				t.Errorf("%s %q: directly %s\nthrough the gate %s", cmd, args, direct, through)
			}
			if strings.HasPrefix(through, "ends") && !strings.HasPrefix(direct, "ends") {
				t.Errorf("%s %q: %s", cmd, args, through)
			}
		}
	}
	safe := map[wire.Command]bool{
		wire.ComQuery: true, wire.ComInitDB: true, wire.ComPing: true, wire.ComResetConnection: true, wire.ComSetOption: true,
		wire.ComStmtPrepare: true, wire.ComStmtExecute: true, wire.ComStmtFetch: true, wire.ComStmtReset: true, wire.ComStmtClose: true, wire.ComStmtSendLongData: true,
	}
	for i := range 256 {
		cmd := wire.Command(i)
		if cmd == wire.ComQuit || cmd == wire.ComChangeUser {
			continue
		}
		for _, user := range []string{"plain", "app"} {
			if user == "plain" && cmd.Shape() != wire.ShapeRefused || user == "app" && safe[cmd] {
				continue
			}
			for _, args := range append(arguments(cmd), nil) {
				at := dialRaw(t, g.addr, user, "hr", 0)
				at.WriteCommand(append([]byte{byte(cmd)}, args...))
				p, err := at.ReadPacket()
				if err != nil {
					t.Errorf("%s %s %q: %v", user, cmd, args, err)
					continue
				}
				e, err := wire.DecodeErr(p)
				if err != nil || !strings.Contains(string(e.Message), "gate") {
					t.Errorf("%s %s %q: answered %q", user, cmd, args, p)
				}
				rows(t, at, "text", "SELECT 1")
				at.Close()
			}
		}
	}
}

// kindOf is an error without the addresses it names.
func kindOf(err error) string {
	for _, known := range []error{io.EOF, io.ErrUnexpectedEOF, wire.ErrMalformed, wire.ErrOutOfOrder} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "connection failed"
}
