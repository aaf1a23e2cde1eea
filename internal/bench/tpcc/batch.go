package tpcc

import (
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// maxLines is the most lines an order has.
const maxLines = 15

// batch holds the statements that write n lines of an order at once, at index
// n.
type batch struct {
	insertLines [maxLines + 1]dsn.Stmt
	updateStock [maxLines + 1]dsn.Stmt
}

const insertLine = "INSERT INTO order_line" +
	" (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES "

func (p *preparer) batch() (b batch) {
	if !p.config.Batch {
		return b
	}
	columns := []string{"s_quantity"}
	if p.profile.stockCounts {
		columns = append(columns, "s_ytd", "s_order_cnt", "s_remote_cnt")
	}
	for n := 1; n <= maxLines; n++ {
		b.insertLines[n] = p.stmt(insertLine + strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?,?,?,?),", n), ","))
		var set []string
		for _, c := range columns {
			value := c + " + ?"
			if c == "s_quantity" {
				value = "?"
			}
			// The ELSE is never taken; it tells PostgreSQL the type.
			set = append(set, c+" = CASE "+strings.Repeat("WHEN s_i_id = ? AND s_w_id = ? THEN "+value+" ", n)+"ELSE "+c+" END")
		}
		where := strings.TrimSuffix(strings.Repeat("s_i_id = ? AND s_w_id = ? OR ", n), " OR ")
		b.updateStock[n] = p.stmt("UPDATE stock SET " + strings.Join(set, ", ") + " WHERE " + where)
	}
	return b
}

// writeBatch is writeLines in two statements, with the same effect.
func (t *terminal) writeBatch(o, d int, lines []line) error {
	args := make([]any, 0, 9*maxLines)
	for i, l := range lines {
		args = append(args, o, d, t.home, i+1, l.item, l.supply, l.quantity, t.cents(l.amount), l.dist)
	}
	if err := t.change(t.batch.insertLines[len(lines)], int64(len(lines)), args...); err != nil {
		return err
	}
	stocks := mergeStock(lines, t.home)
	args = make([]any, 0, 14*maxLines)
	for column := range 4 {
		for _, s := range stocks {
			args = append(args, s.item, s.supply, s.value[column])
		}
		if !t.profile.stockCounts {
			break
		}
	}
	for _, s := range stocks {
		args = append(args, s.item, s.supply)
	}
	return t.change(t.batch.updateStock[len(stocks)], int64(len(stocks)), args...)
}

// stockChange is the sum of an order's lines for one row of stock.
type stockChange struct {
	item, supply int
	value        [4]int // s_quantity to set, growth of s_ytd, s_order_cnt, s_remote_cnt
}

// mergeStock sums the lines by row of stock. Of several lines for one row the
// last decides s_quantity, as when they are updated one after the other.
func mergeStock(lines []line, home int) []stockChange {
	changes := make([]stockChange, 0, maxLines)
next:
	for _, l := range lines {
		v := [4]int{l.stock, l.quantity, 1, l.remote(home)}
		for i := range changes {
			if c := &changes[i]; c.item == l.item && c.supply == l.supply {
				c.value = [4]int{v[0], c.value[1] + v[1], c.value[2] + v[2], c.value[3] + v[3]}
				continue next
			}
		}
		changes = append(changes, stockChange{l.item, l.supply, v})
	}
	return changes
}
