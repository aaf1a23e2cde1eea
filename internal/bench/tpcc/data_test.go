package tpcc

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/veildb/veildb/internal/bench/dsn"
)

func TestInitialPopulation(t *testing.T) {
	for _, f := range Flavors {
		t.Run(string(f), func(t *testing.T) {
			db := copySQLite(t, f)
			p := profiles[f]
			columns := 0
			for _, tab := range p.schema() {
				columns += len(tab.columns)
				rows := scalar[int](t, db, "SELECT COUNT(*) FROM "+tab.name)
				if tab.rows != nil && rows != tab.rows(1) || tab.rows == nil && (rows < 295_000 || rows > 305_000) {
					t.Errorf("%d rows of %s", rows, tab.name)
				}
			}
			if columns != 92 {
				t.Errorf("%d columns, want 92", columns)
			}
			for _, q := range queries(f, p.orders) {
				if got := scalar[float64](t, db, q.query); got < q.lo || got > q.hi {
					t.Errorf("%s: got %v, want %v to %v", q.name, got, q.lo, q.hi)
				}
			}
			want := 12
			if f == HammerDB {
				want = 9
			}
			if n := mustHold(t, db, dsn.SQLite, Info{Flavor: f, Warehouses: 1}); n != want {
				t.Errorf("%d conditions checked, want %d", n, want)
			}
			if f != BenchBase { // Spec has the same foreign keys, HammerDB none
				return
			}
			if broken := scalar[int](t, db, "SELECT COUNT(*) FROM pragma_foreign_key_check"); broken != 0 {
				t.Errorf("%d foreign keys lead nowhere", broken)
			}
		})
	}
}

type expectation struct {
	name, query string
	lo, hi      float64
}

// queries is what is known of each flavor's data.
func queries(f Flavor, orders string) []expectation {
	share := func(name, table, condition string, lo, hi float64) expectation {
		return expectation{name, "SELECT 100.0 * SUM(" + condition + ") / COUNT(*) FROM " + table, lo, hi}
	}
	never := func(name, table, condition string) expectation {
		return expectation{name, "SELECT COUNT(*) FROM " + table + " WHERE " + condition, 0, 0}
	}
	list := []expectation{
		never("carriers", orders, "(o_id < 2101) <> (o_carrier_id BETWEEN 1 AND 10 AND o_carrier_id IS NOT NULL)"),
		never("deliveries", "order_line", "(ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL)"),
		never("first last names", "customer", "c_id = 1 AND c_last <> 'BARBARBAR' OR c_id = 372 AND c_last <> 'PRICALLYOUGHT'"),
		never("constant columns", "customer", "c_middle <> 'OE' OR c_balance <> -1000 OR c_ytd_payment <> 1000 OR c_payment_cnt <> 1 OR c_delivery_cnt <> 0 OR c_credit_lim <> 5000000"),
		never("zip codes", "customer", "c_zip NOT LIKE '____11111' OR LENGTH(c_zip) <> 9 OR LENGTH(c_phone) <> 16"),
		never("quantities", "stock", "s_quantity NOT BETWEEN 10 AND 100 OR s_ytd + s_order_cnt + s_remote_cnt <> 0"),
		never("states", "warehouse", "LENGTH(w_state) <> 2 OR w_state <> UPPER(w_state)"),
		never("prices", "item", "i_price NOT BETWEEN 100 AND 10000"),
		share("average lines", orders, "o_ol_cnt / 100.0", 9.9, 10.1),
	}
	if f == HammerDB {
		return append(list,
			share("bad credit", "customer", "c_credit = 'BC'", 49, 51),
			share("marked items", "item", "i_data LIKE '%original%'", 9.5, 10.5),
			never("open amounts", "order_line", "ol_o_id >= 2101 AND ol_amount <> 0 OR ol_o_id < 2101 AND ol_amount NOT BETWEEN 10 AND 10000"),
			never("discounts", "customer", "c_discount % 100 <> 0 OR c_discount NOT BETWEEN 100 AND 5000"),
			never("taxes", "district", "d_tax NOT BETWEEN 1000 AND 2000"),
			expectation{"customers without an order", `SELECT COUNT(*) FROM customer WHERE NOT EXISTS
				(SELECT 1 FROM orders WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id)`, 14_600, 15_400},
		)
	}
	list = append(list,
		share("bad credit", "customer", "c_credit = 'BC'", 9.5, 10.5),
		share("marked items", "item", "i_data LIKE '%ORIGINAL%'", 9.5, 10.5),
		share("marked stock", "stock", "s_data LIKE '%ORIGINAL%'", 9.5, 10.5),
		never("amounts", "order_line", "ol_o_id < 2101 AND ol_amount <> 0 OR ol_o_id >= 2101 AND ol_amount NOT BETWEEN 1 AND 999999"),
		expectation{"customers with an order", "SELECT COUNT(DISTINCT o_d_id * 10000 + o_c_id) FROM oorder", 30_000, 30_000},
	)
	if f == Spec {
		return append(list, never("lengths", "stock", "LENGTH(s_dist_01) <> 24 OR LENGTH(s_data) NOT BETWEEN 26 AND 50"))
	}
	return append(list,
		never("own orders", "oorder", "o_id = o_c_id"),
		never("zip codes", "warehouse", "w_zip <> '123456789'"),
		never("lengths", "stock", "LENGTH(s_dist_10) <> 23 OR LENGTH(s_data) NOT BETWEEN 25 AND 49 AND s_data NOT LIKE '%ORIGINAL%'"),
		never("marked lengths", "stock", "s_data LIKE '%ORIGINAL%' AND LENGTH(s_data) NOT BETWEEN 22 AND 46"),
		never("names", "item", "LENGTH(i_name) NOT BETWEEN 13 AND 23 OR i_name <> LOWER(i_name)"),
	)
}

// TestDataAreFrozen pins the data of a seed: a change here makes old and new
// databases different and belongs in the changelog.
func TestDataAreFrozen(t *testing.T) {
	hash := func(f Flavor, seed uint64) string {
		p := profiles[f]
		pop := population{profile: &p, seed: seed}
		v := values{copy: true}
		v.reset()
		for i := range 300 {
			pop.item(&v, i+1)
			pop.stock(&v, 1, i+1)
			pop.customer(&v, 1, 2, i+1)
			pop.history(&v, 1, 2, i+1)
			c := pop.customersOf(1, 3)[i]
			pop.order(&v, 1, 3, i+1950, c)
			for n := range pop.lines(1, 3, i+1950) {
				pop.orderLine(&v, 1, 3, i+1950, n+1)
			}
		}
		pop.warehouse(&v, 1)
		pop.district(&v, 1, 1)
		return fmt.Sprintf("%x", sha256.Sum256(v.text))[:16]
	}
	want := map[Flavor]string{BenchBase: "9ce561f73a569d3c", Spec: "ef24ee6c6030d75c", HammerDB: "366eab7d2fd3e811"}
	for _, f := range Flavors {
		if got := hash(f, 1); got != want[f] {
			t.Errorf("%s: seed 1 gives data %s, want %s", f, got, want[f])
		}
		if hash(f, 1) == hash(f, 2) {
			t.Errorf("%s: two seeds give the same data", f)
		}
	}
}
