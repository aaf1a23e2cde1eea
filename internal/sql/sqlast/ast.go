// Package sqlast reads one SQL statement of the MySQL dialects into a tree that
// holds nothing it does not understand.
//
// The tree is smaller than the language on purpose. It keeps what decides where
// values come from and go to, and drops what does not: precedence of operators,
// types of casts, hints, locks. Every node of the parser beneath is either
// translated or refused; there is no node for "something else".
//
// The parser is never given the text itself but its tokens, written out anew in
// the parser's default mode, so that sql_mode and character sets cannot make it
// read something else than the server. The tree is for analysis only: nothing of
// it is ever sent to a server.
package sqlast

// A Stmt is a statement: *Select, *SetOp, *Rows, *Insert, *Update, *Delete,
// *CreateTable, *DropTable, *Truncate, *Do or *Explain.
type Stmt interface{ stmt() }

// A Query is what has a result: *Select, *SetOp or *Rows.
type Query interface {
	Stmt
	query()
	// Around returns what every query has.
	Around() *Head
}

// A Head is the part of a query that is around its body.
type Head struct {
	With  *With
	Order []Expr
	Limit []Expr
	Into  []string // user variables that take the result in place of the client
}

// Around returns h itself: a Head is embedded in every Query.
func (h *Head) Around() *Head { return h }

// A With is the list of named queries before a statement.
type With struct {
	Recursive bool
	CTEs      []*CTE
}

// A CTE is a named query of a With.
type CTE struct {
	Name    string
	Columns []string // nil if they are those of Query
	Query   Query
}

// A Select is SELECT.
type Select struct {
	Head
	Items    []Item
	From     TableRef // nil for none
	Where    Expr
	Group    []Expr
	Having   Expr
	Windows  []*Window
	Distinct bool
}

// A SetOp is UNION, INTERSECT and EXCEPT of two or more queries. Which binds
// first is not told.
type SetOp struct {
	Head
	Branches []Branch
}

// A Branch is an operand of a SetOp and the operator before it.
type Branch struct {
	Op    Op // 0 for the first
	All   bool
	Query Query
}

// An Op is an operator between queries.
type Op byte

// The operators.
const (
	Union Op = iota + 1
	Intersect
	Except
)

// A Rows is VALUES (...), (...). All rows are of one length.
type Rows struct {
	Head
	Rows [][]Expr
}

// An Item is an entry of a list of results.
type Item struct {
	Star            bool
	Database, Table string // before the star
	Expr            Expr   // nil for a star
	Alias           string // "" for none
}

// A TableRef is part of FROM: *TableName, *Derived, *Join or *JSONTable.
type TableRef interface{ ref() }

// A TableName is a table by name.
type TableName struct {
	Database, Table string   // Database "" for the current one
	Alias           string   // "" for none
	Narrowed        bool     // partitions are named, which decide what rows come
	Indexes         []string // that are to be used, which decides in which order
	Shunned         bool     // indexes are named that are not to be used
}

// A Derived is a query in FROM.
type Derived struct {
	Query   Query
	Lateral bool
	Alias   string
	Columns []string // nil if they are those of Query
}

// A Join is a join of two.
type Join struct {
	Left, Right TableRef
	Kind        JoinKind
	Natural     bool
	Using       []string
	On          Expr
}

// A JoinKind says which side's rows all appear.
type JoinKind byte

// The kinds of joins.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
)

// A JSONTable is JSON_TABLE in FROM: its columns show parts of Doc.
type JSONTable struct {
	Doc     Expr
	Columns []JSONColumn
	Alias   string
}

// A JSONColumn is a column of a JSONTable.
type JSONColumn struct {
	Name    string
	Ordinal bool // FOR ORDINALITY
}

// An Expr is an expression: *Column, *Constant, *Call, *Subquery or *Variable.
type Expr interface{ expr() }

// A Column is a column by name.
type Column struct{ Database, Table, Name string }

// A Constant is a literal, a parameter, or DEFAULT in a list of values.
type Constant struct {
	Kind ConstantKind
	Text string // of a String; the digits of a whole Number; the unit of an INTERVAL
	// Param counts the parameters of the statement from 1, for a Param; 0 if that
	// is not known.
	Param int
}

// A ConstantKind is what a Constant is.
type ConstantKind byte

