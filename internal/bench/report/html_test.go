package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/veildb/veildb/internal/bench/result"
)

func pageOf(t testing.TB, f *fixture) string {
	t.Helper()
	var buf bytes.Buffer
	if err := HTML(&buf, f.summary, f.records()); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

var pageCases = map[string]func() *fixture{
	"whole":      func() *fixture { return newFixture(7, 24) },
	"incomplete": func() *fixture { return newFixture(7, 24).interrupted() },
	"noisy":      func() *fixture { return newFixture(3, 4) },
	"many cells": manyCells,
	"long":       func() *fixture { return newFixture(5, 350) },
	"hostile":    poisoned,
	"empty": func() *fixture {
		return &fixture{summary: &result.Summary{Format: result.SummaryFormat, Study: "embedded"}}
	},
	"no records": func() *fixture { f := newFixture(7, 8); f.blocks, f.voids = nil, nil; return f },
}

var voidElements = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

// element is one start tag of the page.
type element struct {
	name  string
	attrs map[string]string
}

// elements reads the page as a strict reader would: every tag must be closed
// in order, every attribute given once. It returns the start tags and the text
// outside script and style.
func elements(t *testing.T, page string) (els []element, text string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	var open []string
	var b strings.Builder
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Fatalf("never closed: %v", open)
			}
			return els, b.String()
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			e := element{tok.Data, map[string]string{}}
			for _, a := range tok.Attr {
				if _, dup := e.attrs[a.Key]; dup {
					t.Fatalf("<%s> has %s twice", tok.Data, a.Key)
				}
				e.attrs[a.Key] = a.Val
			}
			els = append(els, e)
			if tok.Type == html.StartTagToken && !slices.Contains(voidElements, tok.Data) {
				open = append(open, tok.Data)
			}
		case html.EndTagToken:
			tok := z.Token()
			if len(open) == 0 || open[len(open)-1] != tok.Data {
				t.Fatalf("</%s> closes %v", tok.Data, open)
			}
			open = open[:len(open)-1]
		case html.TextToken:
			if len(open) > 0 && open[len(open)-1] != "script" && open[len(open)-1] != "style" {
				b.WriteString(z.Token().Data)
			}
		}
	}
}

func TestHTMLIsWellFormed(t *testing.T) {
	for name, make := range pageCases {
		t.Run(name, func(t *testing.T) {
			page := pageOf(t, make())
			els, _ := elements(t, page)
			ids := map[string]bool{}
			scripts := 0
			for _, e := range els {
				if id, ok := e.attrs["id"]; ok {
					if ids[id] {
						t.Errorf("id %q is used twice", id)
					}
					ids[id] = true
				}
				if e.name == "script" {
					scripts++
				}
				if e.name == "th" && e.attrs["scope"] == "" {
					t.Error("a table header has no scope")
				}
				if slices.Contains([]string{"img", "iframe", "object", "embed", "base", "form", "audio", "video"}, e.name) {
					t.Errorf("the page has <%s>", e.name)
				}
				for k, v := range e.attrs {
					if k == "src" || k == "srcset" || strings.HasPrefix(k, "on") {
						t.Errorf("<%s> has %s=%q", e.name, k, v)
					}
					if k == "href" && !strings.HasPrefix(v, "#") && v != "data:," {
						t.Errorf("<%s> links to %q", e.name, v)
					}
				}
			}
			if scripts != 2 {
				t.Errorf("got %d script elements, want 2", scripts)
			}
			for _, e := range els {
				for _, k := range []string{"aria-labelledby", "href"} {
					for ref := range strings.FieldsSeq(e.attrs[k]) {
						if ref = strings.TrimPrefix(ref, "#"); ref != "data:," && !ids[ref] {
							t.Errorf("%s=%q refers to nothing", k, ref)
						}
					}
				}
				if e.name == "svg" && e.attrs["aria-hidden"] == "" && (e.attrs["role"] != "img" || len(strings.Fields(e.attrs["aria-labelledby"])) != 2) {
					t.Errorf("picture %q lacks title and description", e.attrs["id"])
				}
			}
		})
	}
}

var externalURL = regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]|@import|url\(`)

func TestHTMLNeedsNoNetwork(t *testing.T) {
	page := pageOf(t, newFixture(7, 24))
	for l := range strings.SplitSeq(page, "\n") {
		if m := externalURL.FindString(l); m != "" {
			t.Errorf("the page refers to the outside: %q", m)
		}
	}
	if !strings.Contains(page, `content="default-src &#39;none&#39;;`) {
		t.Error("the page has no policy against loading anything")
	}
}

