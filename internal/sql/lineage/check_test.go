package lineage

import (
	"testing"

	"github.com/veildb/veildb/internal/sql/schema"
)

// TestChecks: whether constraints hold must not depend on protected values that a
// statement leaves as they are.
func TestChecks(t *testing.T) {
	name := func(table string) schema.TableName { return schema.TableName{Database: "d", Table: table} }
	columns := func(more ...schema.TableColumn) []schema.TableColumn {
		return append([]schema.TableColumn{{Name: "id", Type: "int(11)"}, {Name: "pay", Type: "int(11)"}, {Name: "doc", Type: "longtext"}, {Name: "cap", Type: "int(11)"}, {Name: "open"}, {Name: "other"}}, more...)
	}
	cat := schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.IgnoreCase)
	for _, tab := range []*schema.Table{
		{TableName: name("two"), Checks: []string{"`pay` < `cap`", "`open` <> 'pay'", "json_valid(`doc`)"}},
		{TableName: name("one"), Checks: []string{"`pay` > 0"}},
		{TableName: name("dark"), Checks: []string{""}},
		{TableName: name("odd"), Checks: []string{`'\' > open`}},
		{TableName: name("viagen"), Columns: columns(schema.TableColumn{Name: "g", Generated: "`cap` + `id`"}), Checks: []string{"`pay` < `g`"}},
		{TableName: name("uni"), Columns: columns(schema.TableColumn{Name: "g", Generated: "`pay` < `cap`"}), Keys: []schema.Key{{Name: "k", Unique: true, Columns: []string{"g", "id"}}}},
		{TableName: name("hash"), Columns: columns(schema.TableColumn{Name: "g", Generated: "md5(`pay`)"}), Keys: []schema.Key{{Name: "k", Unique: true, Columns: []string{"g"}}}},
		{TableName: name("func"), Keys: []schema.Key{{Name: "k", Unique: true, Columns: []string{""}}}},
		{TableName: name("pair"), Keys: []schema.Key{{Name: "k", Unique: true, Columns: []string{"pay", "cap"}}}},
		{TableName: name("plain"), Keys: []schema.Key{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}, {Name: "k", Columns: []string{"pay"}}}},
		{TableName: name("child"), Foreign: []schema.ForeignKey{{Name: "f", Columns: []string{"pay"}, Ref: name("parent"), RefColumns: []string{"pay"}, OnUpdate: "SET NULL"}}},
		{TableName: name("parent")},
		{TableName: name("trig"), Checks: []string{"`pay` < `cap`"}, Triggers: []schema.Trigger{{Name: "t", Timing: "BEFORE", Event: "UPDATE", Body: "SET NEW.cap = NEW.open"}}},
	} {
		tab.Engine = "InnoDB"
		if tab.Columns == nil {
			tab.Columns = columns()
		}
		cat.Add(tab)
	}
	rules := func(how Inference) Rules {
		return Rules{List: []Rule{{Name: "(derived)", Inference: how}, {Name: "main", Inference: how}}, Column: func(c schema.Column) Labels {
			if c.Column == "pay" || c.Column == "doc" {
				return Labels{1}
			}
			return nil
		}}
	}
	const no = "write-check"
	for sql, want := range map[string]string{
		"UPDATE two SET cap = 5":                                                          no,
		"UPDATE IGNORE two SET cap = id WHERE id = 1":                                     no,
		"UPDATE two SET cap = 5, pay = 4":                                                 "",
		"UPDATE two SET pay = 4, cap = open, pay = pay":                                   no,
		"UPDATE two SET pay = 4":                                                          "",
		"UPDATE two SET pay = pay + 1":                                                    no,
		"UPDATE two SET other = 5":                                                        "",
		"UPDATE two SET open = 5":                                                         "",
		"UPDATE two SET doc = doc, other = 5":                                             "",
		"UPDATE two SET doc = IF(pay > 5, 'x', '{}')":                                     no,
		"UPDATE one x JOIN two y ON x.id = y.id SET x.open = 1, y.cap=1":                  no,
		"UPDATE one x JOIN two y ON x.id = y.id SET x.open = y.cap":                       "",
		"UPDATE one SET cap = 5":                                                          "",
		"UPDATE one SET pay = pay * 2":                                                    no,
		"UPDATE one SET pay = ?":                                                          "",
		"UPDATE dark SET cap = 1":                                                         no,
		"UPDATE odd SET other = 1":                                                        no,
		"UPDATE viagen SET cap = 1":                                                       no,
		"UPDATE viagen SET id = 1":                                                        no,
		"UPDATE viagen SET open = 1":                                                      "",
		"UPDATE uni SET cap = 1":                                                          no,
		"UPDATE uni SET id = 1":                                                           "",
		"UPDATE uni SET pay = 1":                                                          "",
		"UPDATE hash SET pay = pay + 1":                                                   "",
		"UPDATE func SET open = 1":                                                        no,
		"UPDATE pair SET cap = 1":                                                         "",
		"UPDATE trig SET other = 1":                                                       no,
		"UPDATE trig SET other = 1, pay = 2":                                              "",
		"INSERT INTO two (id, pay, cap) VALUES (1, 2, 3), (2, ?, @a)":                     "",
		"INSERT INTO two (id, pay, cap) SELECT 1, pay, 5 FROM two":                        no,
		"INSERT INTO two (id, cap) SELECT 1, cap FROM two":                                "",
		"INSERT INTO two (id, doc) SELECT 1, doc FROM two":                                "",
		"INSERT INTO two (id, doc) SELECT 1, CONCAT(doc) FROM two":                        no,
		"INSERT INTO two (id, pay) VALUES (1, (SELECT MAX(pay) FROM two))":                no,
		"INSERT INTO one (id, pay) SELECT 1, pay FROM one":                                "",
		"INSERT INTO uni (id, pay, cap) SELECT 1, pay, 5 FROM uni":                        no,
		"INSERT INTO uni (id, pay) SELECT 1, pay FROM uni":                                "",
		"REPLACE INTO two (id, cap) VALUES (1, 5)":                                        "",
		"INSERT INTO two (id, pay, cap) VALUES (1, 2, 3) ON DUPLICATE KEY UPDATE cap = 3": no,
		"INSERT INTO two (id, pay, cap) VALUES (1, 2, 3) ON DUPLICATE KEY UPDATE cap = 3, pay = 2":               "",
		"INSERT INTO two (id, pay, cap) VALUES (1, 2, 3) ON DUPLICATE KEY UPDATE cap = 3, pay = VALUES(pay)":     "",
		"INSERT INTO two (id, pay, cap) VALUES (1, 2, 3) ON DUPLICATE KEY UPDATE cap = 3, pay = VALUES(pay)+pay": no,
		"INSERT INTO two (id, pay) SELECT id, pay FROM pair ON DUPLICATE KEY UPDATE other = 3":                   no,
		"INSERT INTO two (id, pay) VALUES (1, 2) AS n ON DUPLICATE KEY UPDATE cap = 3, pay = n.pay":              "",
		"INSERT INTO two (id, pay) VALUES (1, 2) AS n ON DUPLICATE KEY UPDATE cap = 3, pay = two.pay":            no,
		"DELETE FROM two WHERE id = 1": "",
		// Rows that are passed over, or take the place of others, show.
		"INSERT IGNORE INTO pair (id, pay, cap) SELECT 1, pay + 1, 5 FROM pair":                                   no,
		"INSERT IGNORE INTO pair (id, pay, cap) SELECT 1, pay, 5 FROM pair":                                       "predicate",
		"INSERT IGNORE INTO pair (id, pay, cap) VALUES (1, 2, 3)":                                                 "",
		"INSERT INTO pair (id, pay, cap) SELECT 1, IF(pay > 5, 1, 2), 5 FROM pair":                                "",
		"INSERT INTO pair (id, pay, cap) SELECT 1, IF(pay > 5, 1, 2), 5 FROM pair ON DUPLICATE KEY UPDATE id = 2": no,
		"INSERT INTO pair (id, pay) VALUES (1, (SELECT MAX(pay) + 1 FROM two)) ON DUPLICATE KEY UPDATE id = 2":    no,
		"INSERT INTO pair (id, pay) VALUES (1, 2) ON DUPLICATE KEY UPDATE pay = pay + 1":                          "",
		"INSERT IGNORE INTO pair (id, pay) VALUES (1, 2) ON DUPLICATE KEY UPDATE pay = pay + 1":                   no,
		"INSERT IGNORE INTO pair (id, pay) VALUES (1, 2) ON DUPLICATE KEY UPDATE pay = VALUES(pay)":               "",
		"REPLACE INTO pair (id, pay, cap) SELECT 1, pay + 1, 5 FROM pair":                                         no,
		"REPLACE INTO hash (id, pay) SELECT 1, pay + 1 FROM pair":                                                 no,
		"REPLACE INTO hash (id, pay) SELECT 1, pay FROM pair":                                                     "predicate",
		"REPLACE INTO func (pay) SELECT pay + 1 FROM pair":                                                        no,
		"REPLACE INTO plain (id, pay) SELECT id, pay + 1 FROM pair":                                               "",
		"INSERT IGNORE INTO plain (id, pay) SELECT id, pay + 1 FROM pair":                                         no,
		"INSERT IGNORE INTO plain (id, pay) SELECT id, pay FROM pair":                                             "",
		"UPDATE IGNORE pair SET pay = pay + 1":                                                                    no,
		"UPDATE IGNORE pair SET pay = 5":                                                                          "",
		"UPDATE pair SET pay = pay + 1":                                                                           "",
		"UPDATE IGNORE plain SET pay = pay + 1":                                                                   no,
		"INSERT IGNORE INTO child (id, pay) SELECT id, pay FROM pair":                                             "predicate",
	} {
		for how, want := range map[Inference]string{Guarded: want, Strict: want, Documented: ""} {
			if got := short(New(cat, rules(how)).judge(sql, Session{Database: "d"})); got != want {
				t.Errorf("%v %s: %q, want %q", how, sql, got, want)
			}
		}
	}
}

