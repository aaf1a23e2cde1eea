package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/disk"
)

// mariadb is MariaDB, with what can stand before and below it.
var mariadb = serverKind{
	engine: target.MariaDB, program: target.MariaDB, title: "MariaDB", dialect: dsn.MySQL, nodes: 1,
	variants: map[string]string{
		"plain":   "MariaDB as it is",
		"tde":     "data, logs and temporary files on an encrypted volume (AES-256-XTS)",
		"fuse":    "the same mount without a cipher",
		"native":  "MariaDB's own encryption (file_key_management, AES-256-CTR): tables, redo log, binary log, temporary files",
		"relay":   "through a process that passes bytes on",
		"gate":    "through the gate, nothing protected",
		"cols20":  "through the gate, 20 % of the columns encrypted; the client decrypts (veilsql)",
		"cols50":  "50 % of the columns",
		"cols100": "all columns",
		"cols":    "the columns that --columns FILE lists",
	},
	loading: map[string]string{
		"innodb_flush_log_at_trx_commit": "0",
		"innodb_fast_shutdown":           "0", // leaves no work behind that a copy would do
		"log_bin":                        "",  // or every copy would hold the load a second time
	},
	prepare: []string{
		"CREATE USER " + studyAccount + "@'%', " + gateAccount + "@'%'",
		"GRANT ALL ON " + studyDatabase + ".* TO " + studyAccount + "@'%'",
		"GRANT SELECT, SHOW VIEW, TRIGGER ON *.* TO " + gateAccount + "@'%'",
	},
	native: nativeMariaDB,
}

// nativeKeys is the key file of the engine's own encryption, in its data
// directory as the plugin's file.
const nativeKeys = "native.keys"

// nativeSettings turn on everything that MariaDB can encrypt.
func nativeSettings(e *serverEngine) map[string]string {
	return map[string]string{
		"plugin_load_add":                          "file_key_management",
		"file_key_management_filename":             filepath.Join(e.dir, nativeKeys),
		"file_key_management_encryption_algorithm": "AES_CTR",
		"innodb_encrypt_tables":                    "ON",
		"innodb_encrypt_log":                       "ON",
		"innodb_encrypt_temporary_tables":          "ON",
		"encrypt_tmp_files":                        "ON",
		"encrypt_tmp_disk_tables":                  "ON",
		"aria_encrypt_tables":                      "ON",
		"encrypt_binlog":                           "ON",
		"innodb_encryption_threads":                "0", // there is nothing left for them to do
	}
}

// nativeMariaDB has a server encrypt the twin in place and waits until no
// tablespace has a page in the clear.
func nativeMariaDB(ctx context.Context, e *serverEngine, twin string) error {
	if err := e.makeNativeKeys(ctx); err != nil {
		return err
	}
	extra := nativeSettings(e)
	maps.Copy(extra, e.loading)
	extra["innodb_encryption_threads"], extra["innodb_encryption_rotation_iops"] = "4", "100000"
	return e.with(ctx, twin, extra, func(_ *target.Server, admin *sql.DB) error {
		for {
			var left int
			err := admin.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES_ENCRYPTION
				WHERE MIN_KEY_VERSION = 0 OR ROTATING_OR_FLUSHING = 1`).Scan(&left)
			if err != nil {
				return fmt.Errorf("read state of encryption: %w", err)
			}
			if left == 0 {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

// makeNativeKeys exports the plugin's key from the throwaway keys of this
// directory.
func (e *serverEngine) makeNativeKeys(ctx context.Context) error {
	path := filepath.Join(e.dir, nativeKeys)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ring, err := throwawayRing(ctx, e.dir)
	if err != nil {
		return err
	}
	defer ring.Close()
	key, err := mariadbKeys(ring, ring.Current(), []uint{1}, "")
	if err != nil {
		return err
	}
	defer clear(key)
	return disk.AtomicWrite(path, key, 0o600)
}
