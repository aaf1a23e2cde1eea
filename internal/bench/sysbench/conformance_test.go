package sysbench_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/sysbench"
	"github.com/veildb/veildb/internal/bench/target"
)

// original runs sysbench itself on the database.
func original(t *testing.T, db database, args ...string) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(db.server.Addr())
	common := []string{"--db-driver=mysql", "--mysql-socket=" + db.server.Socket(), "--mysql-user=root", "--mysql-db=" + db.name}
	if db.dialect == dsn.Postgres {
		common = []string{"--db-driver=pgsql", "--pgsql-host=" + host, "--pgsql-port=" + port, "--pgsql-user=postgres", "--pgsql-db=" + db.name}
	}
	path, err := exec.LookPath("sysbench")
	if err != nil {
		t.Fatalf("sysbench 1.0.20 is needed (apt-get install sysbench): %v", err)
	}
	out, err := exec.Command(path, append(common, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("sysbench %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func servers2(t *testing.T, f func(t *testing.T, db database)) {
	for _, e := range []string{target.MariaDB, target.Postgres} {
		t.Run(e, func(t *testing.T) { f(t, open(t, e, dsn.Options{})) })
	}
}

// tableShape is what the server says of a table, as text.
func tableShape(t *testing.T, db database, table string) string {
	t.Helper()
	if db.dialect == dsn.MySQL {
		var name, text string
		if err := db.QueryRow("SHOW CREATE TABLE "+table).Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(` AUTO_INCREMENT=\d+`).ReplaceAllString(text, "")
	}
	var b strings.Builder
	for _, query := range []string{
		"SELECT concat_ws(' ', column_name, data_type, character_maximum_length, is_nullable, column_default) FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position",
		"SELECT indexdef FROM pg_indexes WHERE tablename = $1 ORDER BY indexname",
		"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = $1::regclass ORDER BY conname",
	} {
		rows, err := db.Query(query, table)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range column(t, rows) {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

func column(t *testing.T, rows *sql.Rows) []string {
	t.Helper()
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTablesEqualTheOriginals(t *testing.T) {
	servers2(t, func(t *testing.T, db database) {
		for name, tc := range map[string]struct {
			workload string
			args     []string
			edit     func(*sysbench.Options)
		}{
			"default":             {"oltp_read_write", nil, func(*sysbench.Options) {}},
			"own ids":             {"oltp_read_write", []string{"--auto-inc=off"}, func(o *sysbench.Options) { o.AutoInc = false }},
			"no index on k":       {"oltp_read_write", []string{"--create-secondary=off"}, func(o *sysbench.Options) { o.CreateSecondary = false }},
			"secondary (MariaDB)": {"oltp_read_write", []string{"--secondary=on"}, func(o *sysbench.Options) { o.Secondary = true }},
			"insert, own ids":     {"oltp_insert", []string{"--auto-inc=off"}, func(o *sysbench.Options) { o.AutoInc = false }},
			"bulk":                {"bulk_insert", []string{"--threads=2"}, func(o *sysbench.Options) { o.Threads = 2 }},
		} {
			if strings.HasPrefix(name, "secondary") && db.dialect == dsn.Postgres {
				continue // sysbench's statement is not PostgreSQL
			}
			args := append([]string{tc.workload, "--tables=2", "--table-size=50"}, tc.args...)
			original(t, db, append(args, "prepare")...)
			var want, got []string
			var wantRows, gotRows int
			shapes := func() (s []string, rows int) {
				for _, table := range []string{"sbtest1", "sbtest2"} {
					s = append(s, tableShape(t, db, table))
					rows += scan[int](t, db, "SELECT COUNT(*) FROM "+table)
				}
				return s, rows
			}
			want, wantRows = shapes()
			original(t, db, append(args, "cleanup")...)

			o := small()
			o.TableSize = 50
			tc.edit(&o)
			w := workload(t, db, tc.workload, o)
			prepare(t, db, w, 1)
			got, gotRows = shapes()
			if !slices.Equal(got, want) || gotRows != wantRows {
				t.Errorf("%s: tables differ, got %d rows\n%s\nwant %d rows\n%s", name, gotRows, got[0], wantRows, want[0])
			}
			if err := w.Cleanup(t.Context(), db.DB, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

var (
	logNumber = regexp.MustCompile(`\$?-?\b\d+\b`)
	logString = regexp.MustCompile(`'[^']*'`)
	logSpace  = regexp.MustCompile(`\s+`)
)

// normalise replaces what chance decides.
func normalise(text string) string {
	text = logString.ReplaceAllString(text, "S")
	text = logNumber.ReplaceAllString(text, "N")
	text = strings.ReplaceAll(text, "?", "N")
	text = logSpace.ReplaceAllString(text, " ")
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(text, "( ", "("), " )", ")"))
}

// logged runs f and returns the statements the server logged meanwhile: those
// prepared, as a sorted list, and those run, in order.
func logged(t *testing.T, db database, f func()) (prepared, executed []string) {
	t.Helper()
	ours := regexp.MustCompile(`sbtest|^BEGIN$|^COMMIT$|^ROLLBACK$`)
	if db.dialect == dsn.MySQL {
		for _, text := range []string{"SET GLOBAL log_output='TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log=1"} {
			exec1(t, db.server, text)
		}
		f()
		exec1(t, db.server, "SET GLOBAL general_log=0")
		rows, err := db.Query("SELECT concat(command_type, ' ', convert(argument USING utf8mb4)) FROM mysql.general_log ORDER BY event_time")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range column(t, rows) {
			command, text, _ := strings.Cut(line, " ")
			text = normalise(text)
			switch {
			case !ours.MatchString(text):
			case command == "Prepare":
				prepared = append(prepared, text)
			case command == "Execute" || command == "Query":
				executed = append(executed, text)
			}
		}
	} else {
		exec1(t, db.server, "ALTER DATABASE "+db.name+" SET log_statement='all'")
		info, err := os.Stat(db.server.LogFile())
		if err != nil {
			t.Fatal(err)
		}
		f()
		exec1(t, db.server, "ALTER DATABASE "+db.name+" RESET log_statement")
		log, err := os.ReadFile(db.server.LogFile())
		if err != nil {
			t.Fatal(err)
		}
		// A statement is a line "... LOG:  execute NAME: TEXT" or "... LOG:
		// statement: TEXT" and the lines behind it that begin with a tab.
		text := strings.ReplaceAll(string(log[info.Size():]), "\n\t", " ")
		entry := regexp.MustCompile(`LOG:  (?:execute [^:]*|statement): (.*)`)
		for line := range strings.Lines(text) {
			if m := entry.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				if s := normalise(m[1]); ours.MatchString(s) {
					executed = append(executed, s)
				}
			}
		}
	}
	slices.Sort(prepared)
	return prepared, executed
}

// TestStatementsEqualTheOriginals compares what the server was sent for three
// events, with the original's as the oracle.
func TestStatementsEqualTheOriginals(t *testing.T) {
	servers2(t, func(t *testing.T, db database) {
		o := small()
		o.Threads = 1
		base := workload(t, db, "oltp_read_write", o)
		prepare(t, db, base, 1)
		for _, mode := range []string{"auto", "disable"} {
			o.PSMode = mode
			for _, name := range sysbench.Names() {
				if name == "bulk_insert" {
					continue // other tables; see TestBulkInsertEqualsTheOriginal
				}
				wantPrepared, want := logged(t, db, func() {
					original(t, db, name, "--tables=2", "--table-size=1000", "--events=3", "--time=0", "--db-ps-mode="+mode, "run")
				})
				gotPrepared, got := logged(t, db, func() {
					used := db // PostgreSQL's setting holds for new sessions
					used.DB = openDSN(t, db.server.DSNFor("", db.name), dsn.Options{TextStatements: mode == "disable"})
					defer used.DB.Close()
					load(t, used, workload(t, used, name, o), 3, 1)
				})
				sameTable(want)
				sameTable(got)
				if !slices.Equal(got, want) || len(want) == 0 {
					t.Errorf("%s, %s: statements\n%s\nwant\n%s", name, mode, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if !slices.Equal(gotPrepared, wantPrepared) {
					t.Errorf("%s, %s: prepared\n%s\nwant\n%s", name, mode, strings.Join(gotPrepared, "\n"), strings.Join(wantPrepared, "\n"))
				}
			}
		}
	})
}

// sameTable makes the randomly chosen tables equal. (In the original's case a
// table number is part of a word and is not replaced by normalise.)
func sameTable(statements []string) {
	for i := range statements {
		statements[i] = strings.ReplaceAll(statements[i], "sbtest2", "sbtest1")
	}
}

func TestBulkInsertEqualsTheOriginal(t *testing.T) {
	db := open(t, target.MariaDB, dsn.Options{})
	o := small()
	o.Threads = 1
	w := workload(t, db, "bulk_insert", o)
	const events = 60_000
	var lengths [2][]string
	for i, f := range []func(){
		func() {
			original(t, db, "bulk_insert", "prepare")
			original(t, db, "bulk_insert", fmt.Sprint("--events=", events), "--time=0", "run")
		},
		func() {
			prepare(t, db, w, 1)
			load(t, db, w, events, 1)
		},
	} {
		for _, text := range []string{"SET GLOBAL log_output='TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log=1"} {
			exec1(t, db.server, text)
		}
		f()
		exec1(t, db.server, "SET GLOBAL general_log=0")
		rows, err := db.Query("SELECT md5(replace(argument, ' ', '')) FROM mysql.general_log WHERE argument LIKE 'INSERT INTO sbtest%' ORDER BY event_time")
		if err != nil {
			t.Fatal(err)
		}
		lengths[i] = column(t, rows)
		if n := scan[int](t, db, "SELECT COUNT(*) FROM sbtest1"); n != events {
			t.Errorf("%d rows", n)
		}
		if err := w.Cleanup(t.Context(), db.DB, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(lengths[0]) != len(lengths[1]) {
		t.Errorf("%d statements, want %d", len(lengths[1]), len(lengths[0]))
	}
}

// TestReportEqualsTheOriginals compares the layout of both reports: the text
// with its numbers replaced.
func TestReportEqualsTheOriginals(t *testing.T) {
	db := open(t, target.MariaDB, dsn.Options{})
	o := small()
	w := workload(t, db, "oltp_read_write", o)
	prepare(t, db, w, 1)
	args := []string{"oltp_read_write", "--tables=2", "--table-size=1000", "--threads=2", "--time=2",
		"--report-interval=1", "--report-checkpoints=1", "--percentile=99", "run"}
	_, want, _ := strings.Cut(original(t, db, args...), "Threads started!\n\n")

	number := regexp.MustCompile(`\d+(\.\d+)?`)
	skeleton := func(s string) string {
		lines := strings.Split(number.ReplaceAllString(s, "N"), "\n")
		for i := range lines {
			lines[i] = regexp.MustCompile(` +`).ReplaceAllString(lines[i], " ")
		}
		return strings.Join(lines, "\n")
	}
	// Which of a second's line and checkpoint comes first is chance in the
	// original; compare without the lines.
	trim := regexp.MustCompile(`(?m)^\[ Ns \] thds.*\n`)
	var out bytes.Buffer
	lines := 0
	for range 10 { // a busy machine may be late for a line
		out.Reset()
		c := seconds(2)
		c.ReportInterval, c.Checkpoints, c.Percentile, c.Out = c.Time/2, append(c.Checkpoints, c.Time/2), 99, &out
		if _, err := w.Run(t.Context(), db.DB, c); err != nil {
			t.Fatal(err)
		}
		if lines = len(trim.FindAllString(skeleton(out.String()), -1)); lines == 2 {
			break
		}
	}
	if got, want := trim.ReplaceAllString(skeleton(out.String()), ""), trim.ReplaceAllString(skeleton(want), ""); got != want {
		t.Errorf("report\n%s\nwant\n%s", got, want)
	}
	if lines != 2 {
		t.Errorf("%d interval lines, want 2\n%s", lines, out.String())
	}
}
