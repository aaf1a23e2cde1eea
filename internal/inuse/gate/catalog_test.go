package gate

import (
	"testing"

	"github.com/veildb/veildb/internal/sql/schema"
)

// TestExpressions: servers write expressions of columns down differently.
func TestExpressions(t *testing.T) {
	for _, tt := range []struct {
		name, server, extra, generated, fallback string
		want                                     schema.TableColumn
	}{
		{"MySQL, generated", "9.7.4", "VIRTUAL GENERATED", "concat(`a`,_utf8mb4\\'-x\\')", "", schema.TableColumn{Generated: "concat(`a`,_utf8mb4'-x')"}},
		{"MySQL, backslash", "9.7.4", "VIRTUAL GENERATED", "concat(`a`,_utf8mb4\\'\\\\\\\\\\')", "", schema.TableColumn{Generated: "concat(`a`,_utf8mb4'\\\\')"}},
		{"MySQL, default of an expression", "9.7.4", "DEFAULT_GENERATED", "", "upper(_utf8mb4\\'x\\')", schema.TableColumn{Default: "upper(_utf8mb4'x')"}},
		{"MySQL, literal", "9.7.4", "", "", "it's", schema.TableColumn{}},
		{"MariaDB", "10.11.19-MariaDB", "VIRTUAL GENERATED", "concat(`a`,'-x')", "'it''s'", schema.TableColumn{Generated: "concat(`a`,'-x')", Default: "'it''s'"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := catalogReader{schema.NewCatalog(schema.ParseServer(tt.server), schema.MatchCase)}
			r.table([]string{"d", "t", "BASE TABLE", "InnoDB"})
			r.column([]string{"d", "t", "c", "", "NO", tt.extra, tt.generated, tt.fallback})
			tt.want.Name = "c"
			if got := r.at([]string{"d", "t"}).Columns[0]; got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
