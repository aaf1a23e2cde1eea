package wire_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/wire"
)

func open(t testing.TB, addr, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", "native:pw-native@tcp("+addr+")/veildb?maxAllowedPacket=0"+params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// all is every value of every result of a statement.
func all(t *testing.T, db *sql.DB, query string, args ...any) [][]any {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out [][]any
	for {
		cols, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			vals := make([]any, len(cols))
			ptrs := make([]any, len(cols))
			for i := range vals {
				ptrs[i] = &vals[i]
			}
			if err := rows.Scan(ptrs...); err != nil {
				t.Fatal(err)
			}
			for i, v := range vals {
				if b, ok := v.([]byte); ok {
					vals[i] = bytes.Clone(b)
				}
			}
			out = append(out, vals)
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGoDriver(t *testing.T) {
	r := startRelay(t, &relay{rebuild: true})
	direct, relayed := open(t, server(t).Addr(), "&multiStatements=true"), open(t, r.addr(), "&multiStatements=true")
	for _, tc := range []struct {
		name, query string
		args        []any
	}{
		{"text", "SELECT * FROM kinds ORDER BY id", nil},
		{"binary", "SELECT * FROM kinds WHERE id > ? ORDER BY id", []any{0}},
		{"several results", "SELECT 1; SELECT 2, 'b'; SELECT id FROM kinds ORDER BY id", nil},
		{"procedure", "CALL two_results(@n)", nil},
		{"many rows", "SELECT seq, REPEAT('x', seq % 300) FROM seq_1_to_20000", nil},
		{"many rows prepared", "SELECT seq, REPEAT('x', seq % 300), ? FROM seq_1_to_20000", []any{"p"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want, got := all(t, direct, tc.query, tc.args...), all(t, relayed, tc.query, tc.args...)
			if !reflect.DeepEqual(got, want) || len(want) == 0 {
				t.Errorf("through the relay %d rows, direct %d, and they differ", len(got), len(want))
			}
		})
	}
}

// TestLargePackets sends and reads values around and beyond 16 MiB.
func TestLargePackets(t *testing.T) {
	dbs := map[bool]*sql.DB{}
	for _, rebuild := range []bool{false, true} {
		dbs[rebuild] = open(t, startRelay(t, &relay{rebuild: rebuild}).addr(), "")
	}
	for _, tc := range []struct {
		name            string
		size            int
		binary, rebuild bool
	}{
		{"text row of one full fragment", 1<<24 - 1 - 4, false, false}, // 4 bytes of length before it
		{"text row of two fragments", 1<<24 + 3, false, true},
		{"prepared", 1<<24 + 3, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := bytes.Repeat([]byte("0123456789abcdef"), tc.size/16+1)[:tc.size]
			var back sql.RawBytes
			query, args := "SELECT '"+string(v)+"'", []any(nil)
			if tc.binary {
				query, args = "SELECT ?", []any{v}
			}
			rows, err := dbs[tc.rebuild].Query(query, args...)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			if rows.Next() {
				err = rows.Scan(&back)
			}
			if err != nil || !bytes.Equal(back, v) {
				t.Errorf("%d bytes come back, %v", len(back), err)
			}
		})
	}
}

func TestGoDriverInfile(t *testing.T) {
	r := startRelay(t, &relay{})
	db := open(t, r.addr(), "")
	mysql.RegisterReaderHandler("test", func() io.Reader {
		return strings.NewReader(strings.Repeat("1\tone\n", 100_000))
	})
	defer mysql.DeregisterReaderHandler("test")
	res, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::test' INTO TABLE sink (a, b)")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n != 100_000 {
		t.Errorf("%d rows loaded", n)
	}
	if _, err := db.Exec("DELETE FROM sink"); err != nil {
		t.Fatal(err)
	}
}

// TestKill: what the server says when it ends a connection reaches the client.
func TestKill(t *testing.T) {
	r := startRelay(t, &relay{})
	db := open(t, r.addr(), "")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var id int
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	if got := int(r.lastSession().Greeting.ConnectionID); got != id {
		t.Errorf("greeting says connection %d, server says %d", got, id)
	}
	done := make(chan error, 1)
	go func() {
		var n int
		done <- conn.QueryRowContext(ctx, "SELECT SLEEP(15)").Scan(&n)
	}()
	time.Sleep(100 * time.Millisecond)
	if _, err := open(t, server(t).Addr(), "").ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", id)); err != nil {
		t.Fatal(err)
	}
	var me *mysql.MySQLError
	if err := <-done; err != nil && !errors.As(err, &me) {
		t.Errorf("killed statement: %v", err)
	}
}

