package encdb

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// carry takes a statement of the client to the session, as a gate does.
func carry(t testing.TB, s *Session, sql []byte) ([]byte, Event) {
	t.Helper()
	st := Recognise(sql, false)
	if st.Kind != Message {
		t.Fatalf("statement recognised as %d (%s)", st.Kind, st.Reason)
	}
	return s.Handle(st.Args[0].Value)
}

// handshake lets client and session talk.
func handshake(t testing.TB, c *Client, s *Session) (Event, error) {
	t.Helper()
	info, ev := carry(t, s, c.Hello())
	sql, err := c.Provision(info)
	if err != nil {
		return ev, err
	}
	done, ev := carry(t, s, sql)
	return ev, c.Finish(done)
}

func newClient(t testing.TB, cfg ClientConfig) *Client {
	t.Helper()
	if cfg.MEK == nil {
		cfg.MEK = secretOf(t, unhex(t, testMEK))
	}
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func newSession(t testing.TB, cfg *Config) *Session {
	t.Helper()
	s := cfg.NewSession(Account{User: "app", Host: "10.0.0.1", TLS: true})
	t.Cleanup(s.Close)
	return s
}

// TestConversation lets both roles talk in every configuration they share.
func TestConversation(t *testing.T) {
	identity := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32))
	pin := IdentityPin(identity.Public().(ed25519.PublicKey))
	long := secretOf(t, unhex(t, testMEK+testMEK))
	for _, c := range []struct {
		name      string
		server    Config
		client    ClientConfig
		layout    byte
		algorithm Algorithm
	}{
		{"ours", Config{}, ClientConfig{}, Layout66, AES256GCM},
		{"ours, SM4", Config{}, ClientConfig{Algorithm: SM4GCM}, Layout66, SM4GCM},
		{"ours, pinned", Config{Identity: identity}, ClientConfig{Pin: pin}, Layout66, AES256GCM},
		{"ours, pinned, old layout", Config{Identity: identity, Only64: true}, ClientConfig{Pin: pin}, Layout64, AES128GCM},
		{"ours, RSA", Config{Suite: RSAGCM}, ClientConfig{}, Layout66, AES256GCM},
		{"ours, padded", Config{PadTo: 64}, ClientConfig{}, Layout66, AES256GCM},
		{"old client", Config{}, ClientConfig{Only64: true}, Layout64, AES128GCM},
		{"old client, weak wish", Config{}, ClientConfig{Only64: true, Algorithm: SM4CBC}, Layout64, SM4GCM},
		{"old client, weak wish, AES-256", Config{}, ClientConfig{Only64: true, Algorithm: AES256ECB}, Layout64, AES256GCM},
		{"old client, GCM suite", Config{Suite: SM2GCM}, ClientConfig{Only64: true}, Layout64, AES128GCM},
		{"old client, RSA", Config{Suite: RSACBC}, ClientConfig{Only64: true}, Layout64, AES128GCM},
		{"old client, long key", Config{}, ClientConfig{Only64: true, MEK: long}, Layout64, AES128GCM},
	} {
		client, session := newClient(t, c.client), newSession(t, &c.server)
		ev, err := handshake(t, client, session)
		if err != nil || ev.Err != nil || ev.Algorithm != c.algorithm {
			t.Errorf("%s: %v, %v, %v", c.name, err, ev.Err, ev.Algorithm)
			continue
		}
		if client.Layout() != c.layout || session.Layout() != c.layout || !session.Provisioned() {
			t.Errorf("%s: layouts %x and %x, want %x", c.name, client.Layout(), session.Layout(), c.layout)
		}
		sealer, err := session.Cells()
		if err != nil {
			t.Fatal(err)
		}
		opener, err := client.Opener()
		if err != nil {
			t.Fatal(err)
		}
		back, err := session.Opener()
		if err != nil {
			t.Fatal(err)
		}
		col := NewColumn("shop", "orders", "card", TypeVarString, false, 0)
		text, err := sealer.Append(nil, col, true, []byte("4111"))
		if err != nil {
			t.Fatal(err)
		}
		for role, o := range map[string]*Opener{"client": opener, "server": back} {
			if _, got, err := o.Open(nil, col, true, text); err != nil || string(got) != "4111" {
				t.Errorf("%s: %s opened %q, %v", c.name, role, got, err)
			}
		}
	}
}

