package tpcc

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// HammerDB runs each transaction as one call of a routine that its load leaves
// in the database, so that a transaction is one round trip: functions on
// PostgreSQL, procedures on MySQL, which begin and end the transaction
// themselves. These are of the same cut. What HammerDB's draw inside, ours draw
// from a number that the terminal gives, so that two databases called alike do
// alike.

// routine is one routine: its name and the statement that makes it, by dialect.
type routine struct {
	name            string
	mysql, postgres string
}

// routines lists them in the order of Kinds.
var routines = [numKinds]routine{
	NewOrder:    {"tprocc_new_order", mysqlNewOrder, postgresNewOrder},
	Payment:     {"tprocc_payment", mysqlPayment, postgresPayment},
	OrderStatus: {"tprocc_order_status", mysqlOrderStatus, postgresOrderStatus},
	Delivery:    {"tprocc_delivery", mysqlDelivery, postgresDelivery},
	StockLevel:  {"tprocc_stock_level", mysqlStockLevel, postgresStockLevel},
}

// callable reports whether a flavor has routines on a server of the dialect.
func callable(f Flavor, d dsn.Dialect) bool {
	return f == HammerDB && (d == dsn.MySQL || d == dsn.Postgres)
}

// An executor is a pool or one of its connections.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// createRoutines makes the routines anew. It needs the right to create them.
func createRoutines(ctx context.Context, db executor, d dsn.Dialect) error {
	if err := DropRoutines(ctx, db, d); err != nil {
		return err
	}
	for _, r := range routines {
		text := r.mysql
		if d == dsn.Postgres {
			text = r.postgres
		}
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("create routine %s: %w", r.name, err)
		}
	}
	return nil
}

// DropRoutines drops what a load of HammerDB's flavor made beside tables, if
// it is there.
func DropRoutines(ctx context.Context, db executor, d dsn.Dialect) error {
	kind := ""
	switch d {
	case dsn.MySQL:
		kind = "PROCEDURE"
	case dsn.Postgres:
		kind = "FUNCTION"
	default:
		return nil
	}
	for _, r := range routines {
		if _, err := db.ExecContext(ctx, "DROP "+kind+" IF EXISTS "+r.name); err != nil {
			return fmt.Errorf("drop routine %s: %w", r.name, err)
		}
	}
	return nil
}

// calls holds the prepared call of each routine.
type calls [numKinds]dsn.Stmt

// parameters is how many each routine has.
var parameters = [numKinds]int{NewOrder: 8, Payment: 8, OrderStatus: 4, Delivery: 3, StockLevel: 3}

func (p *preparer) calls() (c calls) {
	verb := "SELECT "
	if p.config.Dialect == dsn.MySQL {
		verb = "CALL "
	}
	for kind, r := range routines {
		c[kind] = p.stmt(verb + r.name + "(" + strings.TrimSuffix(strings.Repeat("?,", parameters[kind]), ",") + ")")
	}
	return c
}

// rolledBack is what the routine of NewOrder returns for an order that it
// rolled back, as demanded.
const rolledBack = -1

// call runs one transaction as a call. Its inputs are drawn as for single
// statements, but for the lines of an order.
func (t *terminal) call(kind int) error {
	var args []any
	switch kind {
	case NewOrder:
		bad := 0
		d, c, n, lines := t.ourDistrict(), t.customerID(), t.input.between(1, minstdModulus-1), t.input.between(5, maxLines)
		if t.input.percent(1) {
			bad = 1
		}
		args = []any{t.home, d, c, t.config.Warehouses, lines, n, bad, t.now()}
	case Payment:
		d, amount := t.ourDistrict(), int64(t.input.between(1_00, 5000_00))
		cw, cd := t.home, d
		if t.input.percent(15) {
			cw, cd = t.otherWarehouse(), t.input.between(1, districtsPerWH)
		}
		id, name := t.who()
		args = []any{t.home, d, cw, cd, id, name, t.cents(amount), t.now()}
	case OrderStatus:
		d := t.ourDistrict()
		id, name := t.who()
		args = []any{t.home, d, id, name}
	case Delivery:
		args = []any{t.home, t.input.between(1, 10), t.now()}
	case StockLevel:
		args = []any{t.home, t.district, t.input.between(10, 20)}
	}
	var answer sql.NullInt64
	err := t.must(t.routines[kind], args, &answer)
	if kind == NewOrder && err != nil && t.config.Dialect == dsn.Postgres && t.config.Dialect.Code(err) == postgresAborted {
		return errUserAbort
	}
	if err != nil {
		return err
	}
	if kind == NewOrder && answer.Int64 == rolledBack {
		return errUserAbort
	}
	return nil
}

// who draws a customer: a last name in 60 %, with the number 0, or a number.
func (t *terminal) who() (id int, name string) {
	if t.input.percent(60) {
		return 0, t.lastName()
	}
	return t.customerID(), ""
}

// minstdModulus and the factor 48271 are those of the generator MINSTD (Park,
// Miller and Stockmeyer, CACM 36(7), 1993), which routines draw an order's
// lines with.
const minstdModulus = 2147483647
