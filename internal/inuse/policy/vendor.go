package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// names is a list of names in the vendor's JSON, or a single one.
type names []string

func (n *names) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*n = names{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(n))
}

// vendorUsers is who gets what, of a document or of a rule.
type vendorUsers struct {
	Full       names `json:"fullAccess"`
	Restricted names `json:"restrictedAccess"`
	None       names `json:"noneAccess"`
}

type vendorRule struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     *bool  `json:"enabled"`
	Type        string `json:"type"`
	Meta        struct {
		Databases names `json:"databases"`
		Tables    names `json:"tables"`
		Columns   names `json:"columns"`
	} `json:"meta"`
	Users *vendorUsers `json:"users"`
}

// ParseVendor reads rules in the JSON of the vendor's services:
//
//	{"version":20230830,"rules":[{"name":…,"enabled":true,
//	   "meta":{"databases":[…],"tables":[…],"columns":["*"]}}],
//	 "users":{"restrictedAccess":[…],"noneAccess":[…],"fullAccess":[…]}}
//
// or with users inside each rule, as the distributed service has them; or one
// rule, a list of rules, or users alone, as its SQL functions take them. Names
// are taken as they are, except that "*" alone stands for all.
//
// Accounts that no list names are blocked here, whatever the service does with
// them. Warnings tell where that may matter, and what was ignored. The error is
// an *Error.
func ParseVendor(text []byte) (d *Document, warnings []Problem, err error) {
	p := new(problems)
	v := vendor{problems: p, text: text, doc: new(Document)}
	if len(text) > MaxDocument {
		p.wrong(0, "the rules are longer than %d bytes", MaxDocument)
	} else {
		v.read()
	}
	return v.doc, p.warnings, p.err()
}

// A vendor reads a document; text is all of it, to count lines in.
type vendor struct {
	*problems
	text []byte
	doc  *Document
	open bool // a rule without users of its own, and no users for all
}

func (v *vendor) line(offset int64) int {
	return 1 + bytes.Count(v.text[:min(int(offset), len(v.text))], []byte("\n"))
}

// failed notes a JSON error that came up at or after an offset. Its words may
// hold names, which are no secret.
func (v *vendor) failed(offset int64, err error) {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		v.wrong(v.line(syntax.Offset), "not JSON: %v", err)
		return
	}
	v.wrong(v.line(offset), "not JSON of the expected form: %v", err)
}

func (v *vendor) read() {
	if !json.Valid(v.text) {
		v.failed(0, json.Unmarshal(v.text, new(any)))
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(v.text, &fields) == nil && fields["rules"] == nil && fields["users"] == nil ||
		fields["meta"] != nil {
		v.rule(0, v.text) // one rule
		return
	}
	dec := json.NewDecoder(bytes.NewReader(v.text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		v.rules(json.NewDecoder(bytes.NewReader(v.text)))
		return
	}
	var users *vendorUsers
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			v.failed(dec.InputOffset(), err)
			return
		}
		at := dec.InputOffset()
		switch key {
		case "rules":
			v.rules(dec)
			continue
		case "users":
			err = dec.Decode(&users)
		case "version":
			err = dec.Decode(new(json.Number))
		default:
			v.warn(v.line(at), "%q is ignored", key)
			err = dec.Decode(new(any))
		}
		if err != nil {
			v.failed(at, err)
			return
		}
	}
	if users != nil {
		v.doc.Accounts = v.accounts(0, users)
	} else if v.open {
		v.warn(0, "no users are given: every account that the rules here do not list is blocked")
	}
}

// rules reads a list of rules.
func (v *vendor) rules(dec *json.Decoder) {
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		v.wrong(v.line(dec.InputOffset()), "rules must be a list")
		return
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			v.failed(dec.InputOffset(), err)
			return
		}
		v.rule(dec.InputOffset()-int64(len(raw)), raw)
	}
	dec.Token() // the closing bracket; the text is valid JSON
}

// rule reads one rule, which begins at an offset.
func (v *vendor) rule(offset int64, raw []byte) {
	offset += int64(len(raw) - len(bytes.TrimLeft(raw, " \t\r\n")))
	line := v.line(offset)
	var in vendorRule
	if err := json.Unmarshal(raw, &in); err != nil {
		v.wrong(line, "not a rule: %v", err)
		return
	}
	if in.Type != "" && in.Type != "encryption" {
		v.wrong(line, "rule %q is of type %q; only encryption is supported", in.Name, in.Type)
		return
	}
	out := Rule{
		Name: in.Name, Line: line, Description: in.Description, Disabled: in.Enabled != nil && !*in.Enabled,
		Databases: v.patterns(line, in.Meta.Databases), Tables: v.patterns(line, in.Meta.Tables),
		Columns: v.patterns(line, in.Meta.Columns),
	}
	if in.Users != nil {
		a := v.accounts(line, in.Users)
		out.Accounts = &a
		if len(in.Users.None) == 0 {
			v.warn(line, "rule %q: accounts it does not list are blocked here", in.Name)
		}
	} else {
		v.open = true
	}
	v.doc.Rules = append(v.doc.Rules, out)
}

// patterns takes over names; "*" stands for all only if it is alone.
func (v *vendor) patterns(line int, list names) (out []Entry) {
	for _, n := range list {
		if n != "*" && strings.Contains(n, "*") {
			v.wrong(line, `%q: in these rules "*" can only stand alone`, n)
		}
		out = append(out, Entry{n, line})
	}
	return out
}

func (v *vendor) accounts(line int, u *vendorUsers) Accounts {
	list := func(in names) (out []Entry) {
		for _, n := range in {
			out = append(out, Entry{n, line})
		}
		return out
	}
	return Accounts{Full: list(u.Full), Ciphertext: list(u.Restricted), Blocked: list(u.None)}
}
