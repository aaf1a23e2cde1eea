package volumetest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/target"
)

// canaryOf is a text that no other part of a server writes.
func canaryOf(what string) string { return "veil_canary_" + what + "_7f3a91" }

// TestNoPlaintext has servers write strings by every way they have, and looks
// for them, and for anything else that is no ciphertext, in the lower directory.
func TestNoPlaintext(t *testing.T) {
	t.Parallel()
	for engine, write := range map[string]func(testing.TB, *server) []string{
		target.Postgres: canariesPostgres, target.MariaDB: canariesMariaDB,
	} {
		t.Run(engine, func(t *testing.T) {
			v := mountVolume(t, "", "through")
			settings := map[string]string{}
			for k, s := range durable[engine] {
				settings[k] = s
			}
			for k, s := range talkative[engine] {
				settings[k] = strings.ReplaceAll(s, "DIR", filepath.Join(v.point, "data"))
			}
			s := startServer(t, engine, filepath.Join(v.point, "data"), settings)
			// Names of files are not hidden; those of the canaries are no names.
			var canaries []string
			for _, c := range write(t, s) {
				canaries = append(canaries, "--canary", canaryOf(c))
			}
			// The canaries are there: the scan of the mount itself finds them.
			missing := notIn(t, v.point, canaries)
			if len(missing) > 0 {
				t.Errorf("nothing below the mount holds %q: the scan would prove nothing of them", missing)
			}
			veildb(t, append([]string{"volume", "scan", v.lower, "--key", v.key}, canaries...)...)
			s.Kill() // with all that a crash leaves
			v.stop(t)
			veildb(t, append([]string{"volume", "scan", v.lower, "--key", v.key}, canaries...)...)
			veildb(t, "volume", "check", v.lower, "--key", v.key, "--read")
			v.start(t)
			s.recover(t)
		})
	}
}

// talkative are settings by which a server writes more of what it is told to
// files. DIR stands for its data directory.
var talkative = map[string]map[string]string{
	target.Postgres: {
		"logging_collector": "on", "log_statement": "all", "log_directory": "log", "log_temp_files": "0", "work_mem": "64kB", "temp_buffers": "800kB",
	},
	target.MariaDB: {
		"general_log": "ON", "general_log_file": "DIR/general.log", "slow_query_log": "ON", "slow_query_log_file": "DIR/slow.log", "long_query_time": "0",
		"sort_buffer_size": "32K", "tmp_memory_table_size": "16K", "max_heap_table_size": "16K",
	},
}

// canariesPostgres writes a canary by each way that it names.
func canariesPostgres(t testing.TB, s *server) []string {
	s.exec(t,
		"CREATE TABLE plain (v text, w text)",
		"INSERT INTO plain SELECT '"+canaryOf("heap")+"', i::text FROM generate_series(1, 2000) i",
		"CREATE INDEX ON plain (('"+canaryOf("index")+"' || w))",
		"CREATE TABLE wide (v text)", "ALTER TABLE wide ALTER v SET STORAGE EXTERNAL",
		"INSERT INTO wide SELECT repeat('"+canaryOf("toast")+"', 2000)",
		"CREATE UNLOGGED TABLE quick AS SELECT '"+canaryOf("unlogged")+"' AS v",
		"CREATE TABLE part (k int, v text) PARTITION BY LIST (k)", "CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1)",
		"INSERT INTO part VALUES (1, '"+canaryOf("partition")+"')",
		"CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $$ SELECT '"+canaryOf("catalog")+"'::text $$",
		"COMMENT ON TABLE plain IS '"+canaryOf("comment")+"'",
		"ANALYZE",
		"SELECT lo_from_bytea(0, '"+canaryOf("large_object")+"'::bytea)",
		"CHECKPOINT",
		"INSERT INTO plain VALUES ('"+canaryOf("wal")+"', 'x')",
	)
	s.spill(t, "CREATE TEMP TABLE temporary AS SELECT repeat('"+canaryOf("temp_table")+"', 20) AS v FROM generate_series(1, 30000)",
		"SELECT v FROM (SELECT '"+canaryOf("spill")+"' || i AS v FROM generate_series(1, 200000) i) x ORDER BY v")
	return []string{"heap", "index", "toast", "unlogged", "partition", "catalog", "comment", "large_object", "wal", "temp_table", "spill"}
}

func canariesMariaDB(t testing.TB, s *server) []string {
	s.exec(t,
		"CREATE TABLE plain (id INT PRIMARY KEY, v VARCHAR(200), w TEXT, KEY (v)) COMMENT '"+canaryOf("comment")+"'",
		"INSERT INTO plain SELECT seq, CONCAT('"+canaryOf("page")+"', seq), REPEAT('"+canaryOf("blob")+"', 100) FROM seq_1_to_500",
		"CREATE TABLE tiny (v TEXT) ENGINE=Aria", "INSERT INTO tiny VALUES ('"+canaryOf("aria")+"')",
		"CREATE TABLE old (v TEXT) ENGINE=MyISAM", "INSERT INTO old VALUES ('"+canaryOf("myisam")+"')",
		"CREATE TABLE part (k INT, v TEXT) PARTITION BY LIST (k) (PARTITION one VALUES IN (1))", "INSERT INTO part VALUES (1, '"+canaryOf("partition")+"')",
		"CREATE PROCEDURE p() SELECT '"+canaryOf("procedure")+"'",
		"CREATE TABLE searched (v TEXT, FULLTEXT (v))", "INSERT INTO searched VALUES ('"+canaryOf("fulltext")+"')",
		"UPDATE plain SET v = '"+canaryOf("undo")+"' WHERE id = 1", "UPDATE plain SET v = 'gone' WHERE id = 1",
		"FLUSH TABLES", "FLUSH BINARY LOGS",
		"INSERT INTO plain VALUES (1000, '"+canaryOf("redo")+"', 'x')",
	)
	s.spill(t, "CREATE TEMPORARY TABLE temporary AS SELECT REPEAT('"+canaryOf("temp_table")+"', 20) AS v FROM seq_1_to_10000",
		"SELECT v FROM (SELECT CONCAT('"+canaryOf("spill")+"', seq) AS v FROM seq_1_to_50000) x ORDER BY v")
	return []string{"comment", "page", "blob", "aria", "myisam", "partition", "procedure", "fulltext", "undo", "redo", "temp_table", "spill"}
}

// spill runs a statement, then leaves a query half read, so that what it sorts
// stays in temporary files until the server ends.
func (s *server) spill(t testing.TB, statement, query string) {
	t.Helper()
	conn, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	rows, err := conn.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	for range 10 {
		if !rows.Next() {
			t.Fatalf("%s: no more rows: %v", query, rows.Err())
		}
	}
	// The rows stay open: closing them would read the rest.
}

// notIn returns those of the canaries that no file below dir holds.
func notIn(t testing.TB, dir string, canaries []string) []string {
	t.Helper()
	left := map[string]bool{}
	for _, c := range canaries {
		if c != "--canary" {
			left[c] = true
		}
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // gone meanwhile
		}
		b, err := os.ReadFile(path)
		for c := range left {
			if err == nil && bytes.Contains(b, []byte(c)) {
				delete(left, c)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for c := range left {
		missing = append(missing, fmt.Sprint(c))
	}
	return missing
}
