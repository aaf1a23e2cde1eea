package sysbench

import (
	"strconv"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// insert sends oltp_insert's only statement, as text even when others are
// prepared. Where the server gives the ids, MySQL is sent 0 for one and the
// others none.
func (t *terminal) insert() error {
	table := t.table()
	k := t.id()
	b := append(t.buf[:0], "INSERT INTO sbtest"...)
	b = strconv.AppendInt(b, int64(table), 10)
	switch {
	case !t.o.AutoInc:
		// Threads take turns in one sequence of unique numbers.
		i := t.inserts*uint32(t.o.Threads) + uint32(t.n)
		t.inserts++
		b = append(b, " (id, k, c, pad) VALUES ("...)
		b = strconv.AppendInt(b, int64(unique(i))-1<<31, 10)
		b = append(b, ", "...)
	case t.w.dialect == dsn.MySQL:
		b = append(b, " (id, k, c, pad) VALUES (0, "...)
	default:
		b = append(b, " (k, c, pad) VALUES ("...)
	}
	b = appendRest(b, &t.rng, k)
	t.buf = b
	return t.execText(string(b))
}

// appendRest appends "k, 'c', 'pad')".
func appendRest(b []byte, r *rng, k int) []byte {
	b = strconv.AppendInt(b, int64(k), 10)
	b = append(b, ", '"...)
	b = r.appendDigits(b, cLength)
	b = append(b, "', '"...)
	b = r.appendDigits(b, padLength)
	return append(b, "')"...)
}

// maxBatch bounds the text of a multi-row INSERT.
const maxBatch = 512 << 10

// A batch builds multi-row INSERT statements of at most maxBatch bytes.
type batch struct {
	head string // up to and with VALUES
	text []byte
	row  []byte // the next row; add appends it
	send func(text string) error
}

// add appends the row and sends the statement first if it would grow too long.
func (b *batch) add() error {
	if len(b.text) > 0 && len(b.text)+1+len(b.row) > maxBatch {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if len(b.text) == 0 {
		b.text = append(b.text, b.head...)
	} else {
		b.text = append(b.text, ',')
	}
	b.text = append(b.text, b.row...)
	b.row = b.row[:0]
	return nil
}

// flush sends what is there.
func (b *batch) flush() error {
	if len(b.text) == 0 {
		return nil
	}
	if err := b.send(string(b.text)); err != nil {
		return err // the rows stay, for another attempt
	}
	b.text = b.text[:0]
	return nil
}

// appendRow is bulk_insert's event: one row of the terminal's own table, sent
// with others once there are enough; the rest goes when the terminal closes.
func (t *terminal) appendRow() error {
	if t.rows == nil {
		t.rows = &batch{head: "INSERT INTO sbtest" + strconv.Itoa(t.n+1) + " VALUES", send: t.execText}
	}
	if len(t.rows.row) > 0 { // left by an attempt that failed
		return t.rows.add()
	}
	t.bulk++
	n := int64(t.bulk)
	row := append(t.rows.row, '(')
	row = strconv.AppendInt(row, n, 10)
	row = append(row, ',')
	row = strconv.AppendInt(row, n, 10)
	t.rows.row = append(row, ')')
	return t.rows.add()
}
