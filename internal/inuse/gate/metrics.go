package gate

import (
	"fmt"
	"io"
)

// WriteMetrics writes the counters in the text format of Prometheus.
func (s Stats) WriteMetrics(w io.Writer) {
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"connections_total", "counter", "Connections accepted.", s.Connections},
		{"connections_open", "gauge", "Connections open now.", s.Open},
		{"connections_denied_total", "counter", "Connections turned away or not logged in.", s.Denied},
		{"commands_total", "counter", "Commands answered.", s.Statements},
		{"commands_restricted_total", "counter", "Commands of restricted accounts.", s.Restricted},
		{"refusals_total", "counter", "Commands refused to restricted accounts.", s.Refused},
		{"errors_redacted_total", "counter", "Server errors whose text was withheld.", s.Redacted},
		{"cells_encrypted_total", "counter", "Cells encrypted, NULL included.", s.CipherCells},
		{"catalog_reads_total", "counter", "Times a server's definitions were read.", s.CatalogReads},
		{"catalog_errors_total", "counter", "Times that failed.", s.CatalogErrors},
		{"backend_failures_total", "counter", "Connections to a server that failed.", s.BackendFailures},
		{"protocol_failures_total", "counter", "Sessions that ended in the midst of something.", s.ProtocolFailures},
	} {
		fmt.Fprintf(w, "# HELP veildb_gate_%s %s\n# TYPE veildb_gate_%s %s\nveildb_gate_%s %d\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
}
