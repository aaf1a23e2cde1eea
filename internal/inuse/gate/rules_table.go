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

// RulesDatabase is the database of tables of rules. Restricted accounts can do
// nothing with it, nor may they have privileges on it.
const RulesDatabase = "veildb_gate"

// ErrRulesTable means a table of rules that cannot be used.
var ErrRulesTable = errors.New("the table of rules cannot be used")

// A RulesTable keeps rules in a table of the backends, which many gates share. It
// is a [policy.Source]. Each change is a row; the one with the highest version
// counts:
//
//	version     BIGINT UNSIGNED PRIMARY KEY   from 1
//	document    LONGTEXT                      in the form of a policy.Document
//	changed_at  TIMESTAMP
//	changed_by  VARCHAR(200)                  the account that wrote it
//
// It reads from the first backend that answers, with the gate's own account, and
// never takes an older version than it has seen: a backend behind the others must
// not bring old rules back. To write, that account needs INSERT on the table.
type RulesTable struct {
	Name     string // of the table in RulesDatabase
	Backends []*Backend

	mu   sync.Mutex
	seen uint64 // highest version
}

// CheckRulesTable reports whether a name can be that of a table of rules: letters,
// digits and underscores, at most 60.
func CheckRulesTable(name string) error {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return fmt.Errorf("name of a table of rules: %w: letters, digits and _ only", ErrRulesTable)
		}
	}
	if name == "" || len(name) > 60 {
		return fmt.Errorf("name of a table of rules: %w: 1 to 60 characters", ErrRulesTable)
	}
	return nil
}

func (r *RulesTable) table() string { return "`" + RulesDatabase + "`.`" + r.Name + "`" }

// Read implements policy.Source. Errors: ErrNoBackend, ErrRulesTable.
func (r *RulesTable) Read(ctx context.Context) ([]byte, error) {
	text, _, err := r.read(ctx)
	return text, err
}

func (r *RulesTable) read(ctx context.Context) (text []byte, version uint64, err error) {
	err = r.run(ctx, func(c *wire.Conn) error {
		text, version, err = r.newest(c)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read rules: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if version < r.seen {
		return nil, 0, fmt.Errorf("read rules: %w: version %d, after %d was seen", ErrRulesTable, version, r.seen)
	}
	r.seen = version
	return text, version, nil
}

// newest reads the row that counts.
func (r *RulesTable) newest(c *wire.Conn) (text []byte, version uint64, err error) {
	err = queryStrings(c, "SELECT version, document FROM "+r.table()+" ORDER BY version DESC LIMIT 1", func(v []string) {
		version, _ = strconv.ParseUint(v[0], 10, 64)
		text = []byte(v[1])
	})
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: it is empty", ErrRulesTable)
	}
	return text, version, err
}

// Write implements policy.Source: it adds a row. Two gates that write at once
// write the same version, and the second fails with ErrConflict. Errors:
// policy.ErrConflict, ErrNoBackend, ErrRulesTable.
func (r *RulesTable) Write(ctx context.Context, old, text []byte) error {
	err := r.run(ctx, func(c *wire.Conn) error {
		now, version, err := r.newest(c)
		if err != nil {
			return err
		}
		if string(now) != string(old) {
			return policy.ErrConflict
		}
		return r.insert(c, version+1, text)
	})
	if err != nil {
		return fmt.Errorf("write rules: %w", err)
	}
	return nil
}

// Publish makes text the rules, whatever they were, and the database and the table
// if they are not there. It returns the version. Errors: policy.ErrConflict if
// others do so at the same time, ErrNoBackend, ErrRulesTable.
func (r *RulesTable) Publish(ctx context.Context, text []byte) (version uint64, err error) {
	err = r.run(ctx, func(c *wire.Conn) error {
		now, v, err := r.newest(c)
		if code(err) == codeNoTable || code(err) == codeNoDatabase {
			if err := r.create(c); err != nil {
				return err
			}
		} else if err != nil && !errors.Is(err, ErrRulesTable) {
			return err
		}
		if version = v; v > 0 && string(now) == string(text) {
			return nil
		}
		version++
		return r.insert(c, version, text)
	})
	if err != nil {
		return 0, fmt.Errorf("publish rules: %w", err)
	}
	return version, nil
}

// Server errors that are told apart.
const (
	codeNoDatabase = 1049
	codeDuplicate  = 1062
	codeNoTable    = 1146
)

func code(err error) uint16 {
	var se *wire.ServerError
	if errors.As(err, &se) {
		return se.Code
	}
	return 0
}

func (r *RulesTable) create(c *wire.Conn) error {
	for _, sql := range []string{
		"CREATE DATABASE IF NOT EXISTS `" + RulesDatabase + "` CHARACTER SET utf8mb4",
		"CREATE TABLE IF NOT EXISTS " + r.table() + " (version BIGINT UNSIGNED NOT NULL PRIMARY KEY, document LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL," +
			" changed_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, changed_by VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL) ENGINE=InnoDB",
	} {
		if err := wire.RunQuery(c, sql, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *RulesTable) insert(c *wire.Conn, version uint64, text []byte) error {
	err := wire.RunQuery(c, fmt.Sprintf("INSERT INTO %s (version, document, changed_by) VALUES (%d, CONVERT(x'%s' USING utf8mb4), LEFT(USER(), 200))",
		r.table(), version, hex.EncodeToString(text)), nil)
	if code(err) == codeDuplicate {
		return policy.ErrConflict
	}
	return err
}

// run runs f on the first backend that answers.
func (r *RulesTable) run(ctx context.Context, f func(*wire.Conn) error) error {
	var tried []string
	for _, b := range r.Backends {
		c, err := b.Connect(ctx)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		defer c.Close()
		if err = f(c); code(err) != 0 {
			return fmt.Errorf("%w: %w", ErrRulesTable, err)
		}
		return err
	}
	return fmt.Errorf("%w: %s", ErrNoBackend, strings.Join(tried, "; "))
}
