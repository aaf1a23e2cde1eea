package encdb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"
)

func FuzzOpen(f *testing.F) {
	v := loadVectors(f)
	for i := 0; i < len(v.Values); i += 5 {
		f.Add([]byte(v.Values[i].Wire), false)
	}
	c := NewColumn("d", "t", "c", TypeLong, true, 0)
	_, old := ends(f, Layout64, AES128GCM)
	old.weak = true
	openers := []*Opener{old}
	for _, layout := range []byte{Layout65, Layout66} {
		s, o := ends(f, layout, AES256GCM)
		seed, err := s.Append(nil, c, true, []byte{1, 2, 3, 4})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed, true)
		openers = append(openers, o)
	}
	f.Fuzz(func(t *testing.T, text []byte, bin bool) {
		for _, o := range openers {
			before := bytes.Clone(text)
			typ, plain, err := o.Open(nil, c, bin, text)
			if !bytes.Equal(text, before) {
				t.Error("the cell was changed")
			}
			if err != nil && plain != nil {
				t.Error("a plaintext beside an error")
			}
			if err == nil {
				_, _ = Restore(nil, c, bin, typ, plain)
			}
		}
	})
}

func FuzzParseCell(f *testing.F) {
	for _, v := range loadVectors(f).Values {
		b, _ := base64.StdEncoding.DecodeString(v.Wire)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseCell(b)
		if err == nil && c.layout != Layout65 && len(c.nonce)+len(c.body) >= len(b) {
			t.Errorf("parts of %d bytes are longer than the whole", len(b))
		}
	})
}

// FuzzRestore restores arbitrary plaintexts as arbitrary types, and every value
// that can be sealed to itself.
func FuzzRestore(f *testing.F) {
	for _, v := range values {
		f.Add(v.typ, v.typ, v.unsigned, v.decimals, true, []byte(v.binary))
		f.Add(v.typ, TypeVarString, v.unsigned, v.decimals, false, []byte(v.text))
	}
	f.Fuzz(func(t *testing.T, typ, colType byte, unsigned bool, decimals byte, bin bool, b []byte) {
		c := NewColumn("", "", "", colType, unsigned, decimals)
		_, _ = Restore(nil, c, bin, typ, b)
		wire, plain, err := PlainType(colType, unsigned, bin, b)
		if err != nil || bin && colType == TypeInt24 && unsigned && uintLE(b) >= 1<<24 {
			return // no value of the type
		}
		got, err := Restore(nil, c, bin, wire, plain)
		if err != nil || !bytes.Equal(got, b) {
			t.Errorf("type %d unsigned=%v bin=%v: %x came back as %x, %v", colType, unsigned, bin, b, got, err)
		}
	})
}

func FuzzEnvelope(f *testing.F) {
	v := loadVectors(f)
	pair := v.keyPair(f, "SM2_WITH_SM4_128_GCM_SM3")
	for _, e := range append(v.Envelopes, v.Nonstandard...) {
		f.Add(unhex(f, e.Envelope))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := pair.Open(b); err != nil && err != ErrEnvelope {
			t.Errorf("another error: %v", err)
		}
	})
}

func FuzzHandle(f *testing.F) {
	f.Add([]byte(`{"request_type":0,"version":"1.2.15","veildb":{"layout":65,"nonce":"AAAAAAAAAAAAAAAAAAAAAA=="}}`))
	f.Add([]byte(`{"request_type":48,"envelope":"AAA=","algorithm":"SM4_128_CBC"}`))
	f.Add([]byte(`{"request_type":48,"veildb":{"layout":65,"verifier":"AA==","proof":"AA=="}}`))
	f.Add([]byte(`{"request_type":160,"enc_rule":"e30="}`))
	cfg := &Config{Rules: &fakeRules{}}
	pair, err := GenerateKeyPair(SM2CBC)
	if err != nil {
		f.Fatal(err)
	}
	cfg.NewKeyPair = func() (*KeyPair, error) { return pair, nil }
	f.Fuzz(func(t *testing.T, b []byte) {
		s := cfg.NewSession(Account{TLS: true})
		defer s.Close()
		s.pair = pair
		cell, _ := s.Handle(b)
		var a answer
		text, err := base64.StdEncoding.DecodeString(string(cell))
		if err != nil || json.Unmarshal(text, &a) != nil || a.Status == nil {
			t.Errorf("answer %s", cell)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	s := (&Config{}).NewSession(Account{TLS: true})
	info, _ := s.Handle([]byte(`{"request_type":0}`))
	f.Add(info)
	f.Add(encodeAnswer(0, "{}"))
	key := secretOf(f, unhex(f, testMEK))
	f.Fuzz(func(t *testing.T, cell []byte) {
		c, err := NewClient(ClientConfig{MEK: key})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Provision(cell); err == nil {
			_ = c.Finish(cell)
		}
	})
}

func FuzzRecognise(f *testing.F) {
	f.Add([]byte(`/*encoding_key*/SELECT encdb_process_message('{"request_type":0}')`), false)
	f.Add([]byte("SELECT encdb_rule_op('a' 'b', x'00') `c`;"), true)
	f.Add([]byte("SHOW STATUS WHERE variable_name = 'Polar_role'"), false)
	f.Add([]byte("SET a=`b, mek=1"), false)
	f.Fuzz(func(t *testing.T, sql []byte, noBackslash bool) {
		start := time.Now()
		st := Recognise(sql, noBackslash)
		if (st.Kind == Message) != (len(st.Args) == 1) || (st.Kind == RuleOp) != (len(st.Args) == 2) {
			t.Errorf("kind %d with %d arguments", st.Kind, len(st.Args))
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%d bytes took %v", len(sql), d)
		}
	})
}

func FuzzRegistry(f *testing.F) {
	f.Add(NewRegistryState())
	source := new(inMemory)
	r, err := OpenRegistry(f.Context(), source)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := r.register(f.Context(), make([]byte, 32)); err != nil {
		f.Fatal(err)
	}
	f.Add(*source.state.Load())
	f.Fuzz(func(t *testing.T, state []byte) {
		if r, err := OpenRegistry(t.Context(), heldState(state)); err == nil {
			if _, err := r.register(t.Context(), bytes.Repeat([]byte{1}, 32)); err != nil {
				t.Error(err)
			}
		}
	})
}
