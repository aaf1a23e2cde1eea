package tpcc

import (
	"errors"
	"io"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// delivery holds the statements of the Delivery transaction, sent once for
// each district.
type delivery struct {
	oldest    dsn.Stmt
	remove    dsn.Stmt
	customer  dsn.Stmt
	carrier   dsn.Stmt
	delivered dsn.Stmt
	amount    dsn.Stmt
	balance   dsn.Stmt
}

func (p *preparer) delivery() delivery {
	where := " WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?"
	lines := " WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?"
	count := ", c_delivery_cnt = c_delivery_cnt + 1"
	if !p.profile.paymentCount {
		count = ""
	}
	return delivery{
		oldest:    p.stmt("SELECT no_o_id FROM new_order WHERE no_d_id = ? AND no_w_id = ? ORDER BY no_o_id ASC LIMIT 1" + p.lock()),
		remove:    p.stmt("DELETE FROM new_order WHERE no_o_id = ? AND no_d_id = ? AND no_w_id = ?"),
		customer:  p.stmt("SELECT o_c_id FROM " + p.profile.orders + where),
		carrier:   p.stmt("UPDATE " + p.profile.orders + " SET o_carrier_id = ?" + where),
		delivered: p.stmt("UPDATE order_line SET ol_delivery_d = ?" + lines),
		amount:    p.stmt("SELECT SUM(ol_amount) FROM order_line" + lines),
		balance:   p.stmt("UPDATE customer SET c_balance = c_balance + ?" + count + " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"),
	}
}

// runDelivery delivers the oldest order of each district, from 1 to the last
// one of the terminal: the wrong bound is BenchBase's, the other flavors have
// terminals that end with the last district of all.
func (t *terminal) runDelivery() error {
	carrier := t.input.between(1, 10)
	for d := 1; d <= t.top; d++ {
		if err := t.deliver(d, carrier); err != nil {
			return err
		}
	}
	return nil
}

// deliver delivers the oldest order of district d, if there is one.
func (t *terminal) deliver(d, carrier int) error {
	s := &t.delivery
	var o, c int
	err := t.row(s.oldest, []any{d, t.home}, &o)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := t.exec(s.remove, o, d, t.home)
	if err != nil {
		return err
	}
	if n != 1 {
		return errUserAbort // another Delivery was faster
	}
	if err := t.must(s.customer, []any{o, d, t.home}, &c); err != nil {
		return err
	}
	if err := t.change(s.carrier, 1, carrier, o, d, t.home); err != nil {
		return err
	}
	if _, err := t.exec(s.delivered, t.now(), o, d, t.home); err != nil {
		return err
	}
	amount := t.money()
	if err := t.must(s.amount, []any{o, d, t.home}, &amount); err != nil {
		return err
	}
	return t.change(s.balance, 1, t.cents(amount.n), t.home, d, c)
}