// The kinds of constants.
const (
	String ConstantKind = iota
	Number
	Null
	Param
	Default // the keyword
	Other   // dates, units, words that are no names
)

// A Call is a function or an operator with its operands. The names of operators
// are "and", "or", "=", "<", "in", "is null", "not", "case" and so on, in lower
// case; operands of "and" and "or" are flat. The first operand of "case" is a
// "row" of what is compared, the others are its results. "parse" is a cast that
// can make NULL of a value.
type Call struct {
	Schema    string // before the name of a function, "" for none
	Name      string // folded
	Args      []Expr
	Operator  bool
	Aggregate bool // of many rows
	Text      bool // a cast to a text
	Distinct  bool
	Star      bool // COUNT(*)
	Order     []Expr
	Over      *Window // nil if it is no window function
}

// A Window says over which rows a window function runs.
type Window struct {
	Name      string // of the definition, or what an OVER without parentheses names
	Base      string // the window it adds to
	Partition []Expr
	Order     []Expr
	Frame     []Expr
}

// A Subquery is a query as an operand.
type Subquery struct {
	Query  Query
	Exists bool // EXISTS(query): only whether there are rows counts
}

// A Variable is @name or @@name.
type Variable struct {
	Name   string // folded
	System bool
	Assign Expr // in @name := expression, else nil
}

// An Insert is INSERT or REPLACE.
type Insert struct {
	Replace     bool
	Ignore      bool // rows that cannot be written are passed over
	Table       *TableName
	Columns     []string // nil for all
	Rows        [][]Expr // of VALUES or SET
	Query       Query    // in place of Rows
	Alias       string   // of the row that is inserted, for OnDuplicate; "" for none
	AliasOf     []string // names of its columns, nil if they are the table's
	OnDuplicate []Assignment
	Returning   []Item
}

// An Assignment is column = expression.
type Assignment struct {
	Column *Column
	Expr   Expr
}

// An Update is UPDATE of one or more tables.
type Update struct {
	With   *With
	Ignore bool // rows that cannot be written are passed over
	From   TableRef
	Set    []Assignment
	Where  Expr
	Order  []Expr
	Limit  []Expr
}

// A Delete is DELETE from one or more tables.
type Delete struct {
	With      *With
	From      TableRef
	Targets   []*TableName // nil if it is the one in From
	Where     Expr
	Order     []Expr
	Limit     []Expr
	Returning []Item
}

// A CreateTable is CREATE TABLE with columns, a query, or both.
type CreateTable struct {
	Temporary   bool
	IfNotExists bool
	Table       *TableName
	Engine      string // "" for the default
	Columns     []ColumnDef
	Keys        []KeyDef
	Checks      []Expr
	Foreign     []Reference
	Like        *TableName // whose columns it gets, nil if it has its own
	Query       Query
}

// A Reference is a foreign key's other end.
type Reference struct {
	Table   *TableName
	Columns []string
}

// A ColumnDef defines a column.
type ColumnDef struct {
	Name      string
	Type      string
	Nullable  bool
	Key       bool // UNIQUE or PRIMARY KEY
	Generated Expr
}

// A KeyDef defines a unique key.
type KeyDef struct{ Columns []string }

// A DropTable is DROP TEMPORARY TABLE.
type DropTable struct{ Tables []*TableName }

// A Truncate is TRUNCATE TABLE.
type Truncate struct{ Table *TableName }

// A Do is DO.
type Do struct{ Exprs []Expr }

// An Explain is EXPLAIN in its default form.
type Explain struct {
	Stmt   Stmt
	Detail bool // the answer is a text that may hold constants the server has found
}

func (*Select) stmt()      {}
func (*SetOp) stmt()       {}
func (*Rows) stmt()        {}
func (*Insert) stmt()      {}
func (*Update) stmt()      {}
func (*Delete) stmt()      {}
func (*CreateTable) stmt() {}
func (*DropTable) stmt()   {}
func (*Truncate) stmt()    {}
func (*Do) stmt()          {}
func (*Explain) stmt()     {}

func (*Select) query() {}
func (*SetOp) query()  {}
func (*Rows) query()   {}

func (*TableName) ref() {}
func (*Derived) ref()   {}
func (*Join) ref()      {}
func (*JSONTable) ref() {}

func (*Column) expr()   {}
func (*Constant) expr() {}
func (*Call) expr()     {}
func (*Subquery) expr() {}
func (*Variable) expr() {}