// cli runs the mariadb command line against addr.
func cli(t *testing.T, addr, user, password, stdin string, args ...string) (string, error) {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mariadb", append([]string{"--no-defaults", "--host=" + host, "--port=" + port, "--user=" + user, "veildb"}, args...)...)
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+password)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCommandLine(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, certificate().certPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "load")
	if err := os.WriteFile(file, []byte("1\tone\n2\ttwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := startRelay(t, &relay{})
	withTLS := startRelay(t, &relay{cfg: wire.LoginConfig{ClientTLS: serverTLS(t), RequireTLS: true}})
	script := "SELECT * FROM kinds ORDER BY id\\G SHOW WARNINGS; CALL two_results(@n); SELECT @n; USE mysql; SELECT DATABASE(); USE veildb;" +
		"LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE sink (a, b); SELECT * FROM sink ORDER BY a; DELETE FROM sink; SELECT nonsense; SELECT 'after';"
	for _, tc := range []struct {
		name, user, password string
		relay                *relay
		args                 []string
		ok                   bool
	}{
		{"native", "native", "pw-native", plain, nil, true},
		{"native compressed", "native", "pw-native", plain, []string{"--compress"}, true},
		{"native by another default plugin", "native", "pw-native", plain, []string{"--default-auth=client_ed25519"}, true},
		{"clear password as default plugin", "native", "pw-native", plain, []string{"--default-auth=mysql_clear_password"}, true},
		{"dialog as default plugin", "native", "pw-native", plain, []string{"--default-auth=dialog"}, true},
		{"ed25519", "ed", "pw-ed", plain, nil, true},
		{"second plugin of two", "two", "pw-native", plain, nil, true},
		{"TLS", "native", "pw-native", withTLS, []string{"--ssl-ca=" + ca, "--ssl-verify-server-cert"}, true},
		{"TLS ed25519", "ed", "pw-ed", withTLS, []string{"--ssl-ca=" + ca}, true},
		{"wrong password", "ed", "x", plain, nil, false},
		{"no TLS where it is required", "native", "pw-native", withTLS, []string{"--skip-ssl"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"--force", "--table", "--local-infile=1", "--show-warnings"}, tc.args...)
			got, err := cli(t, tc.relay.addr(), tc.user, tc.password, script, args...)
			if !tc.ok {
				if err == nil || !strings.Contains(got, "ERROR") {
					t.Errorf("no error, but %.300s", got)
				}
				return
			}
			want, _ := cli(t, server(t).Addr(), "native", "pw-native", script, args[:4]...)
			got, want = noTimes(got), noTimes(want)
			if got != want || !strings.Contains(got, "after") {
				diff(t, "through the relay", got, want)
			}
		})
	}
}

// noTimes leaves out lines that hold a duration.
func noTimes(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		if !strings.Contains(line, " sec)") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// TestMasked: what would blind a relay is not agreed on, though the client asks.
func TestMasked(t *testing.T) {
	r := startRelay(t, &relay{})
	if _, err := cli(t, r.addr(), "native", "pw-native", "SELECT 1", "--compress"); err != nil {
		t.Fatal(err)
	}
	g := r.lastSession().Greeting
	if !g.Capabilities.Has(wire.Compress | wire.MariaDBBulk) {
		t.Fatal("the server does not offer what this test is about")
	}
	c := dial(t, r.addr(), &wire.Credential{User: "nopw", Caps: ^wire.Capabilities(0) &^ (wire.SSL | wire.LongPassword | wire.ConnectWithDB)})
	if bad := c.Caps &^ wire.Relayable; bad != 0 {
		t.Errorf("agreed on %x", uint64(bad))
	}
}