// TestFirstOwnEnds has one of our own ends know no layout above the first, as
// the other asks for no more then.
func TestFirstOwnEnds(t *testing.T) {
	identity := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32))
	pin := IdentityPin(identity.Public().(ed25519.PublicKey))
	for _, most := range []string{"", `"most":65,`, `"most":64,`, `"most":255,`} {
		want := byte(Layout65)
		if most == `"most":255,` { // one to come
			want = Layout66
		}
		c, s := newClient(t, ClientConfig{Pin: pin}), newSession(t, &Config{Identity: identity})
		hello := bytes.Replace(c.Hello(), []byte(`"most":66,`), []byte(most), 1)
		if bytes.Equal(hello, c.Hello()) {
			t.Fatalf("the client does not say what it knows: %s", hello)
		}
		info, _ := carry(t, s, hello)
		sql, err := c.Provision(info)
		if err != nil {
			t.Fatal(err)
		}
		done, _ := carry(t, s, sql)
		if err := c.Finish(done); err != nil || c.Layout() != want || s.Layout() != want {
			t.Errorf("%s: %v, layouts %x and %x, want %x", most, err, c.Layout(), s.Layout(), want)
		}
	}
}

// TestMEKStaysWithOurClient looks into the envelope our own client sends.
func TestMEKStaysWithOurClient(t *testing.T) {
	client, session := newClient(t, ClientConfig{}), newSession(t, &Config{})
	if _, err := handshake(t, client, session); err != nil {
		t.Fatal(err)
	}
	if got := session.cells.key.Reveal(); bytes.Contains(got, unhex(t, testMEK)) || len(got) != sessionKeySize {
		t.Error("the session has the master key")
	}
}

func TestPin(t *testing.T) {
	identity := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32))
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32))
	pin := IdentityPin(identity.Public().(ed25519.PublicKey))
	pair, err := GenerateKeyPair(SM2CBC)
	if err != nil {
		t.Fatal(err)
	}
	static := Config{NewKeyPair: func() (*KeyPair, error) { return pair, nil }}
	for _, c := range []struct {
		name   string
		server Config
		client ClientConfig
		ok     bool
	}{
		{"right identity", Config{Identity: identity}, ClientConfig{Pin: pin}, true},
		{"another identity", Config{Identity: other}, ClientConfig{Pin: pin}, false},
		{"no identity", Config{}, ClientConfig{Pin: pin}, false},
		{"identity not asked for", Config{Identity: identity}, ClientConfig{Pin: pin, Only64: true}, false},
		{"right static key", static, ClientConfig{Pin: pair.Public().Hash()}, true},
		{"another static key", Config{}, ClientConfig{Pin: pair.Public().Hash()}, false},
	} {
		_, err := handshake(t, newClient(t, c.client), newSession(t, &c.server))
		if c.ok && err != nil || !c.ok && !errors.Is(err, ErrPin) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// A man in the middle puts his own key under the identity's name.
	client := newClient(t, ClientConfig{Pin: pin})
	real, fake := newSession(t, &Config{Identity: identity}), newSession(t, &Config{Identity: other})
	signed, _ := carry(t, real, client.Hello())
	forged, _ := carry(t, fake, client.Hello())
	var a, b infoBody
	if parseAnswer(signed, &a) != nil || parseAnswer(forged, &b) != nil {
		t.Fatal("no answers")
	}
	b.Info.Extension = a.Info.Extension
	if _, err := client.Provision(encodeAnswer(statusOK, encodeBody(b))); !errors.Is(err, ErrPin) {
		t.Errorf("another key under a right signature: %v", err)
	}
	// The same man takes the better layout away.
	a.Info.Extension.Layout = Layout64
	if _, err := client.Provision(encodeAnswer(statusOK, encodeBody(a))); !errors.Is(err, ErrPin) {
		t.Errorf("layout taken away: %v", err)
	}
	// A signature for another connection is played back.
	if _, err := newClient(t, ClientConfig{Pin: pin}).Provision(signed); !errors.Is(err, ErrPin) {
		t.Errorf("answer of another connection: %v", err)
	}
}

