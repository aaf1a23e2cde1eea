package tpcc

import (
	"errors"
	"io"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// newOrder holds the statements of the New-Order transaction in their order.
type newOrder struct {
	customer    dsn.Stmt
	warehouse   dsn.Stmt
	district    dsn.Stmt
	nextOrder   dsn.Stmt
	insertOrder dsn.Stmt
	insertNew   dsn.Stmt
	item        dsn.Stmt
	stock       dsn.Stmt
	insertLine  dsn.Stmt
	updateStock dsn.Stmt
}

func (p *preparer) newOrder() newOrder {
	stock := "s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? WHERE s_i_id = ? AND s_w_id = ?"
	update := "UPDATE stock SET s_quantity = ?, " + stock
	if !p.profile.stockCounts {
		update = "UPDATE stock SET s_quantity = ? WHERE s_i_id = ? AND s_w_id = ?"
	}
	return newOrder{
		customer:  p.stmt("SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"),
		warehouse: p.stmt("SELECT w_tax FROM warehouse WHERE w_id = ?"),
		district:  p.stmt("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE"),
		nextOrder: p.stmt("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?"),
		insertOrder: p.stmt("INSERT INTO " + p.profile.orders +
			" (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?,?,?,?,?,?,?)"),
		insertNew: p.stmt("INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?,?,?)"),
		item:      p.stmt("SELECT i_price, i_name, i_data FROM item WHERE i_id = ?"),
		stock: p.stmt("SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10" +
			" FROM stock WHERE s_i_id = ? AND s_w_id = ? FOR UPDATE"),
		insertLine:  p.stmt(insertLine + "(?,?,?,?,?,?,?,?,?)"),
		updateStock: p.stmt(update),
	}
}

// line is one line of an order being entered.
type line struct {
	item, supply, quantity int
	stock                  int // s_quantity to set
	amount                 int64
	dist                   string
}

// invalidItem is an item number that is not there.
const invalidItem = numItems + 1

// orderInput draws the lines of an order. In 1 % the last item does not exist.
func (t *terminal) orderInput(lines []line) (_ []line, allLocal int) {
	allLocal = 1
	for range t.input.between(5, maxLines) {
		l := line{item: t.itemID(), supply: t.home, quantity: t.input.between(1, 10)}
		if t.input.percent(1) {
			// With one warehouse the item stays home, yet BenchBase marks the
			// order as not local.
			if l.supply = t.otherWarehouse(); l.supply != t.home || !t.profile.localOrder {
				allLocal = 0
			}
		}
		lines = append(lines, l)
	}
	if t.input.percent(1) {
		lines[len(lines)-1].item = invalidItem
	}
	return lines, allLocal
}

// otherWarehouse draws a warehouse other than home, or home if it is the only
// one.
func (t *terminal) otherWarehouse() int {
	if t.config.Warehouses == 1 {
		return t.home
	}
	w := t.input.between(1, t.config.Warehouses-1)
	if w >= t.home {
		w++
	}
	return w
}

func (t *terminal) runNewOrder() error {
	s := &t.newOrder
	d, c := t.ourDistrict(), t.customerID()
	var array [maxLines]line
	lines, allLocal := t.orderInput(array[:0])

	discount, wTax, dTax := t.rate(), t.rate(), t.rate()
	if err := t.must(s.customer, []any{t.home, d, c}, &discount, ignored{}, ignored{}); err != nil {
		return err
	}
	if err := t.must(s.warehouse, []any{t.home}, &wTax); err != nil {
		return err
	}
	var o int
	if err := t.must(s.district, []any{t.home, d}, &o, &dTax); err != nil {
		return err
	}
	if err := t.change(s.nextOrder, 1, t.home, d); err != nil {
		return err
	}
	if err := t.change(s.insertOrder, 1, o, d, t.home, c, t.now(), len(lines), allLocal); err != nil {
		return err
	}
	if err := t.change(s.insertNew, 1, o, d, t.home); err != nil {
		return err
	}
	for i := range lines {
		if err := t.readLine(&lines[i], d); err != nil {
			return err
		}
		if t.profile.taxedLines {
			// Two products of ten-thousandths, rounded to cents once.
			n := lines[i].amount * (10_000 + wTax.n + dTax.n) * (10_000 - discount.n)
			lines[i].amount = (n + 50_000_000) / 100_000_000
		}
	}
	return t.writeLines(o, d, lines)
}

// readLine reads item and stock of a line and decides its amount and the
// stock that is left.
func (t *terminal) readLine(l *line, d int) error {
	price := t.money()
	err := t.row(t.newOrder.item, []any{l.item}, &price, ignored{}, ignored{})
	if errors.Is(err, io.EOF) && l.item == invalidItem {
		return errUserAbort
	}
	if err != nil {
		return err
	}
	dest := [12]any{&l.stock, ignored{}}
	for i := 2; i < len(dest); i++ {
		dest[i] = ignored{}
	}
	dest[d+1] = &l.dist
	if err := t.must(t.newOrder.stock, []any{l.item, l.supply}, dest[:]...); err != nil {
		return err
	}
	if l.stock >= l.quantity+10 {
		l.stock -= l.quantity
	} else {
		l.stock += 91 - l.quantity
	}
	l.amount = int64(l.quantity) * price.n
	return nil
}

// writeLines inserts the lines, then updates their stock.
func (t *terminal) writeLines(o, d int, lines []line) error {
	if t.config.Batch {
		return t.writeBatch(o, d, lines)
	}
	s := &t.newOrder
	for i, l := range lines {
		if err := t.change(s.insertLine, 1, o, d, t.home, i+1, l.item, l.supply, l.quantity, t.cents(l.amount), l.dist); err != nil {
			return err
		}
	}
	for _, l := range lines {
		args := []any{l.stock, l.quantity, l.remote(t.home), l.item, l.supply}
		if !t.profile.stockCounts {
			args = []any{l.stock, l.item, l.supply}
		}
		if _, err := t.exec(s.updateStock, args...); err != nil {
			return err
		}
	}
	return nil
}

// remote is 1 for a line supplied by another warehouse.
func (l line) remote(home int) int {
	if l.supply != home {
		return 1
	}
	return 0
}
