package tpcc

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
)

// condition is one consistency condition of clause 3.3.2: a query for the
// number of its violations. {orders} stands for the order table.
type condition struct {
	number int
	says   string
	query  string
}

var conditions = []condition{
	{1, "W_YTD = sum(D_YTD)", `
SELECT COUNT(*) FROM warehouse w JOIN (SELECT d_w_id, SUM(d_ytd) s FROM district GROUP BY d_w_id) d ON d.d_w_id = w.w_id WHERE w.w_ytd <> d.s`},
	{2, "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)", `
SELECT COUNT(*) FROM district d
LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) m FROM {orders} GROUP BY o_w_id, o_d_id) o ON o.o_w_id = d.d_w_id AND o.o_d_id = d.d_id
LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) m FROM new_order GROUP BY no_w_id, no_d_id) n ON n.no_w_id = d.d_w_id AND n.no_d_id = d.d_id
WHERE COALESCE(o.m, 0) <> d.d_next_o_id - 1 OR COALESCE(n.m, d.d_next_o_id - 1) <> d.d_next_o_id - 1`},
	{3, "NO_O_ID is contiguous", `
SELECT COUNT(*) FROM (SELECT no_w_id, no_d_id FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) x`},
	{4, "sum(O_OL_CNT) = count(ORDER-LINE)", `
SELECT COUNT(*) FROM (SELECT o_w_id w, o_d_id d, SUM(o_ol_cnt) s FROM {orders} GROUP BY o_w_id, o_d_id) o
LEFT JOIN (SELECT ol_w_id w, ol_d_id d, COUNT(*) n FROM order_line GROUP BY ol_w_id, ol_d_id) l ON l.w = o.w AND l.d = o.d
WHERE o.s <> COALESCE(l.n, 0)`},
	{5, "O_CARRIER_ID is null if and only if there is a NEW-ORDER", `
SELECT COUNT(*) FROM {orders} LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
WHERE (o_carrier_id IS NULL) = (no_o_id IS NULL)`},
	{6, "O_OL_CNT = count(ORDER-LINE) of the order", `
SELECT COUNT(*) FROM {orders} LEFT JOIN (SELECT ol_w_id w, ol_d_id d, ol_o_id o, COUNT(*) n FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l
ON l.w = o_w_id AND l.d = o_d_id AND l.o = o_id WHERE o_ol_cnt <> COALESCE(l.n, 0)`},
	{7, "OL_DELIVERY_D is null if and only if O_CARRIER_ID is", `
SELECT COUNT(*) FROM order_line JOIN {orders} ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)`},
	{8, "W_YTD = sum(H_AMOUNT)", `
SELECT COUNT(*) FROM warehouse LEFT JOIN (SELECT h_w_id, SUM(h_amount) s FROM history GROUP BY h_w_id) h ON h_w_id = w_id
WHERE w_ytd <> COALESCE(s, 0)`},
	{9, "D_YTD = sum(H_AMOUNT)", `
SELECT COUNT(*) FROM district LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) s FROM history GROUP BY h_w_id, h_d_id) h
ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> COALESCE(s, 0)`},
	{10, "C_BALANCE = sum(OL_AMOUNT delivered) - sum(H_AMOUNT)", `
SELECT COUNT(*) FROM customer
LEFT JOIN (` + deliveredAmounts + `) l ON l.w = c_w_id AND l.d = c_d_id AND l.c = c_id
LEFT JOIN (SELECT h_c_w_id w, h_c_d_id d, h_c_id c, SUM(h_amount) s FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h
ON h.w = c_w_id AND h.d = c_d_id AND h.c = c_id
WHERE c_balance - COALESCE(l.s, 0) + COALESCE(h.s, 0) <> 0`},
	{11, "count(ORDER) - count(NEW-ORDER) = 2100", `
SELECT COUNT(*) FROM (SELECT o_w_id w, o_d_id d, COUNT(*) n FROM {orders} GROUP BY o_w_id, o_d_id) o
LEFT JOIN (SELECT no_w_id w, no_d_id d, COUNT(*) n FROM new_order GROUP BY no_w_id, no_d_id) x ON x.w = o.w AND x.d = o.d
WHERE o.n - COALESCE(x.n, 0) <> 2100`},
	{12, "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT delivered)", `
SELECT COUNT(*) FROM customer
LEFT JOIN (` + deliveredAmounts + `) l ON l.w = c_w_id AND l.d = c_d_id AND l.c = c_id
WHERE ABS(c_balance + c_ytd_payment - COALESCE(l.s, 0)) > {tolerance}`},
}

const deliveredAmounts = `SELECT o_w_id w, o_d_id d, o_c_id c, SUM(ol_amount) s FROM {orders}
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id`

