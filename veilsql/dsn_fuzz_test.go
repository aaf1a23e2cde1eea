package veilsql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/veildb/veildb/veilsql"
)

// FuzzDSN looks for a DSN that panics, that hides a key where the check does
// not look, or whose error quotes it.
func FuzzDSN(f *testing.F) {
	for _, s := range []string{"a:b@tcp(h:1)/d?mekFile=/x/y&parseTime=true", "/?mekEnv=A", "a?b/c?d=e&f=g", "@unix(/s)/?MEK=00", "&=?/", "a/b?c=?d=e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, err := veilsql.NewConnector(s)
		if err != nil && len(s) > 30 && strings.Contains(err.Error(), s) {
			t.Errorf("error quotes the DSN: %v", err)
		}
		for _, sep := range []string{"?", "&"} {
			if _, err := veilsql.NewConnector("u:p@tcp(h:1)/d?a=b" + strings.ReplaceAll(s, "?", "") + sep + "MEK=0011"); !errors.Is(err, veilsql.ErrKeyInDSN) {
				t.Errorf("%q before the key: %v", s, err)
			}
		}
	})
}
