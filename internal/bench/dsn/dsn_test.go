package dsn

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     DSN
		out      string // String, when it differs from in
	}{
		{"mysql tcp", "mysql://bob@db.example:3307/tpcc",
			DSN{dialect: MySQL, User: "bob", Host: "db.example", Port: 3307, Database: "tpcc"}, ""},
		{"mysql default port", "mysql://bob@h/db",
			DSN{dialect: MySQL, User: "bob", Host: "h", Port: 3306, Database: "db"}, "mysql://bob@h:3306/db"},
		{"mysql socket", "mysql://root@/db?socket=%2Frun%2Fx.sock",
			DSN{dialect: MySQL, User: "root", Port: 3306, Socket: "/run/x.sock", Database: "db"}, ""},
		{"plain slashes in the socket", "mysql://root@/db?socket=/run/x.sock",
			DSN{dialect: MySQL, User: "root", Port: 3306, Socket: "/run/x.sock", Database: "db"},
			"mysql://root@/db?socket=%2Frun%2Fx.sock"},
		{"mariadb", "mariadb://root@127.0.0.1/db?tls=on",
			DSN{dialect: MySQL, User: "root", Host: "127.0.0.1", Port: 3306, Database: "db", TLS: "on"},
			"mysql://root@127.0.0.1:3306/db?tls=on"},
		{"ipv6", "mysql://root@[::1]:3306/db",
			DSN{dialect: MySQL, User: "root", Host: "::1", Port: 3306, Database: "db"}, ""},
		{"escaped user", "postgres://a%40b@h:5432/db?sslmode=require",
			DSN{dialect: Postgres, User: "a@b", Host: "h", Port: 5432, Database: "db", TLS: "require"}, ""},
		{"postgres socket", "postgres://p@/db?host=/tmp/d",
			DSN{dialect: Postgres, User: "p", Port: 5432, Socket: "/tmp/d", Database: "db"},
			"postgres://p@/db?host=%2Ftmp%2Fd"},
		{"postgres socket and port", "postgres://p@:5999/db?host=/tmp/d",
			DSN{dialect: Postgres, User: "p", Port: 5999, Socket: "/tmp/d", Database: "db"},
			"postgres://p@:5999/db?host=%2Ftmp%2Fd"},
		{"sqlite", "sqlite:/data/a.db", DSN{dialect: SQLite, Path: "/data/a.db"}, ""},
		{"sqlite relative", "sqlite:a.db", DSN{dialect: SQLite, Path: "a.db"}, ""},
		{"sqlite three slashes", "sqlite:///data/a.db", DSN{dialect: SQLite, Path: "/data/a.db"}, "sqlite:/data/a.db"},
		{"sqlite encrypted", "sqlite:/data/a.db?key=/k/key.json",
			DSN{dialect: SQLite, Path: "/data/a.db", Key: "/k/key.json"}, "sqlite:/data/a.db?key=%2Fk%2Fkey.json"},
		{"sqlite space", "sqlite:/my data/a.db", DSN{dialect: SQLite, Path: "/my data/a.db"}, "sqlite:/my%20data/a.db"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.in)
			if err != nil || got != tt.want {
				t.Fatalf("Parse(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
			}
			want := tt.out
			if want == "" {
				want = tt.in
			}
			if s := got.String(); s != want {
				t.Errorf("String() = %q, want %q", s, want)
			}
		})
	}
}

