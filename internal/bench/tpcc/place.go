package tpcc

// place finds the terminal's warehouse and districts.
func (t *terminal) place() {
	all, n := t.config.Terminals, t.number%t.config.Terminals
	t.low, t.top = 1, districtsPerWH
	if t.config.Flavor == HammerDB {
		var r rng
		r.seed(t.seed, streamHome, uint64(t.number))
		t.home = r.between(1, t.config.Warehouses)
		t.district = r.between(1, districtsPerWH)
		return
	}
	first, count := 0, 0
	t.home, first, count = homeWarehouse(n, all, t.config.Warehouses)
	t.district = (n-first)%districtsPerWH + 1
	if t.profile.ranges {
		t.low, t.top = districtRange(n-first, count)
	}
}

// homeWarehouse is the warehouse of terminal n of all, and the first terminal
// and the number of terminals there: BenchBase's even spread, by truncation.
func homeWarehouse(n, all, warehouses int) (w, first, count int) {
	per := float64(all) / float64(warehouses)
	for w = 1; w <= warehouses; w++ {
		first = int(float64(w-1) * per)
		end := int(float64(w) * per)
		if w == warehouses {
			end = all
		}
		if n < end {
			return w, first, end - first
		}
	}
	panic("tpcc: internal error: terminal number out of range")
}

// districtRange is the range of districts of terminal i of the n at one
// warehouse: BenchBase cuts 1 to 10 into equal slices and truncates, so with
// more than ten terminals some ranges are empty (top < low).
func districtRange(i, n int) (low, top int) {
	per := float64(districtsPerWH) / float64(n)
	low, top = int(float64(i)*per)+1, int(float64(i+1)*per)
	if i == n-1 {
		top = districtsPerWH
	}
	return low, top
}
