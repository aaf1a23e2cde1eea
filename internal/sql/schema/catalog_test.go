package schema

import "testing"

func TestParseServer(t *testing.T) {
	for text, want := range map[string]Server{
		"10.11.19-MariaDB-0+deb12u1": {MariaDB: true, Version: 101119},
		"5.5.5-10.6.1-MariaDB":       {MariaDB: true, Version: 100601},
		"8.0.36":                     {Version: 80036},
		"8.4.3-cluster":              {Version: 80403},
		"5.7.44-log":                 {Version: 50744},
		"":                           {},
		"what":                       {},
		"99999999999999999999.1.2":   {},
	} {
		want.Text = text
		if got := ParseServer(text); got != want {
			if text[:min(len(text), 3)] == "999" && got.Version > 0 {
				continue // some number, no overflow
			}
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

func testCatalog(names Names) *Catalog {
	c := NewCatalog(Server{}, names)
	c.Add(&Table{TableName: TableName{"Hr", "Emp"}, Engine: "InnoDB", Columns: []TableColumn{{Name: "Id"}}, Keys: []Key{{"PRIMARY", true, []string{"Id"}}}})
	c.Add(&Table{TableName: TableName{"information_schema", "TABLES"}, Kind: System})
	c.AddRoutine(&Routine{TableName: TableName{"Hr", "Fn"}})
	return c
}

func TestCatalogNames(t *testing.T) {
	for _, tt := range []struct {
		names     Names
		table     TableName
		found, fn bool
	}{
		{MatchCase, TableName{"Hr", "Emp"}, true, true},
		{MatchCase, TableName{"Hr", "emp"}, false, true},
		{MatchCase, TableName{"hr", "Emp"}, false, false},
		{IgnoreCase, TableName{"HR", "eMP"}, true, true},
		{MatchCase, TableName{"INFORMATION_SCHEMA", "Tables"}, true, false},
	} {
		c := testCatalog(tt.names)
		if got := c.Table(tt.table) != nil; got != tt.found {
			t.Errorf("%v by %d: found is %v", tt.table, tt.names, got)
		}
		if got := c.Routine(TableName{tt.table.Database, "fN"}) != nil; got != tt.fn {
			t.Errorf("routine of %v by %d: found is %v", tt.table, tt.names, got)
		}
	}
	c := testCatalog(MatchCase)
	if !c.HasRoutine("FN") || c.HasRoutine("gn") {
		t.Error("HasRoutine")
	}
	if emp := c.Table(TableName{"Hr", "Emp"}); emp.Column("iD") == nil || emp.Column("x") != nil || emp.Reaches() {
		t.Error("Column or Reaches")
	}
	if !(&Table{Engine: "CONNECT"}).Reaches() || (&Table{Kind: View}).Reaches() {
		t.Error("Reaches")
	}
}

func TestTemporary(t *testing.T) {
	c := testCatalog(MatchCase)
	o := c.WithTemporary([]*Table{{TableName: TableName{"Hr", "Emp"}, Kind: Temporary}, {TableName: TableName{"Hr", "t"}, Kind: Temporary}})
	if o.Table(TableName{"Hr", "Emp"}).Kind != Temporary || o.Table(TableName{"Hr", "t"}) == nil {
		t.Error("a temporary table is not found first")
	}
	if c.Table(TableName{"Hr", "Emp"}).Kind != Base || c.Table(TableName{"Hr", "t"}) != nil {
		t.Error("the catalog below has changed")
	}
}

func TestCatalogEqual(t *testing.T) {
	for name, change := range map[string]func(*Catalog){
		"blind":   func(c *Catalog) { c.Blind = "x" },
		"column":  func(c *Catalog) { c.Table(TableName{"Hr", "Emp"}).Columns[0].Invisible = true },
		"key":     func(c *Catalog) { c.Table(TableName{"Hr", "Emp"}).Keys[0].Columns[0] = "x" },
		"foreign": func(c *Catalog) { c.Table(TableName{"Hr", "Emp"}).Foreign = []ForeignKey{{OnUpdate: "CASCADE"}} },
		"trigger": func(c *Catalog) { c.Table(TableName{"Hr", "Emp"}).Triggers = []Trigger{{Body: "x"}} },
		"routine": func(c *Catalog) { c.Routine(TableName{"Hr", "Fn"}).Body = "x" },
		"event":   func(c *Catalog) { c.Events = []Event{{}} },
		"table":   func(c *Catalog) { c.Add(&Table{}) },
	} {
		a, b := testCatalog(MatchCase), testCatalog(MatchCase)
		if b.Generation++; !a.Equal(b) {
			t.Fatal("equal catalogs are not")
		}
		if change(b); a.Equal(b) || b.Equal(a) {
			t.Errorf("%s: a change is not seen", name)
		}
	}
}
