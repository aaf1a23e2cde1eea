package volumetest

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/target"
)

// contents is a fingerprint of what the load wrote.
const contents = "SELECT concat(count(*), ' ', sum(amount), ' ', sum(rev), ' ', sum(length(note)), ' ', min(md5(note)), max(md5(note))) FROM ledger"

// TestBaseBackup takes a base backup of a server under load onto another volume,
// which becomes a standby there, follows, and is promoted.
func TestBaseBackup(t *testing.T) {
	long(t)
	rng := newRand(t)
	primary := mountVolume(t, "", "through")
	s := startServer(t, target.Postgres, filepath.Join(primary.point, "data"), durable[target.Postgres])
	l := newLoad(t, s)
	l.start(rng)
	eventually(t, "commits", func() bool { return l.commits() > 100 || l.failed() })
	second := mountVolume(t, "", "through")
	standby := filepath.Join(second.point, "standby")
	if err := os.Mkdir(standby, 0o700); err != nil {
		t.Fatal(err)
	}
	give(t, standby)
	pg(t, "pg_basebackup", "--host="+filepath.Dir(s.Socket()), "--username=postgres", "--pgdata="+standby, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast")
	pg(t, "pg_verifybackup", standby)
	db := startPostgres(t, standby)
	eventually(t, "more commits", func() bool { return l.commits() > 300 || l.failed() })
	if errs := l.stop(); l.commits() < 300 {
		t.Fatalf("the load ended: %v", errs)
	}
	// What was in flight when the load stopped ends before what counts is read.
	eventually(t, "an idle primary", func() bool {
		n, err := one(context.Background(), s.db, "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%' OR state = 'active' AND query LIKE '%ledger%' AND pid <> pg_backend_pid()")
		return err == nil && n == 0
	})
	want := column(t, s.db, contents)[0]
	eventually(t, "the standby to follow", func() bool {
		var got string
		return db.QueryRow(contents).Scan(&got) == nil && got == want
	})
	// A query on a standby may be cancelled by what it replays.
	eventually(t, "promotion", func() bool {
		_, err := db.Exec("SELECT pg_promote(true, 120)")
		return err == nil
	})
	eventually(t, "writing on the promoted standby", func() bool {
		_, err := db.Exec("CREATE TABLE IF NOT EXISTS after_promotion AS SELECT 1 AS one")
		return err == nil
	})
	l.verify(t)
}

// TestLowerBackup copies the lower directory of a server under load between
// pg_backup_start and pg_backup_stop, while the keys are rotated, and restores
// it with the new key file.
func TestLowerBackup(t *testing.T) {
	long(t)
	rng := newRand(t)
	v := mountVolume(t, "", "through")
	s := startServer(t, target.Postgres, filepath.Join(v.point, "data"), durable[target.Postgres])
	s.exec(t, "ALTER SYSTEM SET wal_keep_size = '512MB'", "SELECT pg_reload_conf()")
	l := newLoad(t, s)
	l.start(rng)
	eventually(t, "commits", func() bool { return l.commits() > 100 || l.failed() })

	session, err := s.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.ExecContext(context.Background(), "SELECT pg_backup_start('lower', true)"); err != nil {
		t.Fatal(err)
	}
	restored := newVolume(t, "", "through")
	veildb(t, "key", "rotate", v.key)
	// Files come and go while they are copied: that is what a backup of a
	// running server has to bear.
	out, err := tryRun(nil, "cp", "-a", v.lower+"/.", restored.lower)
	if err != nil && !strings.Contains(out, "No such file") {
		t.Fatal(err)
	}
	veildb(t, "key", "rotate", v.key, "--dek")
	eventually(t, "commits during the backup", func() bool { return l.commits() > 200 || l.failed() })
	l.stop()
	var label string
	if err := session.QueryRowContext(context.Background(), "SELECT labelfile FROM pg_backup_stop(true)").Scan(&label); err != nil {
		t.Fatal(err)
	}
	run(t, nil, "cp", "-a", filepath.Join(v.lower, "files/data/pg_wal")+"/.", filepath.Join(restored.lower, "files/data/pg_wal"))

	restored.key = v.key
	restored.start(t)
	data := filepath.Join(restored.point, "data")
	if err := os.WriteFile(filepath.Join(data, "backup_label"), []byte(label), 0o600); err != nil {
		t.Fatal(err)
	}
	give(t, filepath.Join(data, "backup_label"))
	os.Remove(filepath.Join(data, "postmaster.pid"))
	original := s.db
	s.db = startPostgres(t, data)
	l.verify(t)
	s.db = original
}

// TestUpgrade runs pg_upgrade from a cluster on a volume to another, by copying
// and by hard links.
func TestUpgrade(t *testing.T) {
	long(t)
	rng := newRand(t)
	v := mountVolume(t, "", "through")
	for mode, option := range map[string][]string{"copy": nil, "link": {"--link"}} {
		t.Run(mode, func(t *testing.T) {
			data := filepath.Join(v.point, "old-"+mode)
			s := startServer(t, target.Postgres, data, durable[target.Postgres])
			l := newLoad(t, s)
			l.start(rng)
			eventually(t, "commits", func() bool { return l.commits() > 100 || l.failed() })
			l.stop()
			l.verify(t)
			want := column(t, s.db, contents)[0]
			s.stop(t)

			upgraded, here := filepath.Join(v.point, "new-"+mode), filepath.Join(v.point, "run-"+mode)
			for _, dir := range []string{upgraded, here} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				give(t, dir)
			}
			pg(t, "initdb", "--pgdata="+upgraded, "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--data-checksums")
			bin := postgresBin(t)
			asPostgres(t, here, filepath.Join(bin, "pg_upgrade"), append([]string{"--old-bindir=" + bin, "--new-bindir=" + bin, "--old-datadir=" + data,
				"--new-datadir=" + upgraded, "--username=postgres", "--socketdir=" + tempRun(t)}, option...)...)
			db := startPostgres(t, upgraded)
			if got := column(t, db, contents)[0]; got != want {
				t.Errorf("after pg_upgrade by %s the ledger is %q, want %q", mode, got, want)
			}
		})
	}
}

