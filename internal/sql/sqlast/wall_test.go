package sqlast

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
	scanner "github.com/veildb/veildb/internal/sql/token"
)

var update = flag.Bool("update", false, "rewrite testdata/nodes.txt")

// read are the parser's nodes that are translated.
var read = []any{
	tidb.SelectStmt{}, tidb.SelectStmtOpts{}, tidb.SetOprStmt{}, tidb.SetOprSelectList{}, tidb.InsertStmt{}, tidb.UpdateStmt{}, tidb.DeleteStmt{},
	tidb.DeleteTableList{}, tidb.CreateTableStmt{}, tidb.DropTableStmt{}, tidb.TruncateTableStmt{}, tidb.DoStmt{}, tidb.ExplainStmt{},
	tidb.WithClause{}, tidb.CommonTableExpression{}, tidb.FieldList{}, tidb.SelectField{}, tidb.WildCardField{}, tidb.TableRefsClause{}, tidb.Join{},
	tidb.OnCondition{}, tidb.TableSource{}, tidb.TableName{}, tidb.GroupByClause{}, tidb.HavingClause{}, tidb.OrderByClause{}, tidb.ByItem{}, tidb.Limit{},
	tidb.WindowSpec{}, tidb.PartitionByClause{}, tidb.FrameClause{}, tidb.FrameExtent{}, tidb.FrameBound{}, tidb.Assignment{}, tidb.ColumnName{},
	tidb.ColumnDef{}, tidb.ColumnOption{}, tidb.Constraint{}, tidb.IndexPartSpecification{}, tidb.TableOption{},
	tidb.ColumnNameExpr{}, driver.ValueExpr{}, driver.ParamMarkerExpr{}, tidb.ParenthesesExpr{}, tidb.BinaryOperationExpr{}, tidb.UnaryOperationExpr{},
	tidb.FuncCallExpr{}, tidb.FuncCastExpr{}, tidb.AggregateFuncExpr{}, tidb.WindowFuncExpr{}, tidb.SubqueryExpr{}, tidb.ExistsSubqueryExpr{},
	tidb.CompareSubqueryExpr{}, tidb.VariableExpr{}, tidb.PatternInExpr{}, tidb.BetweenExpr{}, tidb.IsNullExpr{}, tidb.IsTruthExpr{},
	tidb.PatternLikeOrIlikeExpr{}, tidb.PatternRegexpExpr{}, tidb.CaseExpr{}, tidb.WhenClause{}, tidb.RowExpr{}, tidb.SetCollationExpr{}, tidb.ValuesExpr{},
	tidb.DefaultExpr{}, tidb.MatchAgainst{}, tidb.PositionExpr{}, tidb.TableNameExpr{}, tidb.TrimDirectionExpr{}, tidb.TimeUnitExpr{},
	tidb.GetFormatSelectorExpr{},
}

// TestNodes compares the fields of every node that is translated, and the names
// of those that are not, with what they were when somebody last looked. A parser
// that has learned something says so here: look at what a new field or node
// carries before running this with -update.
func TestNodes(t *testing.T) {
	var got strings.Builder
	known := map[string]bool{}
	for _, n := range read {
		typ := reflect.TypeOf(n)
		known[typ.Name()] = true
		fmt.Fprintf(&got, "%s:", typ.Name())
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() {
				fmt.Fprintf(&got, " %s", f.Name)
			}
		}
		got.WriteString("\n")
	}
	got.WriteString("\nrefused:\n")
	for _, name := range nodes(t) {
		if !known[name] {
			got.WriteString(name + "\n")
		}
	}
	file := filepath.Join("testdata", "nodes.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the parser's nodes are not those that were looked at; got\n%s", got.String())
	}
}

// nodes returns the names of the types of the parser's package ast that can be
// part of a tree: those with a method Accept.
func nodes(t *testing.T) (out []string) {
	pc := reflect.ValueOf(tidb.NewCIStr).Pointer()
	source, _ := runtime.FuncForPC(pc).FileLine(pc)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(source), "*.go"))
	if err != nil || len(files) < 5 {
		t.Fatalf("find the source of the parser: %v, %v", files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Accept" {
				continue
			}
			if p, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
				out = append(out, p.X.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FuzzParse: nothing makes reading panic, and what is read is read again alike.
func FuzzParse(f *testing.F) {
	for _, sql := range append(readable, refused...) {
		f.Add(sql, byte(0))
		f.Add(sql, byte(7))
	}
	f.Fuzz(func(t *testing.T, sql string, flags byte) {
		mode := scanner.Mode{NoBackslash: flags&1 != 0, ANSIQuotes: flags&2 != 0, SingleByte: flags&4 != 0, MariaDB: flags&8 != 0, Version: 101119}
		var text scanner.Text
		if text.Scan([]byte(sql), mode) != nil {
			return
		}
		a, errA := Parse(&text, mode)
		b, errB := Parse(&text, mode)
		if !reflect.DeepEqual(a, b) || (errA == nil) != (errB == nil) || errA != nil && a != nil {
			t.Errorf("read as %#v, %v and %#v, %v", a, errA, b, errB)
		}
	})
}
