package tpcc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/veildb/veildb/internal/bench/dsn"
)

// Sizes of the initial population (clause 4.3.3.1).
const (
	numItems             = 100_000
	districtsPerWH       = 10
	customersPerDistrict = 3000
	ordersPerDistrict    = 3000
	firstOpenOrder       = 2101 // of an initial district; earlier ones are delivered
)

// kind is a column's type, apart from its name in a dialect.
type kind int

const (
	kInt      kind = iota
	kMoney         // an amount; SQLite has no decimal and keeps whole cents
	kFloatYTD      // an amount that BenchBase declares as a float
	kRate          // tax or discount; SQLite keeps whole ten-thousandths
	kCount         // a quantity that some dialects declare as a decimal
	kChar
	kVarchar
	kDate // SQLite keeps Unix seconds
)

// column is one column of the schema.
type column struct {
	name  string
	kind  kind
	size  int // characters, or digits before and after the point together
	scale int // digits after the point
	null  bool
}

// table is one table: its columns, keys and size.
type table struct {
	name    string
	columns []column
	key     []string // primary key
	foreign []foreignKey
	index   []index // made after the load
	rowid   bool    // SQLite: rows too wide to live in the key's tree
	rows    func(warehouses int) int
}

type foreignKey struct{ columns, table, references string }

type index struct {
	name, columns string
	unique        bool
}

func perWarehouse(n int) func(int) int { return func(w int) int { return n * w } }

// schema is the nine tables of the profile in an order in which they can be
// created and filled: a table comes after those it refers to.
func (p *profile) schema() []table {
	tables := []table{
		itemTable(), warehouseTable(), districtTable(), stockTable(), customerTable(p.floatYTD),
		historyTable(), ordersTable(p.orders), newOrderTable(p.orders), orderLineTable(p.orders),
	}
	for i := range tables {
		if !p.foreignKeys {
			tables[i].foreign = nil
		}
		if tables[i].name == "customer" && p.orders == "orders" {
			tables[i].index = []index{{"customer_i2", "c_w_id, c_d_id, c_last, c_first, c_id", true}}
		}
	}
	return tables
}

func integer(name string) column        { return column{name: name, kind: kInt} }
func varchar(name string, n int) column { return column{name: name, kind: kVarchar, size: n} }
func char(name string, n int) column    { return column{name: name, kind: kChar, size: n} }
func money(name string, n int) column   { return column{name: name, kind: kMoney, size: n, scale: 2} }
func rate(name string) column           { return column{name: name, kind: kRate, size: 4, scale: 4} }
func date(name string) column           { return column{name: name, kind: kDate} }
func nullable(c column) column          { c.null = true; return c }
func count(name string, n int) column   { return column{name: name, kind: kCount, size: n, scale: 2} }
func address(prefix string) []column {
	return []column{
		varchar(prefix+"street_1", 20), varchar(prefix+"street_2", 20), varchar(prefix+"city", 20),
		char(prefix+"state", 2), char(prefix+"zip", 9),
	}
}

func warehouseTable() table {
	return table{
		name: "warehouse", key: []string{"w_id"}, rows: perWarehouse(1),
		columns: append([]column{integer("w_id"), money("w_ytd", 12), rate("w_tax"), varchar("w_name", 10)}, address("w_")...),
	}
}

func districtTable() table {
	return table{
		name: "district", key: []string{"d_w_id", "d_id"}, rows: perWarehouse(districtsPerWH),
		columns: append([]column{
			integer("d_w_id"), integer("d_id"), money("d_ytd", 12), rate("d_tax"), integer("d_next_o_id"), varchar("d_name", 10),
		}, address("d_")...),
		foreign: []foreignKey{{"d_w_id", "warehouse", "w_id"}},
	}
}