// tolerance is how far condition 12 may be off. It is exact except where
// BenchBase declares C_YTD_PAYMENT as a float: then the float's own rounding
// is allowed for, which on MySQL (24 bits) each payment adds to.
func (p *profile) tolerance(d dsn.Dialect) string {
	switch {
	case !p.floatYTD || d == dsn.SQLite: // SQLite's float holds whole cents
		return "0"
	case d == dsn.MySQL:
		return "0.005 + 6e-8 * c_payment_cnt * c_ytd_payment"
	}
	return "0.005"
}

// conditions lists those that hold for the profile's data: 10 and 12 do not
// for HammerDB's, and 11 only until the first Delivery.
func (p *profile) conditions(fresh bool) (list []condition) {
	for _, c := range conditions {
		if p.orders == "orders" && c.number > 9 || c.number == 11 && !fresh {
			continue
		}
		list = append(list, c)
	}
	return list
}

// Check counts the violations of the consistency conditions 3.3.2.1 to 12 in
// db, and of the tables' fixed sizes. It reads the whole database; nothing
// else should run. The error tells of a check that could not be made, the
// checks' OK of one that did not hold.
func Check(ctx context.Context, db *sql.DB, d dsn.Dialect, i Info) ([]result.Check, error) {
	p, ok := profiles[i.Flavor]
	if !ok {
		return nil, fmt.Errorf("check tpcc: unknown flavor %q", i.Flavor)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("check tpcc: %w", err)
	}
	defer conn.Close()
	var checks []result.Check
	for _, t := range p.schema() {
		switch t.name {
		case "warehouse", "district", "customer", "stock", "item":
		default:
			continue // they grow and shrink
		}
		var rows int
		if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.name).Scan(&rows); err != nil {
			return nil, fmt.Errorf("check tpcc: count %s: %w", t.name, err)
		}
		c := result.Check{Name: "tpcc rows of " + t.name, OK: rows == t.rows(i.Warehouses)}
		c.Detail = fmt.Sprintf("%d of %d", rows, t.rows(i.Warehouses))
		checks = append(checks, c)
	}
	fresh, err := isFresh(ctx, conn, i)
	if err != nil {
		return nil, fmt.Errorf("check tpcc: %w", err)
	}
	replace := strings.NewReplacer("{orders}", p.orders, "{tolerance}", p.tolerance(d))
	for _, c := range p.conditions(fresh) {
		var bad int64
		if err := conn.QueryRowContext(ctx, replace.Replace(c.query)).Scan(&bad); err != nil {
			return nil, fmt.Errorf("check tpcc: condition %d: %w", c.number, err)
		}
		r := result.Check{Name: fmt.Sprintf("tpcc 3.3.2.%d: %s", c.number, c.says), OK: bad == 0}
		if bad != 0 {
			r.Detail = fmt.Sprintf("%d violations", bad)
		}
		checks = append(checks, r)
	}
	return checks, nil
}

// isFresh reports whether no New-Order and no Delivery ran since the load.
func isFresh(ctx context.Context, conn *sql.Conn, i Info) (bool, error) {
	var next, delivered int64
	err := conn.QueryRowContext(ctx, "SELECT SUM(d_next_o_id) FROM district").Scan(&next)
	if err == nil {
		err = conn.QueryRowContext(ctx, "SELECT SUM(c_delivery_cnt) FROM customer").Scan(&delivered)
	}
	return next == int64(i.Warehouses)*districtsPerWH*(ordersPerDistrict+1) && delivered == 0, err
}

// Totals are sums over the database that transactions move by known amounts.
type Totals struct {
	Orders   int64 // sum of d_next_o_id: one more with every committed New-Order
	Payments int64 // rows of history: one more with every committed Payment
}

// ReadTotals reads them.
func ReadTotals(ctx context.Context, db *sql.DB) (t Totals, err error) {
	if err = db.QueryRowContext(ctx, "SELECT SUM(d_next_o_id) FROM district").Scan(&t.Orders); err == nil {
		err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM history").Scan(&t.Payments)
	}
	if err != nil {
		err = fmt.Errorf("read totals: %w", err)
	}
	return t, err
}

// CheckTotals compares how far the totals moved with the transactions counted.
func CheckTotals(before, after Totals, newOrders, payments uint64) []result.Check {
	check := func(name string, moved int64, counted uint64) result.Check {
		return result.Check{Name: name, OK: moved == int64(counted), Detail: fmt.Sprintf("moved %d, committed %d", moved, counted)}
	}
	return []result.Check{
		check("tpcc committed new_order = growth of d_next_o_id", after.Orders-before.Orders, newOrders),
		check("tpcc committed payment = growth of history", after.Payments-before.Payments, payments),
	}
}
