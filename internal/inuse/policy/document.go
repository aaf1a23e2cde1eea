package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Document is rules as they are written, in YAML:
//
//	version: 1
//	admins: [security@10.%]          # may change rules over the protocol
//	registrars: [security]           # may bring new master keys
//	accounts:                        # levels of accounts; unlisted ones are blocked
//	  full: [dba@localhost]
//	  ciphertext: ["app@%"]
//	  blocked: ["intern@%"]
//	rules:
//	  - name: cards
//	    description: what the auditors ask for
//	    enabled: true                # the default
//	    databases: [shop]            # a name, or a list of them;
//	    tables: [orders, "card_*"]   # * stands for any characters
//	    columns: ["*"]
//	    inference: guarded           # the default; or strict, or documented
//	    grants: [range, order]       # beside guarded: also like_prefix, group, join
//	    accounts:                    # in place of those above, for this rule
//	      full: [auditor]
//
// An account is user, which means from any host, or user@host. A user may hold
// "*"; a host may hold "%" and "_", or be a network such as 10.0.0.0/8. The
// most specific entry counts: one that spells user and host, then one with a
// pattern for a host, then a user alone, then a pattern for a user; among
// equals the strictest.
type Document struct {
	Admins, Registrars []Entry
	Accounts           Accounts
	Rules              []Rule
}

// Accounts lists accounts by level.
type Accounts struct{ Full, Ciphertext, Blocked []Entry }

// A Rule says which columns are protected.
type Rule struct {
	Name        string
	Line        int
	Description string
	Disabled    bool
	Databases   []Entry
	Tables      []Entry
	Columns     []Entry
	Inference   Entry // a name of an Inference, "" for Guarded
	Grants      []Entry
	Accounts    *Accounts // nil: those of the Document
}

// An Entry is a name or pattern and the line it stands on, 0 for none.
type Entry struct {
	Text string
	Line int
}

func (a *Accounts) empty() bool {
	return len(a.Full) == 0 && len(a.Ciphertext) == 0 && len(a.Blocked) == 0
}

// Merge adds the rules of o to d, in place of those of the same name, and the
// lists of accounts of o, if it has any, in place of those of d. Who may change
// rules and register keys stays, and so does the inference of a rule whose new
// form does not speak of it.
func (d *Document) Merge(o *Document) {
	for _, r := range o.Rules {
		if i := slices.IndexFunc(d.Rules, func(x Rule) bool { return x.Name == r.Name }); i >= 0 {
			if r.Inference.Text == "" && len(r.Grants) == 0 {
				r.Inference, r.Grants = d.Rules[i].Inference, d.Rules[i].Grants
			}
			d.Rules[i] = r
		} else {
			d.Rules = append(d.Rules, r)
		}
	}
	if !o.Accounts.empty() {
		d.Accounts = o.Accounts
	}
}

// remove deletes the rule of that name, or fails with ErrUnknownRule.
func (d *Document) remove(name string) error {
	n := len(d.Rules)
	d.Rules = slices.DeleteFunc(d.Rules, func(r Rule) bool { return r.Name == name })
	if len(d.Rules) == n {
		return fmt.Errorf("delete rule: %w", ErrUnknownRule)
	}
	return nil
}

// Encode returns the YAML of d, without comments.
func (d *Document) Encode() []byte {
	var b strings.Builder
	b.WriteString("version: 1\n")
	list := func(indent, name string, list []Entry) {
		if len(list) == 0 {
			return
		}
		texts := make([]string, len(list))
		for i, e := range list {
			texts[i] = quote(e.Text)
		}
		fmt.Fprintf(&b, "%s%s: [%s]\n", indent, name, strings.Join(texts, ", "))
	}
	accounts := func(indent string, a *Accounts) {
		if a == nil || a.empty() && indent == "" {
			return
		}
		if a.empty() {
			fmt.Fprintf(&b, "%saccounts: {}\n", indent)
			return
		}
		fmt.Fprintf(&b, "%saccounts:\n", indent)
		list(indent+"  ", "full", a.Full)
		list(indent+"  ", "ciphertext", a.Ciphertext)
		list(indent+"  ", "blocked", a.Blocked)
	}
	list("", "admins", d.Admins)
	list("", "registrars", d.Registrars)
	accounts("", &d.Accounts)
	if len(d.Rules) == 0 {
		b.WriteString("rules: []\n")
		return []byte(b.String())
	}
	b.WriteString("rules:\n")
	for i := range d.Rules {
		r := &d.Rules[i]
		fmt.Fprintf(&b, "  - name: %s\n", quote(r.Name))
		if r.Description != "" {
			fmt.Fprintf(&b, "    description: %s\n", quote(r.Description))
		}
		if r.Disabled {
			b.WriteString("    enabled: false\n")
		}
		list("    ", "databases", r.Databases)
		list("    ", "tables", r.Tables)
		list("    ", "columns", r.Columns)
		if r.Inference.Text != "" {
			fmt.Fprintf(&b, "    inference: %s\n", quote(r.Inference.Text))
		}
		list("    ", "grants", r.Grants)
		accounts("    ", r.Accounts)
	}
	return []byte(b.String())
}

// quote returns s as a JSON string, which YAML reads as it is.
func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("policy: internal error: quote string: " + err.Error())
	}
	return string(text)
}
