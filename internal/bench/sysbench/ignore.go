package sysbench

import "github.com/veildb/veildb/internal/bench/dsn"

// ignores reports whether err restarts the event: on MySQL what the option
// lists, on PostgreSQL deadlock, serialization failure and duplicate key, on
// SQLite a busy database.
func (w *Workload) ignores(err error) bool {
	code := w.dialect.Code(err)
	switch w.dialect {
	case dsn.MySQL:
		return code != "" && (w.ignore["all"] || w.ignore[code])
	case dsn.Postgres:
		return code == "40P01" || code == "40001" || code == "23505"
	}
	return w.dialect.IsSerializationFailure(err)
}

// ignoresLoss reports whether a lost connection is opened again: only on MySQL,
// and only if the option lists one of the client library's numbers for it.
func (w *Workload) ignoresLoss() bool {
	if w.dialect != dsn.MySQL {
		return false
	}
	for _, code := range []string{"all", "2006", "2011", "2013", "2055"} {
		if w.ignore[code] {
			return true
		}
	}
	return false
}