// TestParseServer reads DSNs without a database, and refuses what Parse does.
func TestParseServer(t *testing.T) {
	for in, want := range map[string]DSN{
		"mysql://bob@h:3306/":             {dialect: MySQL, User: "bob", Host: "h", Port: 3306},
		"mysql://bob@h":                   {dialect: MySQL, User: "bob", Host: "h", Port: 3306},
		"mysql://bob@/?socket=/s&tls=off": {dialect: MySQL, User: "bob", Port: 3306, Socket: "/s", TLS: "off"},
		"mysql://bob@h/db":                {dialect: MySQL, User: "bob", Host: "h", Port: 3306, Database: "db"},
	} {
		got, err := ParseServer(in)
		if err != nil || got != want {
			t.Errorf("ParseServer(%q) = %+v, %v; want %+v", in, got, err, want)
		}
		if _, err := Parse(in); want.Database == "" && !errors.Is(err, ErrSyntax) {
			t.Errorf("Parse(%q): %v, want ErrSyntax", in, err)
		}
	}
	for _, in := range []string{"mysql://bob@h/a/b", "mysql://bob:p@h/", "mysql://h/"} {
		if d, err := ParseServer(in); err == nil {
			t.Errorf("ParseServer(%q) = %+v", in, d)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		is       error
	}{
		{"empty", "", ErrSyntax},
		{"no scheme", "/data/a.db", ErrSyntax},
		{"unknown scheme", "oracle://a@b/c", ErrSyntax},
		{"password", "mysql://bob:hunter2@h/db", ErrPassword},
		{"password behind an escaped colon", "mysql://bob%3Ahunter2@h/db", ErrPassword},
		{"empty password", "mysql://bob:@h/db", ErrPassword},
		{"password option", "postgres://bob@h/db?password=hunter2", ErrPassword},
		{"password in a malformed URL", "mysql://bob:hunter2@h:port/db", ErrSyntax},
		{"password with a bad escape", "mysql://bob:hunter2%zz@h/db", ErrSyntax},
		{"no user", "mysql://h/db", ErrSyntax},
		{"no database", "mysql://bob@h", ErrSyntax},
		{"two path elements", "mysql://bob@h/a/b", ErrSyntax},
		{"no host", "mysql://bob@/db", ErrSyntax},
		{"host and socket", "mysql://bob@h/db?socket=/s", ErrSyntax},
		{"relative socket", "mysql://bob@/db?socket=s", ErrSyntax},
		{"port zero", "mysql://bob@h:0/db", ErrSyntax},
		{"port too high", "mysql://bob@h:65536/db", ErrSyntax},
		{"unknown option", "mysql://bob@h/db?hunter2=1", ErrSyntax},
		{"option twice", "mysql://bob@/db?socket=/a&socket=/b", ErrSyntax},
		{"bad tls word", "mysql://bob@h/db?tls=hunter2", ErrSyntax},
		{"option of another dialect", "postgres://bob@/db?socket=/a", ErrSyntax},
		{"fragment", "mysql://bob@h/db#hunter2", ErrSyntax},
		{"one slash", "mysql:/bob@h/db", ErrSyntax},
		{"sqlite without path", "sqlite:", ErrSyntax},
		{"sqlite memory", "sqlite::memory:", ErrSyntax},
		{"sqlite empty key", "sqlite:/a?key=", ErrSyntax},
		{"sqlite unknown option", "sqlite:/a?mode=ro", ErrSyntax},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Parse(tt.in)
			if !errors.Is(err, tt.is) {
				t.Fatalf("Parse(%q) = %+v, %v; want %v", tt.in, d, err, tt.is)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats the input: %v", err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"mysql://bob@h:3306/db", "mysql://root@/db?socket=/run/x.sock", "mariadb://a@[::1]/b?tls=on",
		"postgres://p@/db?host=/tmp/d&sslmode=disable", "sqlite:/a/b.db?key=k", "sqlite:a:b", "sqlite:////a",
		"mysql://a:b@c/d", "sqlite:./a", "postgres://a%00@b/c", "mysql://u@h%2f/d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(d.String())
		if err != nil || again != d {
			t.Fatalf("Parse(%q) = %+v, printed as %q, which reads as %+v, %v", s, d, d.String(), again, err)
		}
	})
}

func TestRebind(t *testing.T) {
	const in = "SELECT a FROM b WHERE c = ? AND d IN (?,?)"
	if got := MySQL.Rebind(in); got != in {
		t.Errorf("MySQL: %s", got)
	}
	if got, want := Postgres.Rebind(in), "SELECT a FROM b WHERE c = $1 AND d IN ($2,$3)"; got != want {
		t.Errorf("PostgreSQL: got %s, want %s", got, want)
	}
	if got, want := Postgres.Placeholders(3, 2), "$3,$4"; got != want {
		t.Errorf("Placeholders: got %s, want %s", got, want)
	}
}
