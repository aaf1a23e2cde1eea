package sysbench

// A script is one of sysbench's OLTP scripts: which statements it prepares, in
// which order, and what one event sends. Its workload, terminal and tables are
// the same for all.
type script struct {
	name string
	// transaction wraps the event in BEGIN and COMMIT.
	transaction bool
	writes      bool
	// kinds are prepared when a terminal opens, in this order, each for all
	// tables; BEGIN and COMMIT come first where the script has them.
	kinds []kind
	event func(*terminal) error
}

var scripts = []script{
	{name: "oltp_point_select", kinds: []kind{pointSelect}, event: func(t *terminal) error {
		return t.byID(pointSelect, 1) // whatever point-selects says
	}},
	{name: "oltp_read_only", transaction: true, kinds: readKinds, event: (*terminal).reads},
	{name: "oltp_read_write", transaction: true, writes: true, kinds: append(readKinds[:len(readKinds):len(readKinds)], writeKinds...),
		event: func(t *terminal) error {
			if err := t.reads(); err != nil {
				return err
			}
			return t.writes()
		}},
	{name: "oltp_write_only", transaction: true, writes: true, kinds: writeKinds, event: (*terminal).writes},
	{name: "oltp_update_index", writes: true, kinds: []kind{indexUpdate}, event: func(t *terminal) error {
		return t.byID(indexUpdate, t.o.IndexUpdates)
	}},
	{name: "oltp_update_non_index", writes: true, kinds: []kind{nonIndexUpdate}, event: (*terminal).nonIndexUpdates},
	{name: "oltp_insert", writes: true, event: (*terminal).insert},
	{name: "oltp_delete", writes: true, kinds: []kind{deleteRow}, event: func(t *terminal) error {
		return t.byID(deleteRow, 1)
	}},
	{name: "bulk_insert", writes: true, event: (*terminal).appendRow},
	{name: "select_random_points", kinds: []kind{randomPoints}, event: (*terminal).randomPoints},
	{name: "select_random_ranges", kinds: []kind{randomRanges}, event: (*terminal).randomRanges},
}

var (
	readKinds  = []kind{pointSelect, simpleRange, sumRange, orderRange, distinctRange}
	writeKinds = []kind{indexUpdate, nonIndexUpdate, deleteRow, insertRow}
)

// Names lists the workloads.
func Names() []string {
	names := make([]string, len(scripts))
	for i := range scripts {
		names[i] = scripts[i].name
	}
	return names
}

// prepares lists what a terminal prepares: the once-only statements and those
// for each table.
func (s *script) prepares(o *Options) (once, perTable []kind) {
	if s.transaction && !o.SkipTrx {
		once = append(once, begin, commit)
	}
	for _, k := range s.kinds {
		switch {
		case k >= simpleRange && k <= distinctRange && !o.RangeSelects:
		case k.perTable():
			perTable = append(perTable, k)
		default:
			once = append(once, k)
		}
	}
	return once, perTable
}

// table draws the table of a group of statements: always uniformly.
func (t *terminal) table() int { return t.rng.uniform(1, t.o.Tables) }

// id draws a row with the default distribution.
func (t *terminal) id() int { return t.w.dist.draw(&t.rng, 1, t.o.TableSize) }

// byID is a group of n statements whose only parameter is an id.
func (t *terminal) byID(k kind, n int) error {
	table := t.table()
	for range n {
		t.setInt(0, t.id())
		if err := t.do(k, table); err != nil {
			return err
		}
	}
	return nil
}

// ranges is a group of n statements over a range of ids. A range that ends
// beyond the table returns fewer rows.
func (t *terminal) ranges(k kind, n int) error {
	table := t.table()
	for range n {
		id := t.id()
		t.setInt(0, id)
		t.setInt(1, id+t.o.RangeSize-1)
		if err := t.do(k, table); err != nil {
			return err
		}
	}
	return nil
}

func (t *terminal) reads() error {
	if err := t.byID(pointSelect, t.o.PointSelects); err != nil {
		return err
	}
	if !t.o.RangeSelects {
		return nil
	}
	for i, n := range [...]int{t.o.SimpleRanges, t.o.SumRanges, t.o.OrderRanges, t.o.DistinctRanges} {
		if err := t.ranges(simpleRange+kind(i), n); err != nil {
			return err
		}
	}
	return nil
}

func (t *terminal) writes() error {
	if err := t.byID(indexUpdate, t.o.IndexUpdates); err != nil {
		return err
	}
	if err := t.nonIndexUpdates(); err != nil {
		return err
	}
	return t.deleteInserts()
}

func (t *terminal) nonIndexUpdates() error {
	table := t.table()
	for range t.o.NonIndexUpdates {
		t.setDigits(0, cLength)
		t.setInt(1, t.id())
		if err := t.do(nonIndexUpdate, table); err != nil {
			return err
		}
	}
	return nil
}

// deleteInserts deletes a row and inserts another with its id.
func (t *terminal) deleteInserts() error {
	table := t.table()
	for range t.o.DeleteInserts {
		id, k := t.id(), t.id()
		t.setInt(0, id)
		if err := t.do(deleteRow, table); err != nil {
			return err
		}
		t.setInt(1, k)
		t.setDigits(2, cLength)
		t.setDigits(3, padLength)
		if err := t.do(insertRow, table); err != nil {
			return err
		}
	}
	return nil
}

// segment is the part of the k values that belongs to the terminal, so that
// terminals do not read the same rows: table size / threads wide, cut down to
// whole numbers at both ends.
func (t *terminal) segment() (lo, hi int) {
	width := float64(t.o.TableSize) / float64(t.o.Threads)
	from := width * float64(t.n%t.o.Threads)
	return int(from), int(from + width)
}

func (t *terminal) randomPoints() error {
	lo, hi := t.segment()
	for i := range t.o.RandomPoints {
		t.setInt(i, t.w.dist.draw(&t.rng, lo, hi))
	}
	return t.do(randomPoints, 0)
}

func (t *terminal) randomRanges() error {
	lo, hi := t.segment()
	for i := range t.o.NumberOfRanges {
		k := t.w.dist.draw(&t.rng, lo, hi)
		t.setInt(2*i, k)
		t.setInt(2*i+1, k+t.o.Delta)
	}
	return t.do(randomRanges, 0)
}
