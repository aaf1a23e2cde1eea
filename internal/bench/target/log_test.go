package target

import "testing"

func TestComplaints(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"MariaDB", "0 [Note] InnoDB: fine\n0 [ERROR] unknown variable 'x=1'\n0 [ERROR] Aborting\n", "0 [ERROR] unknown variable 'x=1'\n0 [ERROR] Aborting"},
		{"PostgreSQL", "LOG:  starting\nFATAL:  could not create lock file\nLOG:  shut down\n", "FATAL:  could not create lock file"},
		{"no complaint", "one\ntwo\n", "one\ntwo\n"},
		{"nothing", "", ""},
	} {
		if got := string(complaints([]byte(c.log))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
