package veilsql_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/sidecar/sidecartest"
	"github.com/veildb/veildb/veilsql"
)

// clean fails if an error shows the key, the password or protected values.
func clean(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	text := err.Error()
	for _, secret := range []string{string(mek), hex.EncodeToString(mek), sidecartest.Password, "Ada", "4100000000"} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
			t.Errorf("error shows a secret: %s", text)
		}
	}
}

// registry accepts the one key it is first shown.
func registry(t testing.TB) *encdb.Registry {
	t.Helper()
	r, err := encdb.OpenRegistry(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestKeysOfTheServer(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, _, _ := ed25519.GenerateKey(rand.Reader)
	constant, err := encdb.GenerateKeyPair(encdb.SM2CBC)
	if err != nil {
		t.Fatal(err)
	}
	signs := gate(t, &sidecartest.Gate{Encdb: encdb.Config{Identity: private}})
	anonymous := gate(t, &sidecartest.Gate{})
	vendor := gate(t, &sidecartest.Gate{Stranger: true, Encdb: encdb.Config{NewKeyPair: func() (*encdb.KeyPair, error) { return constant, nil }}})
	inClear := func() *sidecartest.Gate {
		g := gate(t, &sidecartest.Gate{Encdb: encdb.Config{Identity: private, AllowClear: true}})
		return g
	}()
	skip := veilsql.WithTLS(&tls.Config{InsecureSkipVerify: true})
	pin := encdb.IdentityPin(public)
	for _, tt := range []struct {
		name   string
		gate   *sidecartest.Gate
		params string
		opts   []veilsql.Option
		want   error
	}{
		{"right pin", signs, "", []veilsql.Option{veilsql.WithPin(pin)}, nil},
		{"pin in the DSN", signs, "gateKeyHash=" + pin, nil, nil},
		{"other pin", signs, "", []veilsql.Option{veilsql.WithPin(encdb.IdentityPin(other))}, veilsql.ErrPinMismatch},
		{"server that does not sign", anonymous, "", []veilsql.Option{veilsql.WithPin(pin)}, veilsql.ErrPinMismatch},
		{"constant key", vendor, "", []veilsql.Option{veilsql.WithPin(constant.Public().Hash())}, nil},
		{"not the constant key", vendor, "", []veilsql.Option{veilsql.WithPin(constant.Public().Hash() + "=")}, veilsql.ErrPinMismatch},
		{"identity of a stranger", vendor, "", []veilsql.Option{veilsql.WithPin(pin)}, veilsql.ErrPinMismatch},
		{"certificate not verified", signs, "", []veilsql.Option{skip}, veilsql.ErrInsecure},
		{"certificate not verified but pinned", signs, "", []veilsql.Option{skip, veilsql.WithPin(pin)}, nil},
		{"certificate not verified, on purpose", signs, "allowInsecure=true", []veilsql.Option{skip}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t, tt.gate.Addr, tt.params, append(tt.opts, veilsql.WithKey(withMEK))...)
			err := db.Ping()
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			clean(t, err)
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		for params, want := range map[string]error{"": veilsql.ErrInsecure, "&allowInsecure=true": nil, "&gateKeyHash=" + pin: nil} {
			db, err := sql.Open("veilsql", dsn(inClear.Addr, "mekFile="+mekFile(t)+params))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := db.Ping(); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", params, err, want)
			}
		}
	})
	t.Run("unknown certificate", func(t *testing.T) {
		db := open(t, signs.Addr, "", veilsql.WithTLS(&tls.Config{}), veilsql.WithKey(withMEK))
		var want *tls.CertificateVerificationError
		if err := db.Ping(); !errors.As(err, &want) {
			t.Error(err)
		}
	})
}

