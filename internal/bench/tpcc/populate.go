package tpcc

// population makes the rows of the initial database. Every row depends on the
// seed and its own key alone, so the order and the number of loaders do not
// matter.
type population struct {
	*profile
	seed uint64
}

// Streams of random numbers, one for each table and purpose.
const (
	streamItem = iota + 1
	streamWarehouse
	streamDistrict
	streamStock
	streamCustomer
	streamHistory
	streamOrder
	streamLineCount
	streamLine
	streamPermutation
	streamKind
	streamInput
	streamHome
	streamRest
)

// string is a random text of the profile's alphabet and length habit.
func (p *population) string(r *rng, lo, hi int) string { return p.text.text(r, lo-p.short, hi-p.short) }

// data is i_data or s_data: 26 to 50 characters, the marker in 10 %. BenchBase
// makes marked ones four characters shorter than drawn.
func (p *population) data(r *rng) string {
	n := r.between(26, 50)
	if !r.percent(10) {
		return p.text.text(r, n-p.short, n-p.short)
	}
	n -= 4 * p.short
	s := p.text.text(r, n, n)
	at := r.between(0, n-len(p.marker))
	return s[:at] + p.marker + s[at+len(p.marker):]
}

func (p *population) zip(v *values, r *rng, random bool) {
	if random {
		v.str(digitPool.text(r, 4, 4) + "11111")
	} else {
		v.str("123456789")
	}
}

// address adds two streets, city and state; the zip code follows apart.
func (p *population) address(v *values, r *rng) {
	for range 3 {
		v.str(p.string(r, 10, 20))
	}
	v.str(upperPool.text(r, 2, 2))
}

func (p *population) item(v *values, i int) {
	var r rng
	r.seed(p.seed, streamItem, uint64(i))
	v.int(i)
	v.str(p.string(&r, 14, 24))
	v.money(r.between(100, 10_000))
	v.str(p.data(&r))
	v.int(r.between(1, 10_000))
	v.end()
}

func (p *population) warehouse(v *values, w int) {
	var r rng
	r.seed(p.seed, streamWarehouse, uint64(w))
	v.int(w)
	v.money(300_000_00)
	v.rate(r.between(p.tax[0], p.tax[1]))
	v.str(p.string(&r, 6, 10))
	p.address(v, &r)
	p.zip(v, &r, p.randomZip)
	v.end()
}

func (p *population) district(v *values, w, d int) {
	var r rng
	r.seed(p.seed, streamDistrict, uint64(w), uint64(d))
	v.int(w)
	v.int(d)
	v.money(30_000_00)
	v.rate(r.between(p.tax[0], p.tax[1]))
	v.int(ordersPerDistrict + 1)
	v.str(p.string(&r, 6, 10))
	p.address(v, &r)
	p.zip(v, &r, p.randomZip)
	v.end()
}

func (p *population) stock(v *values, w, i int) {
	var r rng
	r.seed(p.seed, streamStock, uint64(w), uint64(i))
	v.int(w)
	v.int(i)
	v.int(r.between(10, 100))
	for range 3 { // s_ytd, s_order_cnt, s_remote_cnt
		v.int(0)
	}
	v.str(p.data(&r))
	for range districtsPerWH {
		v.str(p.string(&r, 24, 24))
	}
	v.end()
}

func (p *population) customer(v *values, w, d, c int) {
	var r rng
	r.seed(p.seed, streamCustomer, uint64(w), uint64(d), uint64(c))
	v.int(w)
	v.int(d)
	v.int(c)
	step := p.discount[2]
	v.rate(r.between(p.discount[0]/step, p.discount[1]/step) * step)
	if r.between(1, p.credit[1]) <= p.credit[0] {
		v.str("BC")
	} else {
		v.str("GC")
	}
	if c <= 1000 {
		v.str(lastNames[c-1])
	} else {
		v.str(lastNames[r.nurand(255, p.loadLast, 0, 999)])
	}
	v.str(p.string(&r, 8, 16))
	v.money(50_000_00)
	v.money(-10_00)
	v.money(10_00)
	v.int(1)
	v.int(0)
	p.address(v, &r)
	p.zip(v, &r, true)
	v.str(digitPool.text(&r, 16, 16))
	v.date(epoch)
	v.str("OE")
	v.str(p.string(&r, 300, 500))
	v.end()
}

func (p *population) history(v *values, w, d, c int) {
	var r rng
	r.seed(p.seed, streamHistory, uint64(w), uint64(d), uint64(c))
	v.int(c)
	v.int(d)
	v.int(w)
	v.int(d)
	v.int(w)
	v.date(epoch)
	v.money(10_00)
	v.str(p.string(&r, 12, 24))
	v.end()
}

// customersOf is the customer of each order of a district: index 0 is order 1.
// The specification wants a permutation; BenchBase's never gives order i to
// customer i, and HammerDB's keeps customers more than once, so that half of
// them have no order.
func (p *population) customersOf(w, d int) []int {
	var r rng
	r.seed(p.seed, streamPermutation, uint64(w), uint64(d))
	c := make([]int, ordersPerDistrict)
	for i := range c {
		c[i] = i + 1
	}
	switch {
	case p.uniformIDs:
		for i := range c {
			c[i] = r.between(i+1, ordersPerDistrict)
		}
	case p.ranges:
		r.sattolo(c)
	default:
		r.shuffle(c)
	}
	return c
}

// lines is the number of lines of an order.
func (p *population) lines(w, d, o int) int {
	var r rng
	r.seed(p.seed, streamLineCount, uint64(w), uint64(d), uint64(o))
	return r.between(5, 15)
}

func (p *population) order(v *values, w, d, o, c int) {
	var r rng
	r.seed(p.seed, streamOrder, uint64(w), uint64(d), uint64(o))
	v.int(w)
	v.int(d)
	v.int(o)
	v.int(c)
	if o < firstOpenOrder {
		v.int(r.between(1, 10))
	} else {
		v.null()
	}
	v.int(p.lines(w, d, o))
	v.int(1)
	v.date(epoch)
	v.end()
}

func (p *population) newOrder(v *values, w, d, o int) {
	v.int(w)
	v.int(d)
	v.int(o)
	v.end()
}

func (p *population) orderLine(v *values, w, d, o, n int) {
	var r rng
	r.seed(p.seed, streamLine, uint64(w), uint64(d), uint64(o), uint64(n))
	v.int(w)
	v.int(d)
	v.int(o)
	v.int(n)
	v.int(r.between(1, numItems))
	if o < firstOpenOrder {
		v.date(epoch)
		v.money(r.between(p.deliveredOL[0], p.deliveredOL[1]))
	} else {
		v.null()
		v.money(r.between(p.openOL[0], p.openOL[1]))
	}
	v.int(w)
	v.int(5)
	v.str(p.string(&r, 24, 24))
	v.end()
}
