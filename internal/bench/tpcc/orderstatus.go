package tpcc

import (
	"errors"
	"io"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// orderStatus holds the statements of the Order-Status transaction.
type orderStatus struct {
	customer customerLookup
	order    dsn.Stmt
	lines    dsn.Stmt
}

func (p *preparer) orderStatus() orderStatus {
	return orderStatus{
		customer: p.customerLookup(""),
		order: p.stmt("SELECT o_id, o_carrier_id, o_entry_d FROM " + p.profile.orders +
			" WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1"),
		lines: p.stmt("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d" +
			" FROM order_line WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?"),
	}
}

func (t *terminal) runOrderStatus() error {
	s := &t.orderStatus
	d := t.ourDistrict()
	c, err := t.findCustomer(s.customer, t.home, d)
	if err != nil {
		return err
	}
	var o int
	err = t.row(s.order, []any{t.home, d, c.id}, &o, ignored{}, ignored{})
	if errors.Is(err, io.EOF) && t.profile.uniformIDs {
		return nil // half of HammerDB's customers start without an order
	}
	if err != nil {
		return err
	}
	return t.rows(s.lines, []any{o, d, t.home}, func(r row) error {
		return r.scan(ignored{}, ignored{}, ignored{}, ignored{}, ignored{})
	})
}
