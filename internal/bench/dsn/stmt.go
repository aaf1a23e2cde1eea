package dsn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-sql-driver/mysql"
)

// A Stmt is a statement that a driver prepared, used without database/sql,
// inside sql.Conn.Raw: that package would add a dozen allocations to each
// statement and, for a context that can end, a goroutine, as MySQL's driver
// does. Terminals give it a context that cannot end. So a statement that has
// begun is not interrupted: they look at theirs between statements, and HangUp
// ends those that take too long.
type Stmt interface {
	driver.Stmt
	driver.StmtQueryContext
	driver.StmtExecContext
}

// Prepare prepares text, written with "?" parameters, on a connection of the
// dialect. PostgreSQL knows the statement as name, which must be unused on the
// connection. Parameters of a Stmt are of type int64 and string, and for MySQL
// and SQLite also of the other types that driver.Value lists.
func (d Dialect) Prepare(ctx context.Context, dc driver.Conn, name, text string) (Stmt, error) {
	text = d.Rebind(text)
	var s Stmt
	var err error
	if d == Postgres {
		s, err = PreparePostgres(ctx, dc, name, text)
	} else {
		s, err = prepareText(ctx, dc, text)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	return s, nil
}

func prepareText(ctx context.Context, dc driver.Conn, text string) (Stmt, error) {
	p, ok := dc.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("driver %T prepares without a context", dc)
	}
	s, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if s, ok := s.(Stmt); ok {
		return s, nil
	}
	return nil, errors.Join(fmt.Errorf("driver statement %T runs without a context", s), s.Close())
}

// ReadsOnClose reports whether rows of dc that are closed are read to their end,
// and what the server says there returned, without taking values from them. Of
// the drivers here that is MySQL's; one that reveals cells has to take them.
func ReadsOnClose(dc driver.Conn) bool {
	t := reflect.TypeOf(dc)
	return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == driverOfMySQL
}

var driverOfMySQL = reflect.TypeFor[mysql.Config]().PkgPath()

// QueryText sends a text without parameters; a driver without direct queries
// needs a statement, which its rows close.
func QueryText(dc driver.Conn, text string) (driver.Rows, error) {
	ctx := context.Background()
	if q, ok := dc.(driver.QueryerContext); ok {
		rows, err := q.QueryContext(ctx, text, nil)
		if err != driver.ErrSkip {
			return rows, err
		}
	}
	s, err := prepareText(ctx, dc, text)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, nil)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return ownedRows{rows, s}, nil
}

// ExecText sends a text that has no parameters and returns no rows.
func ExecText(dc driver.Conn, text string) (driver.Result, error) {
	ctx := context.Background()
	if e, ok := dc.(driver.ExecerContext); ok {
		res, err := e.ExecContext(ctx, text, nil)
		if err != driver.ErrSkip {
			return res, err
		}
	}
	s, err := prepareText(ctx, dc, text)
	if err != nil {
		return nil, err
	}
	res, err := s.ExecContext(ctx, nil)
	return res, errors.Join(err, s.Close())
}

// ownedRows closes its statement with itself.
type ownedRows struct {
	driver.Rows
	s Stmt
}

func (r ownedRows) Close() error { return errors.Join(r.Rows.Close(), r.s.Close()) }
