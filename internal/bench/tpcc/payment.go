package tpcc

import (
	"errors"
	"strconv"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// payment holds the statements of the Payment transaction in their order.
type payment struct {
	warehouseYTD dsn.Stmt
	warehouse    dsn.Stmt
	districtYTD  dsn.Stmt
	district     dsn.Stmt
	customer     customerLookup
	data         dsn.Stmt
	update       dsn.Stmt
	updateData   dsn.Stmt
	history      dsn.Stmt
}

func (p *preparer) payment() payment {
	set, where := "UPDATE customer SET c_balance = ?", " WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
	if p.profile.paymentCount {
		set += ", c_ytd_payment = ?, c_payment_cnt = ?"
	}
	return payment{
		warehouseYTD: p.stmt("UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?"),
		warehouse:    p.stmt("SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = ?"),
		districtYTD:  p.stmt("UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?"),
		district:     p.stmt("SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = ? AND d_id = ?"),
		customer:     p.customerLookup(p.lock()),
		data:         p.stmt("SELECT c_data FROM customer" + where),
		update:       p.stmt(set + where),
		updateData:   p.stmt(set + ", c_data = ?" + where),
		history: p.stmt("INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)" +
			" VALUES (?,?,?,?,?,?,?,?)"),
	}
}

// customerLookup finds a customer by last name or by number.
type customerLookup struct{ byName, byID dsn.Stmt }

const customerColumns = "c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_since"

func (p *preparer) customerLookup(lock string) customerLookup {
	return customerLookup{
		byName: p.stmt("SELECT c_first, c_middle, c_id, " + customerColumns +
			" FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first" + lock),
		byID: p.stmt("SELECT c_first, c_middle, c_last, " + customerColumns +
			" FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?" + lock),
	}
}

// customer is what Payment needs of a customer.
type customer struct {
	id           int
	credit       string
	balance, ytd fixed
	payments     int
}

// dest is where the columns of a lookup go; third is c_id or c_last.
func (c *customer) dest(third any) []any {
	return []any{
		ignored{}, ignored{}, third, ignored{}, ignored{}, ignored{}, ignored{}, ignored{}, ignored{},
		&c.credit, ignored{}, ignored{}, &c.balance, &c.ytd, &c.payments, ignored{},
	}
}

// findCustomer draws a customer of district d of warehouse w, by last name in
// 60 % and by number otherwise. Of several with one name, ordered by first
// name, it takes the middle one, rounded up (clause 2.5.2.2).
func (t *terminal) findCustomer(l customerLookup, w, d int) (customer, error) {
	if !t.input.percent(60) {
		c := customer{id: t.customerID(), balance: t.money(), ytd: t.money()}
		err := t.must(l.byID, []any{w, d, c.id}, c.dest(ignored{})...)
		return c, err
	}
	name := t.lastName()
	var found []customer
	err := t.rows(l.byName, []any{w, d, name}, func(r row) error {
		found = append(found, customer{balance: t.money(), ytd: t.money()})
		c := &found[len(found)-1]
		return r.scan(c.dest(&c.id)...)
	})
	if err != nil {
		return customer{}, err
	}
	if len(found) == 0 {
		return customer{}, errors.New("no customer has last name " + name)
	}
	return found[(len(found)-1)/2], nil
}

func (t *terminal) runPayment() error {
	s := &t.payment
	d, amount := t.ourDistrict(), int64(t.input.between(1_00, 5000_00))
	cw, cd := t.home, d
	if t.input.percent(15) {
		// With one warehouse the customer may still live in another district.
		cw, cd = t.otherWarehouse(), t.input.between(1, districtsPerWH)
	}
	if err := t.change(s.warehouseYTD, 1, t.cents(amount), t.home); err != nil {
		return err
	}
	var wName, dName string
	skip := ignored{}
	if err := t.must(s.warehouse, []any{t.home}, skip, skip, skip, skip, skip, &wName); err != nil {
		return err
	}
	if err := t.change(s.districtYTD, 1, t.cents(amount), t.home, d); err != nil {
		return err
	}
	if err := t.must(s.district, []any{t.home, d}, skip, skip, skip, skip, skip, &dName); err != nil {
		return err
	}
	c, err := t.findCustomer(s.customer, cw, cd)
	if err != nil {
		return err
	}
	if err := t.pay(c, cw, cd, d, amount); err != nil {
		return err
	}
	return t.change(s.history, 1, cd, cw, c.id, d, t.home, t.now(), t.cents(amount), limit(wName, 10)+"    "+limit(dName, 10))
}

// pay books the amount to the customer, with absolute values computed here.
func (t *terminal) pay(c customer, cw, cd, d int, amount int64) error {
	s := &t.payment
	left := c.balance.n - amount
	if t.profile.paymentAdds && t.config.Dialect == dsn.MySQL {
		left = c.balance.n + amount
	}
	args := []any{t.cents(left)}
	if t.profile.paymentCount {
		args = append(args, t.cents(c.ytd.n+amount), c.payments+1)
	}
	if c.credit != "BC" {
		return t.change(s.update, 1, append(args, cw, cd, c.id)...)
	}
	var data string
	if err := t.must(s.data, []any{cw, cd, c.id}, &data); err != nil {
		return err
	}
	b := make([]byte, 0, 600)
	for _, n := range [...]int{c.id, cd, cw, d, t.home} {
		b = append(strconv.AppendInt(b, int64(n), 10), ' ')
	}
	b = appendFixed(b, amount, 2)
	b = append(append(b, " | "...), data...)
	return t.change(s.updateData, 1, append(args, limit(string(b), 500), cw, cd, c.id)...)
}

// limit is the first n bytes of s, which is ASCII.
func limit(s string, n int) string { return s[:min(n, len(s))] }
