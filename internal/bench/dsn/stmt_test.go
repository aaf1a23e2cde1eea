package dsn

import (
	"database/sql/driver"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/target/targettest"
)

// TestReadsOnClose closes rows unread: what the server says after them counts,
// and the connection goes on.
func TestReadsOnClose(t *testing.T) {
	server := targettest.Start(t, target.MariaDB, nil)
	db, d := mustOpen(t, server.DSN(), Options{})
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error {
		dc := c.(driver.Conn)
		if !ReadsOnClose(dc) {
			t.Errorf("%T: false", dc)
		}
		for _, tt := range []struct{ text, code string }{
			{"SELECT seq FROM seq_1_to_50000", ""},
			{"SELECT 9223372036854775807 + CAST(seq - 50000 AS SIGNED) FROM seq_1_to_100000", "1690"}, // halfway
			{"SELECT 1", ""},
		} {
			s, err := d.Dialect().Prepare(t.Context(), dc, "", tt.text)
			if err != nil {
				return err
			}
			for name, query := range map[string]func() (driver.Rows, error){
				"text":     func() (driver.Rows, error) { return QueryText(dc, tt.text) },
				"prepared": func() (driver.Rows, error) { return s.QueryContext(t.Context(), nil) },
			} {
				rows, err := query()
				if err != nil {
					t.Errorf("%s %s: %v", name, tt.text, err)
					continue
				}
				if err := rows.Close(); d.Dialect().Code(err) != tt.code {
					t.Errorf("%s %s, closed: %v, want code %q", name, tt.text, err, tt.code)
				}
			}
			if err := s.Close(); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestReadsOnCloseOfOthers leaves drivers alone that may have to look at rows.
func TestReadsOnCloseOfOthers(t *testing.T) {
	if ReadsOnClose(struct{ driver.Conn }{}) || ReadsOnClose(new(struct{ driver.Conn })) {
		t.Error("a wrapper of a connection reads on close")
	}
}