// TestRoutineNames: which calls a server may take for those of stored functions.
func TestRoutineNames(t *testing.T) {
	cat := schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.IgnoreCase)
	cat.Add(&schema.Table{TableName: schema.TableName{Database: "d", Table: "t"}, Engine: "InnoDB", Columns: []schema.TableColumn{{Name: "id"}}})
	for _, n := range []string{"count", "max", "avg", "upper", "now", "year", "median"} {
		cat.AddRoutine(&schema.Routine{TableName: schema.TableName{Database: "other", Table: n}, Body: "RETURN 1"})
	}
	x := New(cat, Rules{List: []Rule{{Name: "(derived)"}}, Column: func(schema.Column) Labels { return nil }})
	for expr, ok := range map[string]bool{
		"COUNT(*)": true, "count(DISTINCT id)": true, "COUNT(*) OVER ()": true, "MAX(id)": true, "AVG(id)": true, "AVG (id)": true, "UPPER(id)": true, "upper (id)": true, "`upper`(id)": true,
		"COUNT (id)": false, "COUNT\n(id)": false, "`count`(id)": false, "`max`(id)": false, "MAX (id)": false, "other.count(id)": false, "other.upper(id)": false, "d.count(id)": false,
		"`avg`(id)": false, "NOW ()": false, "`now`()": false, "YEAR(id)": false, "`year`(id)": false, "MIN(id)": true,
	} {
		v := x.judge("SELECT "+expr+" FROM t", Session{Database: "d"})
		if (v.Refusal == nil) != ok {
			t.Errorf("%s: %v", expr, v.Refusal)
		}
	}
}

