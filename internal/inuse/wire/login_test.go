package wire_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/veildb/veildb/internal/inuse/wire"
)

func TestLoginAccounts(t *testing.T) {
	r := startRelay(t, &relay{})
	for _, tc := range []struct {
		name, user, password, database string
		plugin                         string // "": denied
	}{
		{"native", "native", "pw-native", "veildb", wire.PluginNative},
		{"native without database", "native", "pw-native", "", wire.PluginNative},
		{"native wrong password", "native", "pw-wrong", "", ""},
		{"native unknown database", "native", "pw-native", "nowhere", ""},
		{"empty password", "nopw", "", "", wire.PluginNative},
		{"unknown user", "nobody", "x", "", ""},
		{"ed25519", "ed", "pw-ed", "veildb", wire.PluginEd25519},
		{"ed25519 wrong password", "ed", "pw-native", "", ""},
		{"first plugin of two", "two", "pw-ed", "", wire.PluginEd25519},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db, err := sql.Open("mysql", tc.user+":"+tc.password+"@tcp("+r.addr()+")/"+tc.database)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var got string
			err = db.QueryRowContext(context.Background(), "SELECT USER()").Scan(&got)
			loginErr := <-r.loginErr
			if tc.plugin == "" {
				if err == nil || !errors.Is(loginErr, wire.ErrDenied) {
					t.Fatalf("driver says %v, relay says %v; want a denied login", err, loginErr)
				}
				return
			}
			if err != nil || loginErr != nil {
				t.Fatalf("driver says %v, relay says %v", err, loginErr)
			}
			s := r.lastSession()
			if s.User != tc.user || s.Database != tc.database || s.Plugin != tc.plugin {
				t.Errorf("session is %q in %q by %s; want %q in %q by %s", s.User, s.Database, s.Plugin, tc.user, tc.database, tc.plugin)
			}
		})
	}
}

func (r *relay) lastSession() *wire.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[len(r.sessions)-1]
}