func TestWrongKey(t *testing.T) {
	var first atomic.Bool
	g := gate(t, &sidecartest.Gate{Encdb: encdb.Config{
		Registry: registry(t), MayRegister: func(encdb.Account) bool { return first.CompareAndSwap(false, true) },
	}})
	if err := open(t, g.Addr, "", veilsql.WithKey(withMEK)).Ping(); err != nil {
		t.Fatal(err)
	}
	wrong := func(context.Context) ([]byte, error) { return []byte("another key 0123"), nil }
	err := open(t, g.Addr, "", veilsql.WithKey(wrong)).Ping()
	if !errors.Is(err, veilsql.ErrWrongKey) {
		t.Errorf("wrong key: %v", err)
	}
	clean(t, err)
	if err := open(t, g.Addr, "", veilsql.WithKey(withMEK)).Ping(); err != nil {
		t.Errorf("right key again: %v", err)
	}
}

func TestLoginIsTheServers(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	c, err := veilsql.NewConnector(fmt.Sprintf("app:wrong@tcp(%s)/", g.Addr), veilsql.WithTLS(certs.client), veilsql.WithKey(withMEK))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	defer db.Close()
	var denied *mysql.MySQLError
	if err := db.Ping(); !errors.As(err, &denied) || denied.Number != 1045 {
		t.Errorf("wrong password: %v", err)
	}
	if len(g.Events()) != 0 {
		t.Errorf("events %v", g.Events())
	}
}

func TestPlainServer(t *testing.T) {
	base := fmt.Sprintf("%s:%s@tcp(%s)/", sidecartest.User, sidecartest.Password, backend(t))
	for _, database := range []string{"", "veildb"} {
		db, err := sql.Open("veilsql", base+database+"?mekFile="+mekFile(t))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		err = db.Ping()
		if !errors.Is(err, veilsql.ErrNotConfidential) {
			t.Errorf("database %q: %v", database, err)
		}
		clean(t, err)
		db, err = sql.Open("veilsql", base+database+"?requireProtection=false&parseTime=true&mekFile="+mekFile(t))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if n := count(t, db, "SELECT COUNT(*) FROM veildb.people"); n != 3 {
			t.Errorf("%d people", n)
		}
		if database != "" {
			compare(t, "plain", query(t, db, true), query(t, direct(t, "parseTime=true"), true))
		}
	}
}

func TestUnmarkedServer(t *testing.T) {
	g := gate(t, &sidecartest.Gate{Unmarked: true, Stranger: true})
	err := open(t, g.Addr, "", veilsql.WithKey(withMEK)).Ping()
	if !errors.Is(err, veilsql.ErrUnmarked) {
		t.Errorf("%v, want ErrUnmarked", err)
	}
	// What users wrote stays what it is, even if it looks like a cell.
	db := open(t, g.Addr, "allowUnmarked=true", veilsql.WithKey(withMEK))
	for _, s := range []string{"", "AAAA", "YWJjZGVmZ2hpamtsbW5vcA==", strings.Repeat("QUJD", 30), "plain"} {
		var got string
		if err := db.QueryRow("SELECT ?", s).Scan(&got); err != nil || got != s {
			t.Errorf("%q: got %q, %v", s, got, err)
		}
	}
}