// TestOrphans: a value of which others are copies must not be seen to change.
func TestOrphans(t *testing.T) {
	name := func(table string) schema.TableName { return schema.TableName{Database: "d", Table: table} }
	cat := schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.IgnoreCase)
	for rule, at := range map[string]string{"SET NULL": "1", "CASCADE": "2", "RESTRICT": "3"} {
		columns := []schema.TableColumn{{Name: "id", Type: "int(11)"}, {Name: "pay", Type: "int(11)"}}
		cat.Add(&schema.Table{TableName: name("par" + at), Engine: "InnoDB", Columns: columns})
		cat.Add(&schema.Table{TableName: name("kid" + at), Engine: "InnoDB", Columns: columns, Foreign: []schema.ForeignKey{{Columns: []string{"pay"}, Ref: name("par" + at), RefColumns: []string{"pay"}, OnUpdate: rule}}})
	}
	for sql, want := range map[string][2]string{ // by inference, guarded and strict
		"UPDATE par1 SET pay = 5":                                                  {"", "predicate"},
		"UPDATE par1 SET pay = IF(id > 1, pay, 0)":                                 {"write-stamp", "write-stamp"},
		"UPDATE par1 SET pay = pay + 1":                                            {"", ""},
		"UPDATE par1 SET id = 2":                                                   {"", ""},
		"INSERT INTO par1 VALUES (1, 2) ON DUPLICATE KEY UPDATE pay = VALUES(pay)": {"write-stamp", "write-stamp"},
		"UPDATE par2 SET pay = 5":                                                  {"", ""},
		"UPDATE par3 SET pay = 5":                                                  {"", ""},
		"UPDATE IGNORE par3 SET pay = 5":                                           {"", "predicate"},
		"UPDATE IGNORE par3 SET id = 5":                                            {"", ""},
		"UPDATE IGNORE par2 SET pay = 5":                                           {"", ""},
		"UPDATE kid1 SET pay = 5":                                                  {"", ""},
	} {
		for i, how := range []Inference{Guarded, Strict} {
			rules := Rules{List: []Rule{{Name: "(derived)", Inference: how}, {Name: "main", Inference: how}}, Column: func(c schema.Column) Labels {
				if c.Column == "pay" {
					return Labels{1}
				}
				return nil
			}}
			if got := short(New(cat, rules).judge(sql, Session{Database: "d"})); got != want[i] {
				t.Errorf("%v %s: %q, want %q", how, sql, got, want[i])
			}
		}
	}
}

