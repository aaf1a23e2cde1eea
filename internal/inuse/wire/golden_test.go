package wire_test

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/inuse/wire"
)

var update = flag.Bool("update", false, "record testdata/*.transcript from the server")

// short is a session whose transcript a person can read.
func short(s *script) {
	for _, sql := range []string{
		"SELECT 1 AS one, NULL AS none, '' AS empty",
		"SELECT id, v FROM kinds WHERE id = 3", "SELECT id FROM kinds WHERE 0",
		"DO 0", "SET @a = 1", "USE mysql", "USE veildb", "SELECT nonsense", "SELECT 1; SELECT nonsense", "SELECT 1; DO 0; SELECT 2",
		"CALL fails()",
	} {
		s.query(sql)
	}
	s.query("LOAD DATA LOCAL INFILE 'file' INTO TABLE sink (a, b)", "1\tone\n")
	s.query("DELETE FROM sink")
	s.do([]byte{byte(wire.ComPing)})
	s.do([]byte{byte(wire.ComSetOption), 1, 0})
	s.do(append([]byte{byte(wire.ComFieldList)}, "sink\x00"...))
	s.prepare("SELECT id, da, bi FROM kinds WHERE id > ? ORDER BY id")
	s.execute(0, text("1"))
	s.execute(wire.CursorReadOnly, text("0"))
	s.stmtCommand(wire.ComStmtFetch, 1, 0, 0, 0)
	s.stmtCommand(wire.ComStmtFetch, 9, 0, 0, 0)
	s.stmtCommand(wire.ComStmtClose)
	s.prepare("CALL two_results(?)")
	s.execute(0, text("1"))
}

// TestGolden feeds recorded answers of a MariaDB 10.11 to a Response and
// compares what it says of each packet. -update records them anew.
func TestGolden(t *testing.T) {
	for _, tc := range []struct {
		name string
		caps wire.Capabilities
	}{
		{"eof", wire.LocalFiles | wire.MultiStatements},
		{"deprecate-eof", wire.LocalFiles | wire.MultiStatements | wire.DeprecateEOF | wire.SessionTrack | wire.MariaDBExtendedMetadata},
		{"cache-metadata", wire.LocalFiles | wire.MultiStatements | wire.DeprecateEOF | wire.MariaDBCacheMetadata},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join("testdata", "mariadb-10.11-"+tc.name+".transcript")
			if *update {
				c := dial(t, server(t).Addr(), &wire.Credential{User: "native", Password: []byte("pw-native"), Database: "veildb", Caps: tc.caps})
				s := &script{t: t, c: c}
				short(s)
				if err := os.WriteFile(file, []byte(s.out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			replay(t, file, tc.caps)
		})
	}
}

func replay(t *testing.T, file string, caps wire.Capabilities) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	near, far := net.Pipe()
	defer near.Close()
	c := wire.NewBackend(near, wire.Limits{})
	srv := wire.NewConn(far, wire.Limits{})
	var r wire.Response
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	n := 0
	for in.Scan() {
		n++
		words := strings.Fields(in.Text())
		if words[0] == ">" {
			if !r.Done() {
				t.Fatalf("line %d: the last answer is not over", n)
			}
			cmd := commandNamed(t, words[1])
			r.Start(cmd, caps)
			c.ResetSequence()
			srv.ResetSequence()
			continue
		}
		p, err := hex.DecodeString(words[2])
		if err != nil {
			t.Fatal(err)
		}
		errs := make(chan error, 1)
		go func() {
			if err := srv.WritePacket(p); err != nil {
				errs <- err
				return
			}
			errs <- srv.Flush()
		}()
		kind, err := r.Next(c)
		if err == nil {
			_, err = c.Load()
		}
		if err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
		if kindNames[kind] != words[1] {
			t.Errorf("line %d: packet is called %s, want %s: %s", n, kindNames[kind], words[1], words[2])
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	if !r.Done() || n == 0 {
		t.Errorf("after %d lines the answer is not over", n)
	}
}

func commandNamed(t *testing.T, name string) wire.Command {
	for c := range 256 {
		if fmt.Sprint(wire.Command(c)) == name {
			return wire.Command(c)
		}
	}
	t.Fatalf("no command is called %s", name)
	return 0
}