// TestTampering alters cells; each statement must end in an error, and none may
// end the connection.
func TestTampering(t *testing.T) {
	var alter atomic.Pointer[func([]byte) []byte]
	tamper := func(c []byte) []byte {
		if f := alter.Load(); f != nil {
			return (*f)(c)
		}
		return c
	}
	for name, g := range map[string]*sidecartest.Gate{
		"layout=66": gate(t, &sidecartest.Gate{Tamper: tamper}),
		"layout=64": gate(t, &sidecartest.Gate{Tamper: tamper, Stranger: true}),
	} {
		db := open(t, g.Addr, "", veilsql.WithKey(withMEK))
		db.SetMaxOpenConns(1)
		var kept []byte
		for _, tt := range []struct {
			name string
			f    func(c []byte) []byte
		}{
			{"flipped", func(c []byte) []byte { c[len(c)/2] ^= 1; return c }},
			{"cut", func(c []byte) []byte { return c[:len(c)-4] }},
			{"emptied", func([]byte) []byte { return nil }},
			{"plaintext", func([]byte) []byte { return []byte("Ada") }},
			{"type", func(c []byte) []byte { c[3] ^= 4; return c }},
			{"long", func(c []byte) []byte { return append(c, "AAAA"...) }},
			{"of another connection", func([]byte) []byte { return append([]byte{}, kept...) }},
		} {
			alter.Store(&tt.f)
			if tt.name == "of another connection" {
				if name == "layout=64" {
					continue // nothing binds those cells to their place
				}
				keep := func(c []byte) []byte { kept = append([]byte{}, c...); return c }
				alter.Store(&keep)
				if err := open(t, g.Addr, "", veilsql.WithKey(withMEK)).QueryRow("SELECT name FROM people WHERE id = 1").Scan(new(string)); err != nil {
					t.Fatal(err)
				}
				alter.Store(&tt.f)
			}
			for _, q := range []string{"SELECT id, name FROM people WHERE id = ?", "SELECT id, name FROM people WHERE id = 1"} {
				var args []any
				if strings.Contains(q, "?") {
					args = []any{1}
				}
				var got string
				err := db.QueryRow(q, args...).Scan(new(int), &got)
				if !errors.Is(err, veilsql.ErrTampered) || got != "" {
					t.Errorf("%s/%s: got %q, %v", name, tt.name, got, err)
				}
				clean(t, err)
			}
			alter.Store(nil)
			before := len(g.Events())
			if n := count(t, db, "SELECT COUNT(*) FROM people"); n != 3 || len(g.Events()) != before {
				t.Errorf("%s/%s: the connection was not good any more", name, tt.name)
			}
		}
	}
}

// TestTamperedRow alters one cell in the middle of many rows and results.
func TestTamperedRow(t *testing.T) {
	var n atomic.Int32
	g := gate(t, &sidecartest.Gate{Columns: []string{"many.v"}, Tamper: func(c []byte) []byte {
		if n.Add(1) == 700 {
			c[len(c)/2] ^= 1
		}
		return c
	}})
	db := open(t, g.Addr, "multiStatements=true", veilsql.WithKey(withMEK))
	db.SetMaxOpenConns(1)
	mustExec(t, db, "CREATE OR REPLACE TABLE many (id INT, v VARCHAR(40)); INSERT INTO many SELECT seq, CONCAT('value ', seq) FROM seq_1_to_1000")
	rows, err := db.Query("SELECT id, v FROM many ORDER BY id; SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := 0
	for rows.Next() {
		var id int
		var v string
		if err := rows.Scan(&id, &v); err != nil || v != fmt.Sprintf("value %d", id) {
			t.Fatalf("%q %v", v, err)
		}
		got++
	}
	if err := rows.Err(); got != 699 || !errors.Is(err, veilsql.ErrTampered) {
		t.Errorf("%d rows, %v", got, err)
	}
	rows.Close()
	if c := count(t, db, "SELECT COUNT(*) FROM many"); c != 1000 {
		t.Errorf("%d rows", c)
	}
}

func TestDSN(t *testing.T) {
	file := mekFile(t)
	for _, tt := range []struct {
		name, dsn string
		want      error
	}{
		{"key", "app:pw@tcp(h:1)/db?MEK=30313233343536373839616263646566", veilsql.ErrKeyInDSN},
		{"key, other case", "app:pw@tcp(h:1)/db?parseTime=true&mek=30313233343536373839616263646566&mekFile=x", veilsql.ErrKeyInDSN},
		{"algorithm of other drivers", "app:pw@tcp(h:1)/db?ENC_ALGO=SM4_128_CBC", veilsql.ErrKeyInDSN},
		{"key without a database", "app:pw@tcp(h:1)?MEK=30313233343536373839616263646566", veilsql.ErrKeyInDSN},
		{"key behind a slash", "app:pw@tcp(h:1)/db?mekFile=/a/b&MEK=30313233343536373839616263646566", veilsql.ErrKeyInDSN},
		{"nothing", "", veilsql.ErrNoKey},
		{"no key", "app:pw@tcp(h:1)/db", veilsql.ErrNoKey},
		{"two keys", "app:pw@tcp(h:1)/db?mekFile=a&mekEnv=B", veilsql.ErrDSN},
		{"no slash", "app:pw@tcp(h:1)", veilsql.ErrDSN},
		{"open bracket", "app:" + sidecartest.Password + "@tcp(h:1/db?mekFile=a", veilsql.ErrDSN},
		{"bad value", "app:pw@tcp(h:1)/db?parseTime=" + sidecartest.Password + "&mekFile=a", veilsql.ErrDSN},
		{"bad value of ours", "app:pw@tcp(h:1)/db?requireProtection=30313233343536373839616263646566&mekFile=a", veilsql.ErrDSN},
		{"bad escape", "app:pw@tcp(h:1)/db?mekFile=%zz", veilsql.ErrDSN},
		{"unknown algorithm", "app:pw@tcp(h:1)/db?algorithm=ROT13&mekFile=a", veilsql.ErrDSN},
		{"fallback", "app:pw@tcp(h:1)/db?tls=preferred&mekFile=a", veilsql.ErrDSN},
		{"unknown TLS", "app:pw@tcp(h:1)/db?tls=nosuch&mekFile=a", veilsql.ErrDSN},
		{"unknown network", "app:pw@carrier(pigeon)/db?mekFile=a", veilsql.ErrDSN},
		{"good", "app:" + sidecartest.Password + "@tcp(h:1)/db?mekFile=" + file, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := veilsql.NewConnector(tt.dsn)
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			clean(t, err)
		})
	}
}

