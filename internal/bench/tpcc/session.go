package tpcc

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// verb is a statement without parameters or rows: BEGIN and its like. SQLite
// parses each statement itself, so there it is prepared; to a server it is
// sent as text, as drivers do.
type verb struct {
	stmt dsn.Stmt
	text string
}

// preparer prepares statements and remembers the first error.
type preparer struct {
	*terminal
	ctx context.Context
	err error
}

// stmt prepares query, written with "?" parameters. "FOR UPDATE" at its end is
// removed for SQLite, where a writing transaction holds the only write lock.
func (p *preparer) stmt(query string) dsn.Stmt {
	if p.err != nil {
		return nil
	}
	if p.config.Dialect == dsn.SQLite {
		query = strings.TrimSuffix(query, " FOR UPDATE")
	}
	s, err := p.config.Dialect.Prepare(p.ctx, p.dc, fmt.Sprintf("tpcc_%d", len(p.all)), query)
	if err != nil {
		p.err = err
		return nil
	}
	p.all = append(p.all, s)
	return s
}

func (p *preparer) verb(text string) verb {
	if p.config.Dialect != dsn.SQLite {
		return verb{text: text}
	}
	return verb{text: text, stmt: p.stmt(text)}
}

// lock is " FOR UPDATE" in the flavors that lock rows BenchBase reads without
// a lock.
func (p *preparer) lock() string {
	if p.profile.forUpdate {
		return " FOR UPDATE"
	}
	return ""
}

// prepare sets the session up and prepares the statements.
//
// On MySQL the session has autocommit off and sends no BEGIN, as BenchBase's
// does; on PostgreSQL and SQLite each transaction begins with one. On SQLite
// the three writing transactions begin IMMEDIATE: one that read first and
// wrote later would fail whenever another had written between.
func (t *terminal) prepare(ctx context.Context, dc driver.Conn) error {
	t.dc = dc
	p := &preparer{terminal: t, ctx: ctx}
	for _, s := range t.session() {
		if _, err := dsn.ExecText(t.dc, s); err != nil {
			return fmt.Errorf("set up session: %w", err)
		}
	}
	switch t.config.Dialect {
	case dsn.SQLite:
		t.begin, t.write = p.verb("BEGIN"), p.verb("BEGIN IMMEDIATE")
	case dsn.Postgres:
		t.begin = p.verb("BEGIN")
		t.write = t.begin
	}
	if t.config.Routines {
		t.routines = p.calls()
		return p.err
	}
	t.commit, t.rollback = p.verb("COMMIT"), p.verb("ROLLBACK")
	t.newOrder, t.batch = p.newOrder(), p.batch()
	t.payment = p.payment()
	t.orderStatus = p.orderStatus()
	t.delivery = p.delivery()
	t.stockLevel = p.stockLevel()
	return p.err
}

// session is the statements that set a connection up.
func (t *terminal) session() (s []string) {
	level := ""
	if t.config.Isolation != "" || t.profile.serializable {
		level = strings.ToUpper(strings.ReplaceAll(t.Isolation(), "-", " "))
	}
	switch t.config.Dialect {
	case dsn.SQLite:
		s = []string{"PRAGMA foreign_keys = ON"}
	case dsn.MySQL:
		s = []string{"SET autocommit = 0"} // routines begin and end transactions themselves
		if level != "" {
			s = append(s, "SET SESSION TRANSACTION ISOLATION LEVEL "+level)
		}
	case dsn.Postgres:
		if level != "" {
			s = []string{"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + level}
		}
	}
	return s
}
