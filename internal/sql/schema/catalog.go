package schema

import (
	"slices"
	"strings"
)

// A Catalog is what the databases of a server hold. It never changes once it
// is made; a server whose definitions change gets another one.
type Catalog struct {
	Server     Server
	Names      Names  // how names of databases and tables are compared
	Generation uint64 // differs between catalogs of one server that differ
	// Tables holds tables, views and sequences by Key, and those tables of
	// information_schema that may be read.
	Tables map[TableName]*Table
	// Routines holds stored functions and procedures by Key of database and
	// name, which is folded: the case of names of routines never counts.
	Routines map[TableName]*Routine
	Events   []Event
	// Blind says what the account that read the catalog cannot see, "" if it
	// sees all. What is hidden cannot be judged.
	Blind string

	temporary map[TableName]*Table // see WithTemporary
}

// A Server is the product that serves a catalog.
type Server struct {
	MariaDB bool
	Version int    // 101103 for 10.11.3, 80036 for 8.0.36
	Text    string // as the server says it
}

// ParseServer reads the answer to SELECT VERSION(). The Version is 0 if there is
// none in it.
func ParseServer(text string) Server {
	s := Server{MariaDB: strings.Contains(strings.ToLower(text), "mariadb"), Text: text}
	text = strings.TrimPrefix(text, "5.5.5-") // what MariaDB puts before its own
	var part [3]int
	n := 0
	for i := 0; i < len(text) && n < len(part); i++ {
		switch c := text[i]; {
		case '0' <= c && c <= '9' && part[n] < 1000:
			part[n] = part[n]*10 + int(c-'0')
		case c == '.':
			n++
		default:
			n = len(part)
		}
	}
	s.Version = part[0]*10000 + part[1]*100 + part[2]
	return s
}

// A TableName names a table, view, sequence or routine.
type TableName struct{ Database, Table string }

func (n TableName) String() string { return n.Database + "." + n.Table }

// A Kind is what a Table is.
type Kind byte

// The kinds of tables.
const (
	Base      Kind = iota
	View           // Definition says of what
	Sequence       // what NEXTVAL takes
	System         // of information_schema
	Temporary      // of one session; hides another table of its name
)

// A Table is a table or what stands in the place of one.
type Table struct {
	TableName
	Kind       Kind
	Engine     string
	Definition string // of a View, as the server expanded it; "" if it may not be read
	Definer    string // of a View
	Columns    []TableColumn
	Keys       []Key
	Foreign    []ForeignKey
	Triggers   []Trigger
	Checks     []string // expressions that hold for every row; "" for one that may not be read
}

// A TableColumn is a column of a table. Expressions are as the server writes
// them.
type TableColumn struct {
	Name      string
	Type      string // such as "varchar(40)"; "" if it is not known
	Nullable  bool
	Invisible bool   // not in *
	Stamped   bool   // the server sets it whenever a row is changed (ON UPDATE)
	Numbered  bool   // the server gives new rows one more than the highest (AUTO_INCREMENT)
	Generated string // expression of a generated column, "" for others
	Default   string // expression or literal, "" for none
}

// A Key is an index.
type Key struct {
	Name    string
	Unique  bool // PRIMARY is too
	Columns []string
}

// A ForeignKey ties columns to those of another table: both hold the same
// values, and a rule ON UPDATE may carry them over.
type ForeignKey struct {
	Name       string
	Columns    []string
	Ref        TableName
	RefColumns []string
	OnUpdate   string // "RESTRICT", "CASCADE", ...
	OnDelete   string
}

// A Trigger is a statement that runs with every row written.
type Trigger struct {
	Name   string
	Timing string // "BEFORE" or "AFTER"
	Event  string // "INSERT", "UPDATE" or "DELETE"
	Body   string
}

// A Routine is a stored function or procedure.
type Routine struct {
	TableName
	Procedure bool
	Body      string // "" if it may not be read
}

// An Event is a statement the server runs by the clock.
type Event struct {
	TableName
	Body string
}

// NewCatalog makes an empty Catalog.
func NewCatalog(server Server, names Names) *Catalog {
	return &Catalog{Server: server, Names: names, Tables: map[TableName]*Table{}, Routines: map[TableName]*Routine{}}
}