// TestHints: hints must not lead to indexes of protected columns.
func TestHints(t *testing.T) {
	name := func(table string) schema.TableName { return schema.TableName{Database: "d", Table: table} }
	cat := schema.NewCatalog(schema.Server{MariaDB: true, Version: 101119}, schema.IgnoreCase)
	columns := []schema.TableColumn{{Name: "id", Type: "int(11)"}, {Name: "pay", Type: "int(11)"}, {Name: "open", Type: "int(11)"}}
	primary := schema.Key{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}
	cat.Add(&schema.Table{TableName: name("t"), Engine: "InnoDB", Columns: columns, Keys: []schema.Key{primary, {Name: "k_open", Columns: []string{"open"}}, {Name: "k_pay", Columns: []string{"open", "pay"}}}})
	cat.Add(&schema.Table{TableName: name("u"), Engine: "InnoDB", Columns: columns, Keys: []schema.Key{primary, {Name: "k_open", Columns: []string{"open"}}}})
	cat.Add(&schema.Table{TableName: name("w"), Engine: "InnoDB", Columns: columns, Keys: []schema.Key{{Name: "PRIMARY", Unique: true, Columns: []string{"pay"}}, {Name: "k_open", Columns: []string{"open"}}}})
	cat.Add(&schema.Table{TableName: name("x"), Engine: "InnoDB", Columns: columns, Keys: []schema.Key{{Name: "k_fun", Columns: []string{""}}}})
	rules := Rules{List: []Rule{{Name: "(derived)"}, {Name: "main", Inference: Strict}}, Column: func(c schema.Column) Labels {
		if c.Column == "pay" {
			return Labels{1}
		}
		return nil
	}}
	const no = "narrowed"
	for from, want := range map[string]string{
		"t": "-", "t USE INDEX (k_open)": "-", "t FORCE INDEX (PRIMARY, K_OPEN)": "-", "t FORCE KEY FOR ORDER BY (k_open)": "-", "t USE INDEX FOR JOIN (PRIMARY)": "-",
		"t USE INDEX (k_pay)": no, "t FORCE INDEX (k_open, k_pay)": no, "t USE INDEX (k_o)": no, "t USE INDEX (nothing)": no, "t USE INDEX ()": no, "t IGNORE INDEX (k_open)": no,
		"t USE INDEX (k_open) IGNORE INDEX FOR GROUP BY (k_open)": no, "t PARTITION (p0)": no, "t PARTITION (p0) USE INDEX (k_open)": no,
		"u USE INDEX (k_open)": "-", "u IGNORE INDEX (k_open)": "-", "u USE INDEX ()": "-", "u PARTITION (p0)": no,
		"w USE INDEX (k_open)": no, "x USE INDEX (k_fun)": no, "x IGNORE INDEX (k_fun)": no,
	} {
		if got := short(New(cat, rules).judge("SELECT id FROM "+from, Session{Database: "d"})); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}