func TestKeySources(t *testing.T) {
	g := gate(t, &sidecartest.Gate{})
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	digits := hex.EncodeToString(mek)
	t.Setenv("VEILSQL_TEST_MEK", digits+digits)
	t.Setenv("VEILSQL_TEST_BAD", digits+"f")
	open1 := "open"
	if runtime.GOOS == "windows" {
		open1 = ""
	}
	for _, tt := range []struct {
		name string
		opt  veilsql.Option
		fail bool
	}{
		{"hexadecimal", veilsql.WithKeyFile(write("hex", " "+strings.ToUpper(digits)+"\r\n", 0o600)), false},
		{"bytes", veilsql.WithKeyFile(write("raw", "\x000123456789abcd\n", 0o400)), false},
		{"32 bytes", veilsql.WithKeyFile(write("raw32", strings.Repeat("\x80", 32), 0o600)), false},
		{"environment", veilsql.WithKeyEnv("VEILSQL_TEST_MEK"), false},
		{"no file", veilsql.WithKeyFile(filepath.Join(dir, "none")), true},
		{"readable by others", veilsql.WithKeyFile(write(open1, digits, 0o644)), true},
		{"directory", veilsql.WithKeyFile(dir), true},
		{"short", veilsql.WithKeyFile(write("short", digits[1:], 0o600)), true},
		{"31 digits and a line end", veilsql.WithKeyFile(write("short2", digits[1:]+"\n", 0o600)), true},
		{"16 digits", veilsql.WithKeyFile(write("short3", digits[16:], 0o600)), true},
		{"long", veilsql.WithKeyFile(write("long", strings.Repeat(digits, 40), 0o600)), true},
		{"empty", veilsql.WithKeyFile(write("empty", "", 0o600)), true},
		{"no variable", veilsql.WithKeyEnv("VEILSQL_TEST_NONE"), true},
		{"bad variable", veilsql.WithKeyEnv("VEILSQL_TEST_BAD"), true},
		{"function of 17 bytes", veilsql.WithKey(func(context.Context) ([]byte, error) { return append([]byte("x"), mek...), nil }), true},
		{"function that fails", veilsql.WithKey(func(context.Context) ([]byte, error) { return nil, errors.New("key manager is down") }), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := open(t, g.Addr, "", tt.opt).Ping()
			if tt.fail != (err != nil) || tt.fail && !errors.Is(err, veilsql.ErrNoKey) {
				t.Error(err)
			}
			clean(t, err)
		})
	}
}