// Key returns the form of a table's name that all its spellings have in common.
// Names in information_schema are compared without regard to case everywhere.
func (c *Catalog) Key(n TableName) TableName {
	if strings.EqualFold(n.Database, InformationSchema) {
		return TableName{InformationSchema, strings.ToLower(n.Table)}
	}
	return TableName{c.Names.FoldTable(n.Database), c.Names.FoldTable(n.Table)}
}

// InformationSchema is the database of descriptions.
const InformationSchema = "information_schema"

// Table finds a table, nil if there is none. The session's temporary ones come
// before others.
func (c *Catalog) Table(n TableName) *Table {
	key := c.Key(n)
	if t := c.temporary[key]; t != nil {
		return t
	}
	return c.Tables[key]
}

// Routine finds a stored function or procedure, nil if there is none.
func (c *Catalog) Routine(n TableName) *Routine {
	return c.Routines[c.routineKey(n)]
}

func (c *Catalog) routineKey(n TableName) TableName {
	return TableName{c.Names.FoldTable(n.Database), FoldColumn(n.Table)}
}

// HasRoutine reports whether some database has a stored function or procedure
// of that name.
func (c *Catalog) HasRoutine(name string) bool {
	name = FoldColumn(name)
	for n := range c.Routines {
		if n.Table == name {
			return true
		}
	}
	return false
}

// Add adds a table while a Catalog is being made.
func (c *Catalog) Add(t *Table) { c.Tables[c.Key(t.TableName)] = t }

// AddRoutine adds a routine while a Catalog is being made.
func (c *Catalog) AddRoutine(r *Routine) { c.Routines[c.routineKey(r.TableName)] = r }

// WithTemporary returns a Catalog in which the temporary tables of a session
// hide those of c. The two share everything else.
func (c *Catalog) WithTemporary(tables []*Table) *Catalog {
	out := *c
	out.temporary = make(map[TableName]*Table, len(tables))
	for _, t := range tables {
		out.temporary[c.Key(t.TableName)] = t
	}
	return &out
}

// Column finds a column of t, nil if there is none. The case of its name does
// not count.
func (t *Table) Column(name string) *TableColumn {
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, name) {
			return &t.Columns[i]
		}
	}
	return nil
}

// Reaches reports whether a base table shows rows of other tables, of this
// server or another.
func (t *Table) Reaches() bool {
	return t.Kind == Base && !slices.Contains(ownRows, strings.ToLower(t.Engine))
}

// ownRows are the engines that keep the rows of their tables themselves.
var ownRows = []string{"innodb", "myisam", "aria", "memory", "csv", "archive", "rocksdb", "columnstore", "blackhole", "sequence"}

// Equal reports whether two catalogs say the same, but for their Generation.
func (c *Catalog) Equal(o *Catalog) bool {
	if c.Server != o.Server || c.Names != o.Names || c.Blind != o.Blind || len(c.Tables) != len(o.Tables) || len(c.Routines) != len(o.Routines) || !slices.Equal(c.Events, o.Events) {
		return false
	}
	for key, r := range c.Routines {
		if s := o.Routines[key]; s == nil || *r != *s {
			return false
		}
	}
	for key, t := range c.Tables {
		if u := o.Tables[key]; u == nil || !t.equal(u) {
			return false
		}
	}
	return true
}

func (t *Table) equal(u *Table) bool {
	return t.TableName == u.TableName && t.Kind == u.Kind && t.Engine == u.Engine && t.Definition == u.Definition && t.Definer == u.Definer &&
		slices.Equal(t.Columns, u.Columns) && slices.Equal(t.Triggers, u.Triggers) && slices.Equal(t.Checks, u.Checks) &&
		slices.EqualFunc(t.Keys, u.Keys, func(a, b Key) bool {
			return a.Name == b.Name && a.Unique == b.Unique && slices.Equal(a.Columns, b.Columns)
		}) &&
		slices.EqualFunc(t.Foreign, u.Foreign, func(a, b ForeignKey) bool {
			return a.Name == b.Name && a.Ref == b.Ref && a.OnUpdate == b.OnUpdate && a.OnDelete == b.OnDelete && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.RefColumns, b.RefColumns)
		})
}
