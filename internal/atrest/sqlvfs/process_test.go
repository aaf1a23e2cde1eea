package sqlvfs_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/crypto/secret"
)

// childEnv makes the test binary a child that runs one of children with the
// arguments given.
const childEnv = "SQLVFS_TEST_CHILD"

var children = map[string]func(args []string) error{
	"transfer": childTransfer,
	"commit":   childCommit,
	"convert":  childConvert,
}

func TestMain(m *testing.M) {
	if args := strings.Fields(os.Getenv(childEnv)); len(args) > 0 {
		if err := children[args[0]](args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(args, " "))
	cmd.Stderr = os.Stderr
	return cmd
}

// childOptions are the options by which children open the database, which the
// parent's must equal: keys of newKeys(t, 1, 1).
func childOptions(mode, sync string) (sqlvfs.Options, error) {
	dek, err := secret.From(bytes.Repeat([]byte{1}, 32))
	return sqlvfs.Options{Keys: &testKeys{1, dek}, JournalMode: mode, Synchronous: sync, BusyTimeout: time.Minute,
		CacheKiB: 64, Pragmas: []string{"wal_autocheckpoint=50"}}, err
}

// childTransfer: path mode count. Moves amounts between accounts.
func childTransfer(args []string) error {
	opts, err := childOptions(args[1], "off")
	if err != nil {
		return err
	}
	db, err := sqlvfs.Open(args[0], opts)
	if err != nil {
		return err
	}
	defer db.Close()
	count, _ := strconv.Atoi(args[2])
	return transfer(db, count)
}

func transfer(db *sql.DB, count int) error {
	for range count {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		for _, q := range []string{
			`UPDATE account SET n = n - 1, pad = hex(randomblob(200)) WHERE id = ?`,
			`UPDATE account SET n = n + 1 WHERE id = ?`,
		} {
			if _, err := tx.Exec(q, rand.IntN(100)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(`UPDATE done SET n = n + 1`); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// TestProcessesTogether lets processes and connections write and read one
// database: the sum over all accounts is the same in every snapshot, and no
// transfer is lost.
func TestProcessesTogether(t *testing.T) {
	const processes, connections, each = 3, 2, 150
	for _, mode := range []string{"wal", "delete", "persist"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "db")
			opts, err := childOptions(mode, "off")
			if err != nil {
				t.Fatal(err)
			}
			db := mustOpen(t, path, opts)
			mustExec(t, db, `CREATE TABLE account(id INTEGER PRIMARY KEY, n INT, pad TEXT);
				CREATE TABLE done(n INT); INSERT INTO done VALUES (0);
				INSERT INTO account SELECT value, 1000, hex(randomblob(200)) FROM generate_series(0, 99)`)
			var wg sync.WaitGroup
			for range processes {
				cmd := child(t, "transfer", path, mode, strconv.Itoa(each))
				wg.Go(func() {
					if err := cmd.Run(); err != nil {
						t.Errorf("child: %v", err)
					}
				})
			}
			for range connections {
				wg.Go(func() {
					if err := transfer(db, each); err != nil {
						t.Error(err)
					}
				})
			}
			finished := make(chan struct{})
			go func() { wg.Wait(); close(finished) }()
			for reading := true; reading; {
				select {
				case <-finished:
					reading = false
				default:
				}
				if got := queryString(t, db, `SELECT sum(n) FROM account`); got != "100000" {
					t.Fatalf("a snapshot holds %s in all, want 100000", got)
				}
			}
			if got, want := queryString(t, db, `SELECT n FROM done`), strconv.Itoa((processes+connections)*each); got != want {
				t.Errorf("%s transfers recorded, want %s", got, want)
			}
			if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
				t.Error(got)
			}
		})
	}
}

// childCommit: path mode sync. Commits rows for ever and prints each id when
// its commit has returned.
func childCommit(args []string) error {
	opts, err := childOptions(args[1], args[2])
	if err != nil {
		return err
	}
	db, err := sqlvfs.Open(args[0], opts)
	if err != nil {
		return err
	}
	if _, err := db.Exec(`CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v TEXT)`); err != nil {
		return err
	}
	var id int
	if err := db.QueryRow(`SELECT coalesce(max(id), 0) FROM t`).Scan(&id); err != nil {
		return err
	}
	for {
		id++
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO t VALUES (?, hex(randomblob(3000)))`, id); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE t SET v = hex(randomblob(2000)) WHERE id % 10 = ? AND id > ?`, id%10, id-100); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		fmt.Println(id)
	}
}

// TestKillNine kills a writing process at random moments, again and again on
// one database: it always opens, passes the integrity check and holds every
// acknowledged row, whatever the journal mode, and even without syncing, for
// the system lives on.
func TestKillNine(t *testing.T) {
	cycles := 6
	if s := os.Getenv("SQLVFS_KILLS"); s != "" { // for longer runs by hand
		cycles, _ = strconv.Atoi(s)
	}
	for _, c := range [][2]string{{"wal", "full"}, {"wal", "off"}, {"delete", "full"}, {"delete", "off"}, {"truncate", "normal"}, {"persist", "off"}} {
		t.Run(c[0]+"-"+c[1], func(t *testing.T) {
			t.Parallel() // they mostly wait for the disk
			path := filepath.Join(t.TempDir(), "db")
			acked, life := 0, 350*time.Millisecond
			for cycle := 0; cycle < cycles || acked == 0; cycle++ {
				if cycle >= cycles { // none on this busy machine has committed
					life *= 2
				}
				if life > time.Minute {
					t.Fatal("no cycle lived long enough to commit; the test shows nothing")
				}
				acked = max(acked, killOnce(t, path, c[0], c[1], life))
				opts, err := childOptions(c[0], c[1])
				if err != nil {
					t.Fatal(err)
				}
				db := mustOpen(t, path, opts)
				var tables, rows, last int
				err = db.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&tables)
				if err == nil && tables > 0 {
					err = db.QueryRow(`SELECT count(*), coalesce(max(id), 0) FROM t`).Scan(&rows, &last)
				}
				if err != nil || last < acked || rows != last {
					t.Fatalf("cycle %d: %d rows up to %d, %d acknowledged: %v", cycle, rows, last, acked, err)
				}
				if got := queryString(t, db, `PRAGMA integrity_check`); got != "ok" {
					t.Fatalf("cycle %d: %s", cycle, got)
				}
				db.Close()
			}
		})
	}
}

// killOnce runs a committing child, kills it before it is older than life, and
// returns the last id it acknowledged.
func killOnce(t *testing.T, path, mode, sync string, life time.Duration) int {
	t.Helper()
	cmd := child(t, "commit", path, mode, sync)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(life/4+rand.N(life*3/4), func() { cmd.Process.Kill() })
	acked := 0
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break // a line without its end is not acknowledged
		}
		if acked, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Wait()
	return acked
}

// childConvert: source target. Encrypts.
func childConvert(args []string) error {
	opts, err := childOptions("wal", "off")
	if err != nil {
		return err
	}
	c := sqlvfs.Conversion{Source: args[0], Target: args[1], TargetKeys: opts.Keys,
		Progress: func(done, total int64) { fmt.Println(done); time.Sleep(5 * time.Millisecond) }}
	return c.Run(context.Background())
}
