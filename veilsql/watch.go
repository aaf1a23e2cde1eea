package veilsql

import (
	"context"
	"database/sql/driver"
	"sync/atomic"
)

// A watcher ends a connection when the context of what runs on it ends. The
// MySQL driver has a goroutine for that, which it wakes twice for each statement;
// here the context calls back. One that is used again and again, as in a
// transaction or a loop, stays registered.
//
// begin and end are for the goroutine that uses the connection.
type watcher struct {
	close func() error // of the connection; may be called at any time
	at    *watch       // the last one, nil for none
	ended atomic.Bool  // the connection was closed
}

// A watch is a context that is registered.
type watch struct {
	done   <-chan struct{}
	ctx    context.Context
	forget func() bool
	busy   atomic.Bool // something runs under ctx
}

// begin begins something under ctx, which ends the connection until end is
// called. It is ctx's error if that has ended already.
func (w *watcher) begin(ctx context.Context) (*watch, error) {
	done := ctx.Done()
	if done == nil {
		return nil, nil
	}
	if w.at == nil || w.at.done != done {
		w.drop()
		at := &watch{done: done, ctx: ctx}
		at.forget = context.AfterFunc(ctx, func() {
			if at.busy.CompareAndSwap(true, false) {
				w.ended.Store(true)
				w.close()
			}
		})
		w.at = at
	}
	w.at.busy.Store(true)
	if err := ctx.Err(); err != nil && w.at.busy.CompareAndSwap(true, false) {
		return nil, err // nothing has been sent yet
	}
	return w.at, nil
}

// end ends what began. It returns err, or the context's error in place of one
// that came of it.
func (w *watcher) end(at *watch, err error) error {
	if at == nil || at.busy.CompareAndSwap(true, false) || err == nil {
		return err
	}
	if cause := at.ctx.Err(); cause != nil {
		return cause
	}
	return err
}

// drop lets the context go.
func (w *watcher) drop() {
	if w.at != nil {
		w.at.forget()
		w.at = nil
	}
}

// inner is what the MySQL driver gets for a context: it has nothing to watch.
var inner = context.Background()

func (c *conn) Ping(ctx context.Context) error {
	at, err := c.watcher.begin(ctx)
	if err != nil {
		return err
	}
	return c.watcher.end(at, c.mysqlConn.Ping(inner))
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	at, err := c.watcher.begin(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := c.mysqlConn.BeginTx(inner, opts)
	return tx, c.watcher.end(at, err)
}

// IsValid reports whether the connection may be used again.
func (c *conn) IsValid() bool { return !c.watcher.ended.Load() && c.mysqlConn.IsValid() }

func (c *conn) ResetSession(ctx context.Context) error {
	if c.watcher.ended.Load() {
		return driver.ErrBadConn
	}
	return c.mysqlConn.ResetSession(ctx)
}

func (c *conn) Close() error {
	c.watcher.drop()
	return c.mysqlConn.Close()
}
