package gate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/wire"
)

// SharedDatabase is the database of shared tables. Restricted accounts can do
// nothing with it, nor may they have privileges on it.
const SharedDatabase = "veildb_gate"

// ErrSharedTable means a table of rules or of a registry that cannot be used.
var ErrSharedTable = errors.New("the shared table cannot be used")

// A SharedTable keeps a document, rules or a registry of master keys, in a table
// of the backends that many gates share. It is a [policy.Source] and an
// [encdb.RegistrySource]. Each change is a row; the one with the highest version
// counts:
//
//	version     BIGINT UNSIGNED PRIMARY KEY   from 1
//	document    LONGTEXT
//	changed_at  TIMESTAMP
//	changed_by  VARCHAR(200)                  the account that wrote it
//
// It reads from the first backend that answers, with the gate's own account, and
// never takes an older version than it has seen: a backend behind the others must
// not bring old documents back. To write, that account needs INSERT on the table.
type SharedTable struct {
	Name     string // of the table in SharedDatabase
	Backends []*Backend

	mu   sync.Mutex
	seen uint64 // highest version
}

// maxTableName leaves room for the ending of RegistryTable.
const maxTableName = 55

// RegistryTable is the name of the table of the registry that goes with a table of
// rules.
func RegistryTable(rules string) string { return rules + "_meks" }

// CheckTableName reports whether a name can be that of a shared table: letters,
// digits and underscores, at most 55.
func CheckTableName(name string) error {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return fmt.Errorf("name of a table: %w: letters, digits and _ only", ErrSharedTable)
		}
	}
	if name == "" || len(name) > maxTableName {
		return fmt.Errorf("name of a table: %w: 1 to %d characters", ErrSharedTable, maxTableName)
	}
	return nil
}

func (t *SharedTable) table() string { return sharedName(t.Name) }

// sharedName is a table of SharedDatabase, as statements name it.
func sharedName(table string) string { return "`" + SharedDatabase + "`.`" + table + "`" }

// createShared makes SharedDatabase.
const createShared = "CREATE DATABASE IF NOT EXISTS `" + SharedDatabase + "` CHARACTER SET utf8mb4"

// Read implements policy.Source. Errors: ErrNoBackend, ErrSharedTable.
func (t *SharedTable) Read(ctx context.Context) ([]byte, error) {
	text, _, err := t.read(ctx)
	return text, err
}

func (t *SharedTable) read(ctx context.Context) (text []byte, version uint64, err error) {
	t.mu.Lock() // one at a time: what another has read meanwhile may be newer
	defer t.mu.Unlock()
	err = t.run(ctx, func(c *wire.Conn) error {
		text, version, err = t.newest(c)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read shared table: %w", err)
	}
	if version < t.seen {
		return nil, 0, fmt.Errorf("read shared table: %w: version %d, after %d was seen", ErrSharedTable, version, t.seen)
	}
	t.seen = version
	return text, version, nil
}

// newest reads the row that counts.
func (t *SharedTable) newest(c *wire.Conn) (text []byte, version uint64, err error) {
	err = queryStrings(c, "SELECT version, document FROM "+t.table()+" ORDER BY version DESC LIMIT 1", func(v []string) {
		version, _ = strconv.ParseUint(v[0], 10, 64)
		text = []byte(v[1])
	})
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: it is empty", ErrSharedTable)
	}
	return text, version, err
}

// Write implements policy.Source: it adds a row. Two gates that write at once
// write the same version, and the second fails with ErrConflict. Errors:
// policy.ErrConflict, ErrNoBackend, ErrSharedTable.
func (t *SharedTable) Write(ctx context.Context, old, text []byte) error {
	err := t.run(ctx, func(c *wire.Conn) error {
		now, version, err := t.newest(c)
		if err != nil {
			return err
		}
		if string(now) != string(old) {
			return policy.ErrConflict
		}
		return t.insert(c, version+1, text)
	})
	if err != nil {
		return fmt.Errorf("write shared table: %w", err)
	}
	return nil
}

// Publish makes text the document, whatever it was, and the database and the table
// if they are not there. It returns the version. Errors: policy.ErrConflict if
// others do so at the same time, ErrNoBackend, ErrSharedTable.
func (t *SharedTable) Publish(ctx context.Context, text []byte) (version uint64, err error) {
	err = t.run(ctx, func(c *wire.Conn) error {
		now, v, err := t.newest(c)
		if code(err) == codeNoTable || code(err) == codeNoDatabase {
			if err := t.create(c); err != nil {
				return err
			}
		} else if err != nil && !errors.Is(err, ErrSharedTable) {
			return err
		}
		if version = v; v > 0 && string(now) == string(text) {
			return nil
		}
		version++
		return t.insert(c, version, text)
	})
	if err != nil {
		return 0, fmt.Errorf("publish: %w", err)
	}
	return version, nil
}

// Found makes text the document unless there is one, and the database and the
// table if they are not there. Errors: ErrNoBackend, ErrSharedTable.
func (t *SharedTable) Found(ctx context.Context, text []byte) error {
	err := t.run(ctx, func(c *wire.Conn) error {
		if err := t.create(c); err != nil {
			return err
		}
		_, version, err := t.newest(c)
		if version > 0 || err != nil && !errors.Is(err, ErrSharedTable) {
			return err
		}
		if err = t.insert(c, 1, text); errors.Is(err, policy.ErrConflict) {
			return nil // somebody else did
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("found shared table: %w", err)
	}
	return nil
}

// Server errors that are told apart.
const (
	codeNoDatabase = 1049
	codeDuplicate  = 1062
	codeNoTable    = 1146
	codeDeadlock   = 1213
)

func code(err error) uint16 {
	var se *wire.ServerError
	if errors.As(err, &se) {
		return se.Code
	}
	return 0
}

func (t *SharedTable) create(c *wire.Conn) error {
	return runAll(c, createShared, "CREATE TABLE IF NOT EXISTS "+t.table()+" (version BIGINT UNSIGNED NOT NULL PRIMARY KEY, document LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,"+
		" changed_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, changed_by VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL) ENGINE=InnoDB")
}

// runAll runs statements until one fails.
func runAll(c *wire.Conn, statements ...string) error {
	for _, sql := range statements {
		if err := wire.RunQuery(c, sql, nil); err != nil {
			return err
		}
	}
	return nil
}

func (t *SharedTable) insert(c *wire.Conn, version uint64, text []byte) error {
	err := wire.RunQuery(c, fmt.Sprintf("INSERT INTO %s (version, document, changed_by) VALUES (%d, CONVERT(x'%s' USING utf8mb4), LEFT(USER(), 200))",
		t.table(), version, hex.EncodeToString(text)), nil)
	switch code(err) {
	case codeDuplicate, codeDeadlock: // of Galera, at another node
		return policy.ErrConflict
	}
	return err
}

func (t *SharedTable) run(ctx context.Context, f func(*wire.Conn) error) error {
	return onBackends(ctx, t.Backends, f)
}

// onBackends runs f on the first backend that answers, until ctx ends. Errors:
// ErrNoBackend; ErrSharedTable if the server refuses a statement.
func onBackends(ctx context.Context, backends []*Backend, f func(*wire.Conn) error) error {
	var tried []string
	for _, b := range backends {
		c, err := b.Connect(ctx)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		defer c.Close()
		stop := context.AfterFunc(ctx, func() { c.Close() })
		defer stop()
		if err = f(c); code(err) != 0 {
			return fmt.Errorf("%w: %w", ErrSharedTable, err)
		}
		return err
	}
	return fmt.Errorf("%w: %s", ErrNoBackend, strings.Join(tried, "; "))
}
