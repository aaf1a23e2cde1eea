package policy

import (
	"errors"
	"net/netip"
	"strings"
)

// An account is a compiled entry of a list of accounts.
type account struct {
	user string       // case counts; "*" stands for any characters
	host string       // lower case, with "%" and "_"; "" means any
	net  netip.Prefix // in place of host, if it is valid
}

// Ranks of an account that matches, from the least specific.
const (
	rankNone = iota
	rankUserPattern
	rankUser
	rankHostPattern
	rankExact
)

var errAccount = errors.New("an account is user or user@host")

// parseAccount reads user, user@host, or 'user'@'host'. The last "@" counts.
func parseAccount(text string) (a account, err error) {
	user, host, found := text, "", false
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		user, host, found = text[:i], text[i+1:], true
	}
	a.user = unquote(user)
	a.host = strings.ToLower(unquote(host))
	if a.user == "" || found && a.host == "" {
		return a, errAccount
	}
	if strings.Contains(a.user, "%") {
		return a, errors.New(`a user has "*" for any characters; "%" is for hosts`)
	}
	if strings.Contains(a.host, "*") {
		return a, errors.New(`a host has "%" for any characters; "*" is for users`)
	}
	if strings.Contains(a.host, "/") {
		if a.net, err = parseNetwork(a.host); err != nil {
			return a, err
		}
	} else if ip, err := netip.ParseAddr(a.host); err == nil {
		a.host = ip.Unmap().String()
	}
	if a.host == "%" {
		a.host = ""
	}
	return a, nil
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"' || s[0] == '`') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// parseNetwork reads address/bits or address/netmask.
func parseNetwork(s string) (netip.Prefix, error) {
	err := errors.New("a network is address/bits or address/netmask")
	if p, e := netip.ParsePrefix(s); e == nil {
		return p.Masked(), nil
	}
	addr, mask, _ := strings.Cut(s, "/")
	a, e1 := netip.ParseAddr(addr)
	m, e2 := netip.ParseAddr(mask)
	if e1 != nil || e2 != nil || !a.Is4() || !m.Is4() {
		return netip.Prefix{}, err
	}
	bits := 0
	for b := m.As4(); bits < 32 && b[bits/8]&(0x80>>(bits%8)) != 0; bits++ {
	}
	p := netip.PrefixFrom(a, bits).Masked()
	if ones := netip.PrefixFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), bits).Masked(); ones.Addr() != m {
		return netip.Prefix{}, err
	}
	return p, nil
}

// A client is who asks, ready to be matched.
type client struct {
	user string
	host string
	ip   netip.Addr
}

func newClient(user, host string) client {
	c := client{user: user, host: strings.ToLower(host)}
	if ip, err := netip.ParseAddr(host); err == nil {
		c.ip = ip.Unmap().WithZone("")
		c.host = c.ip.String()
	}
	return c
}

// local reports whether c is what MySQL calls localhost: a connection over a
// socket, which has no address, or from the machine itself.
func (c client) local() bool {
	return c.host == "" || c.host == "localhost" || c.ip.IsLoopback()
}

// rank says how specific a match of a and c is, rankNone if they do not match.
func (a account) rank(c client) int {
	exactUser := !strings.Contains(a.user, "*")
	if exactUser && a.user != c.user || !glob(a.user, c.user, '*', 0) {
		return rankNone
	}
	exactHost := false
	switch {
	case a.net.IsValid():
		if !c.ip.IsValid() || !a.net.Contains(c.ip) {
			return rankNone
		}
	case a.host == "":
		if exactUser {
			return rankUser
		}
	case a.host == "localhost":
		if !c.local() {
			return rankNone
		}
		exactHost = true
	case strings.ContainsAny(a.host, "%_"):
		if !glob(a.host, c.host, '%', '_') {
			return rankNone
		}
	case a.host != c.host:
		return rankNone
	default:
		exactHost = true
	}
	switch {
	case !exactUser:
		return rankUserPattern
	case exactHost:
		return rankExact
	}
	return rankHostPattern
}

// levels is a compiled Accounts: the entries of each level.
type levels [Full + 1][]account

// level returns what c gets: by the most specific entry, among equals the
// strictest, and without any Blocked.
func (l *levels) level(c client) Level {
	best, level := rankNone, Blocked
	for lv := Blocked; lv <= Full; lv++ { // strictest first
		for _, a := range l[lv] {
			if r := a.rank(c); r > best {
				best, level = r, lv
			}
		}
	}
	return level
}

// names reports whether an entry is of that user, from whatever host.
func (l *levels) names(user string) bool {
	for _, list := range l {
		for _, a := range list {
			if glob(a.user, user, '*', 0) {
				return true
			}
		}
	}
	return false
}

func anyAccount(list []account, c client) bool {
	for _, a := range list {
		if a.rank(c) != rankNone {
			return true
		}
	}
	return false
}

// compileAccounts compiles a list and notes what is wrong with it.
func (p *problems) compileAccounts(list []Entry, what string) (out []account) {
	for _, e := range list {
		a, err := parseAccount(e.Text)
		if err != nil {
			p.wrong(e.Line, "%s: %q: %v", what, e.Text, err)
			continue
		}
		out = append(out, a)
	}
	return out
}

func (p *problems) compileLevels(a *Accounts) (l levels) {
	l[Full] = p.compileAccounts(a.Full, "full")
	l[Ciphertext] = p.compileAccounts(a.Ciphertext, "ciphertext")
	l[Blocked] = p.compileAccounts(a.Blocked, "blocked")
	return l
}