// TestMariaBackup takes a backup of MariaDB under load with its own tool onto
// the volume, prepares it there and starts a server on it.
func TestMariaBackup(t *testing.T) {
	long(t)
	rng := newRand(t)
	v := mountVolume(t, "", "through")
	s := startServer(t, target.MariaDB, filepath.Join(v.point, "data"), durable[target.MariaDB])
	l := newLoad(t, s)
	l.start(rng)
	eventually(t, "commits", func() bool { return l.commits() > 100 || l.failed() })
	copied := filepath.Join(v.point, "backup")
	run(t, nil, "mariabackup", "--no-defaults", "--backup", "--target-dir="+copied, "--datadir="+s.DataDir(), "--user=root", "--socket="+s.Socket())
	before := l.commits()
	eventually(t, "commits after the backup", func() bool { return l.commits() > before+50 || l.failed() })
	l.stop()
	run(t, nil, "mariabackup", "--no-defaults", "--prepare", "--target-dir="+copied)
	socket := filepath.Join(tempRun(t), "s.sock")
	inst, err := target.Find(target.MariaDB, "")
	if err != nil {
		t.Fatal(err)
	}
	db := startRaw(t, "mysql://root@/veildb?socket="+socket, syscall.SIGTERM, inst.Server, "--no-defaults", "--datadir="+copied, "--socket="+socket, "--skip-networking",
		"--user=root", "--pid-file="+socket+".pid", "--tmpdir="+filepath.Dir(socket))
	// The backup is of some moment while it ran: whole, if not the newest.
	balances := map[int64]int64{}
	if err := eachRow(db, "SELECT id, payer, payee, amount, rev, note FROM ledger", func(scan func(...any) error) error {
		var id, payer, payee, amount int64
		var rev int
		var text string
		err := scan(&id, &payer, &payee, &amount, &rev, &text)
		if text != note(id, rev) {
			t.Errorf("the note of movement %d, revision %d, is not what was written", id, rev)
		}
		balances[payer], balances[payee] = balances[payer]-amount, balances[payee]+amount
		return err
	}); err != nil || len(balances) == 0 {
		t.Fatalf("read the ledger of the backup: %d accounts used, %v", len(balances), err)
	}
	copyOf := &load{server: &server{db: db, d: s.d}}
	copyOf.verifyAccounts(t, balances)
}

func long(t testing.TB) {
	t.Helper()
	if !*longForm {
		t.Skip("takes a minute: part of scripts/test-volume.sh, run with -long")
	}
}

func postgresBin(t testing.TB) string {
	t.Helper()
	inst, err := target.Find(target.Postgres, "")
	if err != nil {
		t.Fatal(err)
	}
	return inst.BinDir
}

// pg runs a program of PostgreSQL as its user.
func pg(t testing.TB, name string, args ...string) {
	t.Helper()
	asPostgres(t, "/", filepath.Join(postgresBin(t), name), args...)
}

func asPostgres(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: postgresUser(t)}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", filepath.Base(name), strings.Join(args, " "), err, tail(out))
	}
}

// postgresUser is the user that servers of package target run as.
func postgresUser(t testing.TB) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// give makes a path that user's.
func give(t testing.TB, path string) {
	t.Helper()
	u := postgresUser(t)
	if err := os.Chown(path, int(u.Uid), int(u.Gid)); err != nil {
		t.Fatal(err)
	}
}

// tempRun is a directory for sockets, whose paths must be short.
func tempRun(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "veildb-run-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	give(t, dir)
	return dir
}

// startPostgres starts a server on data that are there, until the test ends.
func startPostgres(t testing.TB, data string) *sql.DB {
	t.Helper()
	dir := tempRun(t)
	return startRaw(t, "postgres://postgres@/veildb?host="+dir, syscall.SIGINT, filepath.Join(postgresBin(t), "postgres"), "-D", data,
		"-c", "unix_socket_directories="+dir, "-c", "listen_addresses=", "-c", "port=5432")
}

// startRaw starts a server by its command line, waits until it answers, and
// stops it when the test ends. PostgreSQL runs as its user.
func startRaw(t testing.TB, url string, stop syscall.Signal, name string, args ...string) *sql.DB {
	t.Helper()
	d, err := dsn.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if d.Dialect() == dsn.Postgres {
		cmd.SysProcAttr.Credential = postgresUser(t)
	}
	done, started := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(stop)
		select {
		case <-done:
		case <-time.After(patience):
			cmd.Process.Kill()
			<-done
			t.Errorf("%s does not end: %s", filepath.Base(name), tail(log.Bytes()))
		}
	})
	var db *sql.DB
	eventually(t, "an answer of "+filepath.Base(name), func() bool {
		if ended(done) {
			t.Fatalf("%s ended: %s", filepath.Base(name), tail(log.Bytes()))
		}
		db, err = d.Open(context.Background(), dsn.Options{})
		return err == nil
	})
	t.Cleanup(func() { db.Close() })
	return db
}