func TestHTMLShowsEveryRow(t *testing.T) {
	for _, name := range []string{"whole", "incomplete", "many cells"} {
		f := pageCases[name]()
		page := pageOf(t, f)
		_, text := elements(t, page)
		n := namingOf(f.summary)
		for _, r := range slices.Concat(f.summary.Rows, f.summary.AA) {
			if !strings.Contains(text, n.workload(r)) || !strings.Contains(text, r.Variant) {
				t.Errorf("%s: %s %s is missing", name, r.Workload, r.Variant)
			}
			if r.OverheadPct != nil && !strings.Contains(text, minus(span(*r.OverheadPct))) {
				t.Errorf("%s: interval %s of %s %s is missing", name, span(*r.OverheadPct), r.Workload, r.Variant)
			}
		}
		if got := strings.Count(page, "<details>"); got != len(f.summary.Rows) {
			t.Errorf("%s: %d comparisons in detail, want %d", name, got, len(f.summary.Rows))
		}
		if got, want := strings.Count(page, `id="series-`), 3*(len(f.summary.Rows)+len(f.summary.AA)); name != "incomplete" && got != want {
			t.Errorf("%s: %d ids of charts over time, want %d", name, got, want)
		}
	}
}

func TestHTMLSaysIncomplete(t *testing.T) {
	whole, cut := pageOf(t, newFixture(7, 8)), pageOf(t, newFixture(7, 8).interrupted())
	for _, want := range []string{"<title>INCOMPLETE – ", `role="alert"`, "INCOMPLETE RUN"} {
		if !strings.Contains(cut, want) {
			t.Errorf("the page of an incomplete run lacks %q", want)
		}
		if strings.Contains(whole, want) {
			t.Errorf("the page of a complete run has %q", want)
		}
	}
}

func TestHTMLEmbedsTheSummary(t *testing.T) {
	for name, make := range pageCases {
		f := make()
		page := pageOf(t, f)
		_, rest, ok := strings.Cut(page, `<script type="application/json" id="veildb-summary">`)
		data, _, ok2 := strings.Cut(rest, "</script>")
		if !ok || !ok2 {
			t.Fatalf("%s: no embedded summary", name)
		}
		var back result.Summary
		if err := json.Unmarshal([]byte(data), &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, _ := json.Marshal(f.summary)
		got, _ := json.Marshal(&back)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the embedded summary is not the summary", name)
		}
	}
}

func TestHTMLEscapesHostileStrings(t *testing.T) {
	page := pageOf(t, poisoned())
	els, text := elements(t, page)
	for _, e := range els {
		if e.name == "img" || e.attrs["onerror"] != "" {
			t.Fatal("a name became markup")
		}
	}
	if !strings.Contains(text, hostile[0]) {
		t.Error("the hostile title is not shown as text")
	}
	page, _, _ = strings.Cut(page, `<script type="application/json"`) // there they are data
	if i := strings.IndexFunc(page, func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' }); i >= 0 {
		t.Errorf("control character %q in the page", page[i])
	}
}

// FuzzHTML feeds arbitrary names through the page: whatever they are, the
// page stays well-formed with exactly its own two scripts.
func FuzzHTML(f *testing.F) {
	for _, h := range hostile {
		f.Add(h, h)
	}
	f.Fuzz(func(t *testing.T, name, note string) {
		x := newFixture(1, 2)
		x.summary.Rows, x.summary.AA = x.summary.Rows[:2], nil
		x.summary.Title, x.summary.Warnings = name, []string{note}
		x.summary.Rows[0].Variant, x.summary.Rows[0].Note = name, note
		x.summary.Rows[1].Workload, x.summary.Rows[1].Baseline = note, name
		var buf bytes.Buffer
		if err := HTML(&buf, x.summary, Records{Config: map[string]any{name: note}}); err != nil {
			t.Fatal(err)
		}
		els, _ := elements(t, buf.String())
		scripts := slices.DeleteFunc(els, func(e element) bool { return e.name != "script" })
		if len(scripts) != 2 {
			t.Fatalf("got %d scripts", len(scripts))
		}
	})
}

func TestWriteHTML(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	f := newFixture(7, 8)
	if err := WriteHTML(path, f.summary, f.records()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(whole) != pageOf(t, f) {
		t.Error("the file is not the page")
	}

	f.summary.Rows[0].OverheadPct.Est = math.NaN() // cannot be encoded
	if err := WriteHTML(path, f.summary, f.records()); err == nil {
		t.Fatal("a page that cannot be made was reported as written")
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(after, whole) {
		t.Errorf("the old report was touched (%v)", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); err != nil || !reflect.DeepEqual(append(names, hidden...), []string{path}) {
		t.Errorf("left behind: %v %v", names, hidden)
	}
	if err := WriteHTML(filepath.Join(dir, "no", "report.html"), f.summary, Records{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory gives %v", err)
	}
}

func BenchmarkHTML(b *testing.B) {
	f := manyCells()
	for b.Loop() {
		b.SetBytes(int64(len(pageOf(b, f))))
	}
}
