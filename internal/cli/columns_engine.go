package cli

import (
	"context"
	"database/sql/driver"

	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/inuse/cells"
	"github.com/veildb/veildb/internal/inuse/sqlend"
)

// sqliteEngine lets column protection ask SQLite.
type sqliteEngine struct{}

var _ sqlend.Engine = sqliteEngine{}

func (sqliteEngine) Inspect(ctx context.Context, conn driver.Conn, query string) (sqlend.Statement, error) {
	columns, reads, err := sqlvfs.Origins(ctx, conn, query)
	if err != nil {
		return sqlend.Statement{}, err
	}
	return sqlend.Statement{Columns: cellColumns(columns), Reads: cellColumns(reads)}, nil
}

func (sqliteEngine) Flows(ctx context.Context, conn driver.Conn, query string) ([]sqlend.Flow, error) {
	flows, err := sqlvfs.Flows(ctx, conn, query)
	if err != nil {
		return nil, err
	}
	out := make([]sqlend.Flow, len(flows))
	for i, f := range flows {
		out[i] = sqlend.Flow{To: cellColumn(f.To), From: cellColumns(f.From)}
	}
	return out, nil
}

func (sqliteEngine) Watch(_ context.Context, conn driver.Conn) (sqlend.Watch, error) {
	return sqlvfs.NewWatch(conn)
}

func (sqliteEngine) Recompiled(stmt driver.Stmt) (int, error) { return sqlvfs.Recompiled(stmt) }

func cellColumn(c sqlvfs.Column) cells.Column {
	return cells.Column{Database: c.Schema, Table: c.Table, Column: c.Name}
}

func cellColumns(list []sqlvfs.Column) []cells.Column {
	out := make([]cells.Column, len(list))
	for i, c := range list {
		out[i] = cellColumn(c)
	}
	return out
}