func TestRegistry(t *testing.T) {
	source := new(inMemory)
	r, err := OpenRegistry(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	admin := Account{User: "security", TLS: true}
	cfg := &Config{Registry: r, MayRegister: func(a Account) bool { return a.User == "security" }}
	mek := [3]*secret.Bytes{}
	for i := range mek {
		mek[i] = secretOf(t, bytes.Repeat([]byte{byte(i + 1)}, 16))
	}
	as := func(a Account, key int, only64 bool) (Event, error) {
		t.Helper()
		s := cfg.NewSession(a)
		defer s.Close()
		return handshake(t, newClient(t, ClientConfig{MEK: mek[key], Only64: only64}), s)
	}
	app := Account{User: "app", TLS: true}
	for _, only64 := range []bool{true, false} {
		if ev, err := as(app, 0, only64); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), uniformProblem) || ev.KeyID != 0 {
			t.Fatalf("an account nobody named registered a key: %v", err)
		}
	}
	if ev, err := as(admin, 0, true); err != nil || ev.KeyID != 1 || !ev.Registered {
		t.Fatalf("register: %v, key %d", err, ev.KeyID)
	}
	if ev, err := as(admin, 1, false); err != nil || ev.KeyID != 2 || !ev.Registered {
		t.Fatalf("register a second one without showing it: %v, key %d", err, ev.KeyID)
	}
	// Each key is known by both ways of handing it over.
	for key, want := range []uint32{1, 2} {
		for _, only64 := range []bool{true, false} {
			if ev, err := as(app, key, only64); err != nil || ev.KeyID != want || ev.Registered {
				t.Errorf("key %d only64=%v: %v, id %d, want %d", key, only64, err, ev.KeyID, want)
			}
		}
	}
	if _, err := as(app, 2, false); !errors.Is(err, ErrRefused) {
		t.Errorf("unknown key: %v", err)
	}
	if id, ok := r.Current(); !ok || id != 2 {
		t.Errorf("current key %d", id)
	}
	if err := r.Retire(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if err := r.Retire(t.Context(), 9); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("retire unknown key: %v", err)
	}
	if _, err := as(admin, 1, false); !errors.Is(err, ErrRefused) {
		t.Errorf("retired key came back: %v", err)
	}
	saved, _ := source.Read(t.Context())
	for i := range mek {
		if bytes.Contains(saved, mek[i].Reveal()) || strings.Contains(string(saved), base64.StdEncoding.EncodeToString(mek[i].Reveal())) {
			t.Error("the registry holds a master key")
		}
	}
	again, err := OpenRegistry(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Registry = again
	if ev, err := as(app, 0, false); err != nil || ev.KeyID != 1 {
		t.Errorf("after reopening: %v, key %d", err, ev.KeyID)
	}
	for _, bad := range []string{"", "{}", `{"format":"veildb.meks/1","salt":"AA==","keys":[]}`, `{"format":"veildb.meks/2"}`, strings.Replace(string(saved), `"id":2`, `"id":1`, 1)} {
		if _, err := OpenRegistry(t.Context(), heldState(bad)); !errors.Is(err, ErrRegistry) {
			t.Errorf("state %q: %v, want ErrRegistry", bad, err)
		}
	}
	failing, _ := OpenRegistry(t.Context(), nil)
	failing.source = readOnly{failing.source}
	cfg.Registry = failing
	if _, err := as(admin, 0, true); !errors.Is(err, ErrRefused) {
		t.Errorf("a key that cannot be saved was taken: %v", err)
	}
}