func customerTable(float bool) table {
	ytd := money("c_ytd_payment", 12)
	if float {
		ytd.kind = kFloatYTD
	}
	t := table{
		name: "customer", key: []string{"c_w_id", "c_d_id", "c_id"}, rows: perWarehouse(districtsPerWH * customersPerDistrict), rowid: true,
		columns: []column{
			integer("c_w_id"), integer("c_d_id"), integer("c_id"), rate("c_discount"), char("c_credit", 2),
			varchar("c_last", 16), varchar("c_first", 16), money("c_credit_lim", 12), money("c_balance", 12), ytd,
			integer("c_payment_cnt"), integer("c_delivery_cnt"),
		},
		foreign: []foreignKey{{"c_w_id, c_d_id", "district", "d_w_id, d_id"}},
		index:   []index{{name: "idx_customer_name", columns: "c_w_id, c_d_id, c_last, c_first"}},
	}
	t.columns = append(t.columns, address("c_")...)
	t.columns = append(t.columns, char("c_phone", 16), date("c_since"), char("c_middle", 2), varchar("c_data", 500))
	return t
}

func historyTable() table {
	return table{
		name: "history", rows: perWarehouse(districtsPerWH * customersPerDistrict), rowid: true,
		columns: []column{
			integer("h_c_id"), integer("h_c_d_id"), integer("h_c_w_id"), integer("h_d_id"), integer("h_w_id"),
			date("h_date"), money("h_amount", 6), varchar("h_data", 24),
		},
		foreign: []foreignKey{
			{"h_c_w_id, h_c_d_id, h_c_id", "customer", "c_w_id, c_d_id, c_id"},
			{"h_w_id, h_d_id", "district", "d_w_id, d_id"},
		},
	}
}

func ordersTable(name string) table {
	return table{
		name: name, key: []string{"o_w_id", "o_d_id", "o_id"}, rows: perWarehouse(districtsPerWH * ordersPerDistrict),
		columns: []column{
			integer("o_w_id"), integer("o_d_id"), integer("o_id"), integer("o_c_id"), nullable(integer("o_carrier_id")),
			integer("o_ol_cnt"), integer("o_all_local"), date("o_entry_d"),
		},
		foreign: []foreignKey{{"o_w_id, o_d_id, o_c_id", "customer", "c_w_id, c_d_id, c_id"}},
		index:   []index{{"idx_order_customer", "o_w_id, o_d_id, o_c_id, o_id", true}},
	}
}

func newOrderTable(orders string) table {
	return table{
		name: "new_order", key: []string{"no_w_id", "no_d_id", "no_o_id"},
		rows:    perWarehouse(districtsPerWH * (ordersPerDistrict - firstOpenOrder + 1)),
		columns: []column{integer("no_w_id"), integer("no_d_id"), integer("no_o_id")},
		foreign: []foreignKey{{"no_w_id, no_d_id, no_o_id", orders, "o_w_id, o_d_id, o_id"}},
	}
}

// orderLineTable has no fixed number of rows: an order has 5 to 15 lines.
func orderLineTable(orders string) table {
	return table{
		name: "order_line", key: []string{"ol_w_id", "ol_d_id", "ol_o_id", "ol_number"},
		columns: []column{
			integer("ol_w_id"), integer("ol_d_id"), integer("ol_o_id"), integer("ol_number"), integer("ol_i_id"),
			nullable(date("ol_delivery_d")), money("ol_amount", 6), integer("ol_supply_w_id"), count("ol_quantity", 6),
			char("ol_dist_info", 24),
		},
		foreign: []foreignKey{
			{"ol_w_id, ol_d_id, ol_o_id", orders, "o_w_id, o_d_id, o_id"},
			{"ol_supply_w_id, ol_i_id", "stock", "s_w_id, s_i_id"},
		},
	}
}

func itemTable() table {
	return table{
		name: "item", key: []string{"i_id"}, rows: func(int) int { return numItems },
		columns: []column{integer("i_id"), varchar("i_name", 24), money("i_price", 5), varchar("i_data", 50), integer("i_im_id")},
	}
}

