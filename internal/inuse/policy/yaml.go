package policy

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxDocument is the longest text of rules, in bytes.
const MaxDocument = 4 << 20

// ParseDocument reads the YAML form of a Document. Unknown and repeated fields
// are refused, and so are aliases: what is protected should stand there in
// plain sight. The error is an *Error.
func ParseDocument(text []byte) (*Document, error) {
	p := new(problems)
	d := new(Document)
	r := reader{p}
	if body := r.body(text); body != nil {
		r.document(body, d)
	}
	return d, p.err()
}

// A reader turns syntax trees into a Document and notes what is wrong.
type reader struct{ *problems }

// body parses text and returns the tree of its one document, or nil.
func (r reader) body(text []byte) (node ast.Node) {
	if len(text) > MaxDocument {
		r.wrong(0, "the rules are longer than %d bytes", MaxDocument)
		return nil
	}
	defer func() {
		// A gate must survive what its parser does not.
		if recover() != nil {
			r.wrong(0, "not YAML")
			node = nil
		}
	}()
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		line, reason := 0, err.Error()
		var y yaml.Error
		if errors.As(err, &y) {
			if reason = y.GetMessage(); y.GetToken() != nil && y.GetToken().Position != nil {
				line = y.GetToken().Position.Line
			}
		}
		r.wrong(line, "not YAML: %s", strings.ReplaceAll(reason, "\n", " "))
		return nil
	}
	for _, d := range f.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if node != nil {
			r.wrong(line(d.Body), "a second document")
			return nil
		}
		node = d.Body
	}
	if node == nil {
		r.wrong(0, "the rules are empty; write rules: [] if nothing is to be protected")
	}
	return node
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// fields calls f for each field of a mapping; f returns false for a field it
// does not know.
func (r reader) fields(n ast.Node, what string, f func(key string, value ast.Node) bool) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		r.wrong(line(n), "%s must be a mapping of fields", what)
		return
	}
	seen := map[string]bool{}
	for _, v := range values {
		key, ok := r.text(v.Key, "a field")
		switch {
		case !ok:
		case seen[key]:
			r.wrong(line(v.Key), "%s is given twice", key)
		case !f(key, v.Value):
			r.wrong(line(v.Key), "%s has no field %q", what, key)
		}
		seen[key] = true
	}
}

// text reads a string; numbers and the like are taken as they are written.
func (r reader) text(n ast.Node, what string) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	case *ast.AliasNode:
		r.wrong(line(n), "%s: write \"*\" in quotes; alone it is an alias", what)
	case *ast.NullNode, nil:
		r.wrong(line(n), "%s is empty", what)
	default:
		r.wrong(line(n), "%s must be a string", what)
	}
	return "", false
}

// list reads a list of strings, or one string.
func (r reader) list(n ast.Node, what string) (out []Entry) {
	values := []ast.Node{n}
	if s, ok := n.(*ast.SequenceNode); ok {
		values = s.Values
	}
	for _, v := range values {
		if s, ok := r.text(v, what); ok {
			out = append(out, Entry{s, line(v)})
		}
	}
	return out
}

func (r reader) document(n ast.Node, d *Document) {
	version, rules := false, false
	r.fields(n, "the file", func(key string, v ast.Node) bool {
		switch key {
		case "version":
			if s, ok := r.text(v, key); ok && s != "1" {
				r.wrong(line(v), "version %s is not known; this one is 1", s)
			}
			version = true
		case "admins":
			d.Admins = r.list(v, key)
		case "registrars":
			d.Registrars = r.list(v, key)
		case "accounts":
			r.accounts(v, &d.Accounts)
		case "rules":
			rules = true
			list, ok := v.(*ast.SequenceNode)
			if !ok {
				r.wrong(line(v), "rules must be a list")
				return true
			}
			for _, item := range list.Values {
				d.Rules = append(d.Rules, r.rule(item))
			}
		default:
			return false
		}
		return true
	})
	if len(r.errors) == 0 && !version {
		r.wrong(line(n), "version is missing; write version: 1")
	}
	if len(r.errors) == 0 && !rules {
		r.wrong(line(n), "rules is missing; write rules: [] if nothing is to be protected")
	}
}

func (r reader) accounts(n ast.Node, a *Accounts) {
	r.fields(n, "accounts", func(key string, v ast.Node) bool {
		switch key {
		case "full":
			a.Full = r.list(v, key)
		case "ciphertext":
			a.Ciphertext = r.list(v, key)
		case "blocked":
			a.Blocked = r.list(v, key)
		default:
			return false
		}
		return true
	})
}

func (r reader) rule(n ast.Node) (rule Rule) {
	rule.Line = line(n)
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		rule.Line = line(m.Values[0].Key)
	}
	r.fields(n, "a rule", func(key string, v ast.Node) bool {
		switch key {
		case "name":
			rule.Name, _ = r.text(v, key)
			rule.Line = line(v)
		case "description":
			rule.Description, _ = r.text(v, key)
		case "enabled":
			b, ok := v.(*ast.BoolNode)
			if !ok {
				r.wrong(line(v), "enabled must be true or false")
			} else {
				rule.Disabled = !b.Value
			}
		case "databases":
			rule.Databases = r.list(v, key)
		case "tables":
			rule.Tables = r.list(v, key)
		case "columns":
			rule.Columns = r.list(v, key)
		case "inference":
			rule.Inference.Text, _ = r.text(v, key)
			rule.Inference.Line = line(v)
		case "grants":
			rule.Grants = r.list(v, key)
		case "accounts":
			rule.Accounts = new(Accounts)
			r.accounts(v, rule.Accounts)
		default:
			return false
		}
		return true
	})
	return rule
}
