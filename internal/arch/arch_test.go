// Package arch holds one test: the import rules written in ARCHITECTURE.md.
package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module   = "github.com/veildb/veildb/"
	root     = "../.."
	document = root + "/ARCHITECTURE.md"
)

// mayImport lists, for each area, the other areas it may import. An area may
// always import itself, downward (see tiers). A package under no area fails.
//
//	top     cli, cmd, veilsql
//	middle  keys  atrest  inuse  bench    (siblings; never see each other)
//	ground  crypto  disk  sql             (see nothing of ours)
var mayImport = map[string][]string{
	"internal/crypto": {},
	"internal/disk":   {},
	"internal/sql":    {},
	"internal/keys":   {"internal/crypto", "internal/disk"},
	"internal/atrest": {"internal/crypto", "internal/disk"},
	"internal/inuse":  {"internal/crypto", "internal/sql"},
	"internal/bench":  {},
	"veilsql":         {"internal/crypto", "internal/inuse"},
	"internal/cli": {
		"internal/crypto", "internal/disk", "internal/sql",
		"internal/keys", "internal/atrest", "internal/inuse", "internal/bench", "veilsql",
	},
	"cmd/veildb": {"internal/cli"},
}

// tiers orders the packages inside an area, lowest first. A package may import
// a sibling only from a strictly lower tier, so two packages in one tier never
// see each other. Every package of an area that has tiers must be listed.
var tiers = map[string][][]string{
	"internal/crypto": {{"secret", "sm"}, {"aesxts", "aead"}},
	"internal/sql":    {{"schema", "token"}, {"sqlast"}, {"lineage"}},
	"internal/keys":   {{"keyring"}, {"kms"}},
	"internal/atrest": {{"volume", "fusefs/fuse"}, {"fusefs", "sqlvfs", "convert", "scan", "audit", "check", "rekey", "fscrypt"}},
	"internal/inuse":  {{"policy", "wire", "encdb", "cells"}, {"gate", "sidecar", "sqlend"}},
	"internal/bench":  {{"hist", "stat", "result", "target", "dsn"}, {"run", "report", "summary", "failover"}, {"sysbench", "tpcc"}, {"study"}},
}

// deny lists single links that the tables above would allow.
var deny = map[string][]string{
	"internal/inuse/policy": {"internal/sql/sqlast", "internal/sql/lineage"},
}

// only names the one package that may import a given third-party module, or the
// packages where floors keep them from sharing one.
var only = map[string]string{
	"github.com/hanwen/go-fuse/":     "internal/atrest/fusefs",
	"github.com/ncruces/go-sqlite3":  "internal/atrest/sqlvfs",
	"github.com/pingcap/tidb/":       "internal/sql/sqlast",
	"github.com/go-sql-driver/mysql": "internal/bench/dsn veilsql",
	"github.com/jackc/pgx/":          "internal/bench/dsn",
	"github.com/emmansun/gmsm/":      "internal/crypto/sm",
	"github.com/goccy/go-yaml":       "internal/bench/study internal/inuse/policy",
	"github.com/HdrHistogram/":       "internal/bench/hist",
	"gonum.org/v1/gonum":             "internal/bench/stat",
	"github.com/spf13/cobra":         "internal/cli",
	"github.com/miekg/pkcs11":        "internal/keys/kms",
	"github.com/hashicorp/":          "internal/keys/kms",
	"github.com/Azure/":              "internal/keys/kms",
	"github.com/aliyun/":             "internal/keys/kms",
	"github.com/aws/":                "internal/keys/kms",
	"google.golang.org/":             "internal/keys/kms",
	"golang.org/x/term":              "internal/cli",
	"github.com/tink-crypto/":        "internal/atrest/volume",
}

func areaOf(pkg string) string {
	for a := range mayImport {
		if pkg == a || strings.HasPrefix(pkg, a+"/") {
			return a
		}
	}
	return ""
}

func tierOf(area, pkg string) int {
	name := strings.TrimPrefix(pkg, area+"/")
	return slices.IndexFunc(tiers[area], func(t []string) bool { return slices.Contains(t, name) })
}

// TestImports parses the files itself: "go list" in a child process would not
// be seen by the test cache, and a stale PASS would be reported. Directories
// named *test hold test helpers; they are free to import anything, and only
// _test.go files may import them.
func TestImports(t *testing.T) {
	checked := 0
	packages, modules := firstColumn(t, "| package |"), firstColumn(t, "| module |")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "arch" || strings.HasSuffix(d.Name(), "test") || strings.HasPrefix(d.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if name := strings.TrimPrefix(filepath.ToSlash(rel), "internal/"); name != "cmd/veildb" && !slices.Contains(packages, name) {
			t.Errorf("%s is not in the map of ARCHITECTURE.md", name)
		}
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			check(t, filepath.ToSlash(rel), imp)
			documented := func(m string) bool { return strings.Contains(imp+"/", m+"/") }
			if host, _, _ := strings.Cut(imp, "/"); strings.Contains(host, ".") && !strings.HasPrefix(imp, module) && !slices.ContainsFunc(modules, documented) {
				t.Errorf("%s imports %s, which is not among the dependencies in ARCHITECTURE.md", rel, imp)
			}
		}
		if len(f.Imports) == 0 {
			check(t, filepath.ToSlash(rel), "")
		}
		checked++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Fatal("no Go files found; the rules were not checked")
	}
}

// firstColumn returns the names in the first column of a table of
// ARCHITECTURE.md, which starts with head. Several may share a row; what is in
// brackets is not a name.
func firstColumn(t *testing.T, head string) []string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n"+head)
	if !found {
		t.Fatalf("%s has no table %q", document, head)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var names []string
	for row := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		cell, _, _ = strings.Cut(cell, " (")
		names = append(names, strings.Split(cell, ", ")...)
	}
	return names
}

func check(t *testing.T, pkg, imp string) {
	area := areaOf(pkg)
	if area == "" || tiers[area] != nil && tierOf(area, pkg) < 0 {
		t.Errorf("%s has no place in the tables; add it there and in ARCHITECTURE.md", pkg)
		return
	}
	for mod, owner := range only {
		if strings.HasPrefix(imp, mod) && !slices.Contains(strings.Fields(owner), pkg) {
			t.Errorf("%s imports %s; only %s may", pkg, imp, owner)
		}
	}
	dep, ours := strings.CutPrefix(imp, module)
	if !ours {
		return
	}
	switch depArea := areaOf(dep); {
	case slices.Contains(deny[pkg], dep):
		t.Errorf("%s imports %s, which is denied by name", pkg, dep)
	case strings.HasSuffix(dep, "test"):
		t.Errorf("%s imports %s, which is for _test.go files only", pkg, dep)
	case depArea == area && tiers[area] != nil && tierOf(area, dep) >= tierOf(area, pkg):
		t.Errorf("%s imports %s, which is not in a lower tier of %s", pkg, dep, area)
	case depArea != area && !slices.Contains(mayImport[area], depArea):
		t.Errorf("%s imports %s; %s may not import it", pkg, dep, area)
	}
}