func stockTable() table {
	t := table{
		name: "stock", key: []string{"s_w_id", "s_i_id"}, rows: perWarehouse(numItems), rowid: true,
		columns: []column{
			integer("s_w_id"), integer("s_i_id"), integer("s_quantity"), count("s_ytd", 8), integer("s_order_cnt"),
			integer("s_remote_cnt"), varchar("s_data", 50),
		},
		foreign: []foreignKey{{"s_w_id", "warehouse", "w_id"}, {"s_i_id", "item", "i_id"}},
	}
	for i := range districtsPerWH {
		t.columns = append(t.columns, char(fmt.Sprintf("s_dist_%02d", i+1), 24))
	}
	return t
}

// sqlType is the declared type of c. SQLite's are the plain storage classes:
// it has no decimals, and its Go driver reads a TEXT column back without
// trying to make a time of it.
func (c column) sqlType(d dsn.Dialect) string {
	text := c.kind == kChar || c.kind == kVarchar
	switch {
	case d == dsn.SQLite && text:
		return "TEXT"
	case d == dsn.SQLite && c.kind == kFloatYTD:
		return "REAL"
	case d == dsn.SQLite:
		return "INTEGER"
	case c.kind == kInt, d == dsn.MySQL && c.name == "ol_quantity":
		return "INT"
	case c.kind == kChar:
		return "CHAR(" + strconv.Itoa(c.size) + ")"
	case c.kind == kVarchar:
		return "VARCHAR(" + strconv.Itoa(c.size) + ")"
	case c.kind == kDate:
		return "TIMESTAMP"
	case c.kind == kFloatYTD:
		return "FLOAT"
	}
	return fmt.Sprintf("DECIMAL(%d,%d)", c.size, c.scale)
}

// create is the statement that makes t. PostgreSQL gets its foreign keys after
// the load (see finish), the others here.
func (t table) create(d dsn.Dialect) string {
	var lines []string
	for _, c := range t.columns {
		line := c.name + " " + c.sqlType(d)
		switch {
		case !c.null:
			line += " NOT NULL"
		case c.kind == kDate && d == dsn.MySQL:
			line += " NULL DEFAULT NULL" // older servers make a bare TIMESTAMP NOT NULL
		}
		if c.kind == kDate && d == dsn.MySQL && !c.null {
			line += " DEFAULT CURRENT_TIMESTAMP" // or they add ON UPDATE
		}
		lines = append(lines, line)
	}
	if len(t.key) > 0 {
		lines = append(lines, "PRIMARY KEY ("+strings.Join(t.key, ", ")+")")
	}
	if d != dsn.Postgres {
		for _, f := range t.foreign {
			lines = append(lines, f.clause())
		}
	}
	if d == dsn.MySQL {
		for _, x := range t.index {
			lines = append(lines, x.word()+" "+x.name+" ("+x.columns+")")
		}
	}
	s := "CREATE TABLE " + t.name + " (\n  " + strings.Join(lines, ",\n  ") + "\n)"
	switch {
	case d == dsn.MySQL:
		s += " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
	case d == dsn.SQLite && len(t.key) > 1 && !t.rowid:
		s += " WITHOUT ROWID" // clustered on its key, as the servers' tables are
	}
	return s
}

func (f foreignKey) clause() string {
	return "FOREIGN KEY (" + f.columns + ") REFERENCES " + f.table + " (" + f.references + ") ON DELETE CASCADE"
}

func (x index) word() string {
	if x.unique {
		return "UNIQUE KEY"
	}
	return "KEY"
}

// finish is the statements that complete t after its load: secondary indexes
// and, on PostgreSQL, foreign keys.
func (t table) finish(d dsn.Dialect) (statements []string) {
	if d != dsn.MySQL {
		for _, x := range t.index {
			unique := ""
			if x.unique {
				unique = "UNIQUE "
			}
			statements = append(statements, "CREATE "+unique+"INDEX "+x.name+" ON "+t.name+" ("+x.columns+")")
		}
	}
	if d == dsn.Postgres {
		for _, f := range t.foreign {
			statements = append(statements, "ALTER TABLE "+t.name+" ADD "+f.clause())
		}
	}
	return statements
}
