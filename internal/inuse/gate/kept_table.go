package gate

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/veildb/veildb/internal/inuse/wire"
)

// A KeptTable keeps sealed master keys in a table of the backends, for the gates
// that share it: an [encdb.KeptStore]. For each account it has a row:
//
//	account     BINARY(32) PRIMARY KEY   as encdb names it
//	sealed      BLOB
//	changed_at  TIMESTAMP
//
// It uses the first backend that answers, with the gate's own account, which needs
// SELECT, INSERT and DELETE on the table. Errors: ErrNoBackend, ErrSharedTable.
type KeptTable struct {
	Name     string // of the table in SharedDatabase
	Backends []*Backend
}

// KeptTableName is the name of the table of master keys that goes with a table of
// rules.
func KeptTableName(rules string) string { return rules + "_kept" }

func (t *KeptTable) run(ctx context.Context, f func(*wire.Conn) error) error {
	return onBackends(ctx, t.Backends, f)
}

func (t *KeptTable) table() string { return sharedName(t.Name) }

// Found makes the table and its database if they are not there.
func (t *KeptTable) Found(ctx context.Context) error {
	err := t.run(ctx, func(c *wire.Conn) error {
		return runAll(c, createShared, "CREATE TABLE IF NOT EXISTS "+t.table()+
			" (account BINARY(32) NOT NULL PRIMARY KEY, sealed BLOB NOT NULL,"+
			" changed_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, KEY (changed_at)) ENGINE=InnoDB")
	})
	if err != nil {
		return fmt.Errorf("found table of kept keys: %w", err)
	}
	return nil
}

// Check reports whether the gate's account can use the table; it changes nothing.
func (t *KeptTable) Check(ctx context.Context) error {
	err := t.run(ctx, func(c *wire.Conn) error {
		return runAll(c, "REPLACE INTO "+t.table()+" (account, sealed) SELECT '', '' FROM DUAL WHERE 1 = 0",
			"DELETE FROM "+t.table()+" WHERE account = ''")
	})
	if err != nil {
		return fmt.Errorf("check table of kept keys: %w", err)
	}
	return nil
}

// Load implements encdb.KeptStore.
func (t *KeptTable) Load(ctx context.Context, account [32]byte) (sealed []byte, err error) {
	err = t.run(ctx, func(c *wire.Conn) error {
		var text string
		if err := queryStrings(c, fmt.Sprintf("SELECT HEX(sealed) FROM %s WHERE account = x'%x'", t.table(), account), func(v []string) { text = v[0] }); err != nil {
			return err
		}
		if text != "" {
			sealed, err = hex.DecodeString(text)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read table of kept keys: %w", err)
	}
	return sealed, nil
}

// Save implements encdb.KeptStore.
func (t *KeptTable) Save(ctx context.Context, account [32]byte, sealed []byte, lifetime time.Duration) error {
	return t.write(ctx,
		fmt.Sprintf("REPLACE INTO %s (account, sealed) VALUES (x'%x', x'%x')", t.table(), account, sealed),
		fmt.Sprintf("DELETE FROM %s WHERE changed_at < NOW() - INTERVAL %d SECOND", t.table(), int64(lifetime/time.Second)+1))
}

// Drop implements encdb.KeptStore.
func (t *KeptTable) Drop(ctx context.Context, account [32]byte) error {
	return t.write(ctx, fmt.Sprintf("DELETE FROM %s WHERE account = x'%x'", t.table(), account))
}

func (t *KeptTable) write(ctx context.Context, statements ...string) error {
	if err := t.run(ctx, func(c *wire.Conn) error { return runAll(c, statements...) }); err != nil {
		return fmt.Errorf("write table of kept keys: %w", err)
	}
	return nil
}