// TestStolenRegistry proves a session key with what the registry holds.
func TestStolenRegistry(t *testing.T) {
	r, _ := OpenRegistry(t.Context(), nil)
	verifier, err := verifierOf(unhex(t, testMEK), r.Salt())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.register(t.Context(), verifier); err != nil {
		t.Fatal(err)
	}
	session := newSession(t, &Config{Registry: r})
	client := newClient(t, ClientConfig{MEK: secretOf(t, bytes.Repeat([]byte{5}, 16))})
	info, _ := carry(t, session, client.Hello())
	sql, err := client.Provision(info)
	if err != nil {
		t.Fatal(err)
	}
	st := Recognise(sql, false)
	q, err := parseRequest(st.Args[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	q.Extension.Verifier = verifier
	if _, ev := carry(t, session, statement(&q)); ev.Err == nil || session.Provisioned() {
		t.Error("the verifier was enough")
	}
}

// TestUniformFailures wants one answer for every way in which a key is wrong,
// and the cause for the audit log.
func TestUniformFailures(t *testing.T) {
	change := map[string]func(*request){
		"no base64":        func(r *request) { r.Envelope = "?" },
		"empty":            func(r *request) { r.Envelope = "" },
		"one byte":         func(r *request) { r.Envelope = "AA==" },
		"length too large": func(r *request) { r.Envelope = alter(r.Envelope, 1, 0xff) },
		"wrapped key":      func(r *request) { r.Envelope = alter(r.Envelope, 60, 1) },
		"body":             func(r *request) { r.Envelope = alter(r.Envelope, -20, 1) },
		"padding":          func(r *request) { r.Envelope = alter(r.Envelope, -1, 1) },
		"cut":              func(r *request) { r.Envelope = r.Envelope[:len(r.Envelope)-24] },
		"another key hash": func(r *request) { r.PublicKeyHash = "x" },
		"huge":             func(r *request) { r.Envelope = strings.Repeat("A", 1<<17) },
	}
	for _, suite := range []Suite{SM2CBC, SM2GCM} {
		for name, f := range change {
			session := newSession(t, &Config{Suite: suite})
			client := newClient(t, ClientConfig{Only64: true})
			info, _ := carry(t, session, client.Hello())
			sql, err := client.Provision(info)
			if err != nil {
				t.Fatal(err)
			}
			st := Recognise(sql, false)
			r, err := parseRequest(st.Args[0].Value)
			if err != nil {
				t.Fatal(err)
			}
			f(&r)
			cell, ev := carry(t, session, statement(&r))
			if want := encodeAnswer(statusFailed, uniformProblem); !bytes.Equal(cell, want) {
				t.Errorf("%v, %s: answer %s", suite, name, cell)
			}
			if ev.Err == nil || session.Provisioned() {
				t.Errorf("%v, %s: taken", suite, name)
			}
		}
	}
	for name, body := range map[string]string{"no json": "x", "no key": "{}", "15 bytes": `{"mek":"AAECAwQFBgcICQoLDA0O"}`, "not base64": `{"mek":"*"}`} {
		session := newSession(t, &Config{})
		if _, ev := carry(t, session, newClient(t, ClientConfig{}).Hello()); ev.Err != nil {
			t.Fatal(ev.Err)
		}
		envelope, err := session.pair.pub.SealEnvelope([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		kind := reqProvision
		cell, _ := carry(t, session, statement(&request{Type: &kind, Envelope: base64.StdEncoding.EncodeToString(envelope), PublicKeyHash: session.pair.pub.Hash()}))
		if want := encodeAnswer(statusFailed, uniformProblem); !bytes.Equal(cell, want) {
			t.Errorf("%s: answer %s", name, cell)
		}
	}
}

// alter adds x to byte i, from the end if negative, of base64 text.
func alter(text string, i int, x byte) string {
	b, _ := base64.StdEncoding.DecodeString(text)
	if i < 0 {
		i += len(b)
	}
	b[i] ^= x
	return base64.StdEncoding.EncodeToString(b)
}

func TestAttempts(t *testing.T) {
	now := time.Unix(1e9, 0)
	r, _ := OpenRegistry(t.Context(), nil)
	mek := unhex(t, testMEK)
	v, _ := verifierOf(mek, r.Salt())
	if _, err := r.register(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	cfg := &Config{Registry: r, Limiter: NewLimiter(5, time.Minute), Now: func() time.Time { return now }}
	wrong := ClientConfig{MEK: secretOf(t, bytes.Repeat([]byte{5}, 16)), Only64: true}
	try := func(s *Session, cfg ClientConfig) error { _, err := handshake(t, newClient(t, cfg), s); return err }

	s := newSession(t, cfg)
	for range defaultFailures {
		if try(s, wrong) == nil {
			t.Fatal("wrong key taken")
		}
	}
	if try(s, ClientConfig{}) == nil {
		t.Error("right key taken after too many wrong ones")
	}
	s.ChangeUser(Account{User: "app", TLS: true})
	if try(s, ClientConfig{}) == nil {
		t.Error("changing the user forgot the failures")
	}
	for range 2 {
		if try(newSession(t, cfg), wrong) == nil {
			t.Fatal("wrong key taken")
		}
	}
	if try(newSession(t, cfg), ClientConfig{}) == nil {
		t.Error("the user's failures do not count over connections")
	}
	other := cfg.NewSession(Account{User: "other", TLS: true})
	defer other.Close()
	if err := try(other, ClientConfig{}); err != nil {
		t.Errorf("another user pays for them: %v", err)
	}
	now = now.Add(2 * time.Minute)
	if err := try(newSession(t, cfg), ClientConfig{}); err != nil {
		t.Errorf("after the window: %v", err)
	}
}

func TestLimiterIsBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := NewLimiter(1, time.Minute)
	for i := range 3 * maxUsers {
		l.failed(fmt.Sprint(i), now)
	}
	if len(l.users) > maxUsers+1 {
		t.Errorf("%d users kept", len(l.users))
	}
	if l.allowed("never seen", now) {
		t.Error("users beyond the limit are not counted")
	}
	l.failed("later", now.Add(2*time.Minute))
	if len(l.users) > 2 {
		t.Errorf("%d users kept after the window", len(l.users))
	}
}

func TestReplay(t *testing.T) {
	cfg := &Config{}
	client := newClient(t, ClientConfig{Only64: true})
	first := newSession(t, cfg)
	info, _ := carry(t, first, client.Hello())
	sql, err := client.Provision(info)
	if err != nil {
		t.Fatal(err)
	}
	second := newSession(t, cfg)
	carry(t, second, client.Hello())
	if _, ev := carry(t, second, sql); ev.Err == nil || second.Provisioned() {
		t.Error("an envelope recorded on another connection was taken")
	}
}

func TestChangeUser(t *testing.T) {
	client, s := newClient(t, ClientConfig{}), newSession(t, &Config{})
	if _, err := handshake(t, client, s); err != nil {
		t.Fatal(err)
	}
	id, cells := s.id, s.cells
	s.ChangeUser(Account{User: "other", TLS: true})
	if s.Provisioned() || s.id == id || s.pair != nil || s.Layout() != Layout64 {
		t.Error("state of the user before is still there")
	}
	if _, err := s.Opener(); !errors.Is(err, ErrNoKey) {
		t.Errorf("opener: %v", err)
	}
	if _, err := cells.Append(nil, NewColumn("", "", "", TypeString, false, 0), false, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("old sealer: %v", err)
	}
	got, err := s.Cells()
	if err != nil || !got.dummy {
		t.Errorf("cells without a key: %v", err)
	}
	s.Close()
	if _, err := s.Cells(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed session: %v", err)
	}
	if _, ev := s.Handle([]byte(`{"request_type":0}`)); !errors.Is(ev.Err, ErrClosed) {
		t.Errorf("closed session: %v", ev.Err)
	}
}

func TestClearConnection(t *testing.T) {
	for _, allow := range []bool{false, true} {
		s := (&Config{AllowClear: allow}).NewSession(Account{User: "app"})
		_, err := handshake(t, newClient(t, ClientConfig{}), s)
		s.Close()
		if allow && err != nil || !allow && !errors.Is(err, ErrRefused) {
			t.Errorf("AllowClear %v: %v", allow, err)
		}
	}
}

type fakeRules struct{ log []string }

func (f *fakeRules) Import(a Account, doc []byte) error {
	if a.User != "security" {
		return errors.New("check privilege failed")
	}
	f.log = append(f.log, "import "+string(doc))
	return nil
}

func (f *fakeRules) Delete(a Account, name string) error {
	f.log = append(f.log, "delete "+name)
	return nil
}

func TestRules(t *testing.T) {
	rules := &fakeRules{}
	s := (&Config{Rules: rules}).NewSession(Account{User: "security"})
	defer s.Close()
	good := func(ev Event) {
		t.Helper()
		if ev.Err != nil {
			t.Error(ev.Err)
		}
	}
	_, ev := s.Handle([]byte(`{"request_type":160,"enc_rule":"e30="}`))
	good(ev)
	_, ev = s.Handle([]byte(`{"request_type":161,"name":"r1"}`))
	good(ev)
	good(s.RuleOp("add", []byte("[]")))
	good(s.RuleOp("delete", []byte(`"r2"`)))
	if want := []string{"import {}", "delete r1", "import []", "delete r2"}; !slices.Equal(rules.log, want) {
		t.Errorf("got %q, want %q", rules.log, want)
	}
	s.ChangeUser(Account{User: "app"})
	cell, ev := s.Handle([]byte(`{"request_type":160,"enc_rule":"e30="}`))
	if want := encodeAnswer(statusFailed, "check privilege failed"); !bytes.Equal(cell, want) || ev.Err == nil {
		t.Errorf("answer %s", cell)
	}
	for _, bad := range []Event{s.RuleOp("drop", nil), s.RuleOp("delete", []byte("r1"))} {
		if bad.Err == nil {
			t.Error("taken")
		}
	}
	for _, text := range []string{"", "{}", "[]", `{"request_type":"0"}`, `{"request_type":1}`, `{"request_type":160,"enc_rule":"*"}`, `{"request_type":48}`} {
		if _, ev := s.Handle([]byte(text)); ev.Err == nil {
			t.Errorf("%s: taken", text)
		}
	}
}

func TestKMS(t *testing.T) {
	cfg := &Config{KMS: &KMS{Region: "r", KeyID: "k", EncMEK: "w"}}
	for version, want := range map[string]bool{
		"1.2.22": true, "1.2.22-SNAPSHOT": true, "1.3.0": true, "2.0.0": true,
		"1.2.21": false, "1.2.15": false, "1.2": false, "1.2.22.1": false, "": false, "1.2.x": false,
	} {
		s := cfg.NewSession(Account{})
		cell, _ := s.Handle([]byte(`{"request_type":0,"version":"` + version + `"}`))
		var body infoBody
		if err := parseAnswer(cell, &body); err != nil {
			t.Fatal(err)
		}
		if body.Info.KMSMode != want || (body.Info.KMSEncMEK == "w") != want {
			t.Errorf("version %q: KMS mode %v", version, body.Info.KMSMode)
		}
		s.Close()
	}
}

func TestMarked(t *testing.T) {
	c := newClient(t, ClientConfig{Only64: true})
	for version, want := range map[string]bool{"1.1.14": true, "1.1.13": false, "1.1.15": false} {
		c.version = version
		if c.Marked(true) != want || c.Marked(false) {
			t.Errorf("version %s: %v", version, c.Marked(true))
		}
	}
}

// TestClientRefuses plays bad answers to a client.
func TestClientRefuses(t *testing.T) {
	s := newSession(t, &Config{})
	info, _ := carry(t, s, newClient(t, ClientConfig{}).Hello())
	var body infoBody
	if err := parseAnswer(info, &body); err != nil {
		t.Fatal(err)
	}
	with := func(f func(*infoBody)) []byte {
		b := body
		f(&b)
		return encodeAnswer(statusOK, encodeBody(b))
	}
	for name, c := range map[string]struct {
		cell []byte
		want error
	}{
		"no base64":      {[]byte("*"), ErrMessage},
		"no status":      {[]byte(base64.StdEncoding.EncodeToString([]byte(`{"body":"{}"}`))), ErrMessage},
		"status as text": {[]byte(base64.StdEncoding.EncodeToString([]byte(`{"status":"0","body":"{}"}`))), ErrMessage},
		"failure":        {encodeAnswer(1, "no\nno"), ErrRefused},
		"unknown suite":  {with(func(b *infoBody) { b.Info.CipherSuite = "RSA_WITH_NULL" }), ErrUnsupported},
		"another suite":  {with(func(b *infoBody) { b.Info.CipherSuite = RSACBC.String() }), ErrUnsupported},
		"no key":         {with(func(b *infoBody) { b.Info.PublicKey = "" }), ErrUnsupported},
		"huge":           {bytes.Repeat([]byte("A"), maxAnswer+1), ErrMessage},
	} {
		client := newClient(t, ClientConfig{})
		if _, err := client.Provision(c.cell); !errors.Is(err, c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if _, err := client.Opener(); !errors.Is(err, ErrNoKey) {
			t.Errorf("%s: opener: %v", name, err)
		}
	}
	client := newClient(t, ClientConfig{})
	if _, err := client.Provision(info); err != nil {
		t.Fatal(err)
	}
	if err := client.Finish(encodeAnswer(statusOK, "{}")); !errors.Is(err, ErrMessage) {
		t.Errorf("fell back to the old layout: %v", err)
	}
	if _, err := NewClient(ClientConfig{MEK: secretOf(t, make([]byte, 15))}); !errors.Is(err, ErrNoKey) {
		t.Errorf("15 bytes: %v", err)
	}
}

// TestNothingLeaks prints every value and error of a run, and looks for the
// keys and plaintexts that were in it.
func TestNothingLeaks(t *testing.T) {
	const plain = "plaintext-4111-1111"
	mek := unhex(t, testMEK)
	var out strings.Builder
	say := func(v ...any) {
		for _, x := range v {
			fmt.Fprintf(&out, "%v %+v %s\n", x, x, x)
		}
	}
	cfg := &Config{}
	s, c := newSession(t, cfg), newClient(t, ClientConfig{Only64: true})
	info, ev := carry(t, s, c.Hello())
	say(ev)
	sql, err := c.Provision(info)
	say(err)
	done, ev := carry(t, s, sql)
	say(ev, c.Finish(done), s.pair, c.cfg)
	sealer, _ := s.Cells()
	opener, _ := c.Opener()
	col := NewColumn("d", "t", "c", TypeLong, false, 0)
	_, err = sealer.Append(nil, col, true, []byte(plain))
	say(err)
	text, err := sealer.Append(nil, NewColumn("d", "t", "c", TypeString, false, 0), true, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		bad := slices.Clone(text)
		bad[i] ^= 1
		_, _, err := opener.Open(nil, col, true, bad)
		say(err)
	}
	for _, typ := range []byte{TypeLong, TypeNewDecimal, TypeDate, TypeTime} {
		_, err := Restore(nil, NewColumn("", "", "", TypeLongLong, true, 0), true, typ, []byte(plain))
		say(err)
	}
	for i := range len(sql) {
		st := Recognise(append(slices.Clone(sql[:i]), plain...), false)
		say(st.Reason)
	}
	envelope, _ := s.pair.pub.SealEnvelope([]byte(`{"mek":"` + plain + `"}`))
	kind := reqProvision
	_, ev = carry(t, s, statement(&request{Type: &kind, Envelope: base64.StdEncoding.EncodeToString(envelope), PublicKeyHash: s.pair.pub.Hash(), Algorithm: "x"}))
	say(ev)
	_, ev = s.Handle([]byte(`{"request_type":"` + plain + `"}`))
	say(ev)
	dek, _ := s.pair.suite.Hash().derive(mek, sealer.nonce[:], "", 16)
	marshalled, _ := json.Marshal(c.cfg.MEK)
	say(string(marshalled))
	for name, secret := range map[string][]byte{"MEK": mek, "cell key": dek, "plaintext": []byte(plain)} {
		for _, form := range []string{string(secret), hex.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret), fmt.Sprint(secret)} {
			if strings.Contains(out.String(), form) {
				t.Errorf("%s leaks", name)
			}
		}
	}
}
