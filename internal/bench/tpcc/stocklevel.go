package tpcc

import "github.com/veildb/veildb/internal/bench/dsn"

// stockLevel holds the statements of the Stock-Level transaction.
type stockLevel struct {
	district dsn.Stmt
	low      dsn.Stmt
}

func (p *preparer) stockLevel() stockLevel {
	return stockLevel{
		district: p.stmt("SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?"),
		low: p.stmt("SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock" +
			" WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ?" +
			" AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?"),
	}
}

// runStockLevel counts the items of the last 20 orders that are short.
// BenchBase draws the district, the others keep one for each terminal.
func (t *terminal) runStockLevel() error {
	d := t.ourDistrict()
	if !t.profile.ranges {
		d = t.district
	}
	threshold := t.input.between(10, 20)
	var next, low int
	if err := t.must(t.stockLevel.district, []any{t.home, d}, &next); err != nil {
		return err
	}
	return t.must(t.stockLevel.low, []any{t.home, d, next, next - 20, t.home, threshold}, &low)
}
