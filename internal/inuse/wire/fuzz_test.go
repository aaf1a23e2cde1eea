package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

var someCaps = []Capabilities{0, DeprecateEOF | SessionTrack | MariaDBExtendedMetadata | QueryAttributes, Protocol41 | SecureConnection | PluginAuth | ConnectAttrs | ConnectWithDB, MariaDBCacheMetadata, MariaDBCacheMetadata | DeprecateEOF}

// FuzzDecode gives every decoder of a whole packet the same bytes. What decodes
// must, built and decoded again, build the same.
func FuzzDecode(f *testing.F) {
	col := Column{Schema: []byte("s"), Name: []byte("n"), Type: TypeLong}
	login := LoginRequest{Capabilities: 0xff_ffff, User: "u", Auth: []byte("a"), Database: "d", AuthPlugin: PluginNative, Attrs: AppendAttr(nil, "a", "b")}
	for _, seed := range [][]byte{
		nil, {0}, {0xfe}, {0xff}, (&Greeting{ServerVersion: "8", Scramble: []byte("12345678901234567890"), Capabilities: 0xffffffff, AuthPlugin: "p"}).Append(nil),
		login.Append(nil), OK{Status: StatusSessionChanged, State: []byte("\x01\x03\x02db")}.Append(nil, SessionTrack), EOF{}.Append(nil),
		Err{1, []byte("HY000"), []byte("m")}.Append(nil), col.Append(nil, 0), col.Append(nil, MariaDBExtendedMetadata), Prepared{1, 2, 3, 4}.Append(nil),
		AuthSwitch{[]byte("p"), []byte("d")}.Append(nil), AppendQuery(nil, nil, []byte("SELECT 1"), QueryAttributes), SSLRequest{}.Append(nil),
		(&ChangeUser{User: "u", Attrs: AppendAttr(nil, "a", "b")}).Append(nil, someCaps[2]),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		p = p[:len(p):len(p)]
		keep := bytes.Clone(p)
		for _, caps := range someCaps {
			fixed(t, "greeting", p, func(p []byte) ([]byte, error) {
				g, err := DecodeGreeting(p)
				if err != nil || !g.Capabilities.Has(SecureConnection) || len(g.Scramble) > 254 {
					return nil, ErrMalformed
				}
				return g.Append(nil), nil
			})
			fixed(t, "login request", p, func(p []byte) ([]byte, error) {
				r, err := DecodeLoginRequest(p)
				if err != nil {
					return nil, err
				}
				EachAttr(r.Attrs, func(_, _ []byte) {})
				return r.Append(nil), nil
			})
			fixed(t, "TLS request", p, func(p []byte) ([]byte, error) {
				r, err := DecodeSSLRequest(p)
				return r.Append(nil), err
			})
			fixed(t, "change user", p, func(p []byte) ([]byte, error) {
				u, err := DecodeChangeUser(p, caps)
				if err != nil {
					return nil, err
				}
				return u.Append(nil, caps), nil
			})
			fixed(t, "OK", p, func(p []byte) ([]byte, error) {
				ok, err := DecodeOK(p, caps)
				EachChange(ok.State, func(Change) {})
				return ok.Append(nil, caps), err
			})
			fixed(t, "error", p, func(p []byte) ([]byte, error) {
				e, err := DecodeErr(p)
				return e.Append(nil), err
			})
			fixed(t, "EOF", p, func(p []byte) ([]byte, error) {
				e, err := DecodeEOF(p)
				return e.Append(nil), err
			})
			fixed(t, "column", p, func(p []byte) ([]byte, error) {
				var c Column
				err := c.Decode(p, caps)
				c.EachExtended(func(byte, []byte) {})
				return c.Append(nil, caps), err
			})
			fixed(t, "prepared", p, func(p []byte) ([]byte, error) {
				s, err := DecodePrepared(p)
				return s.Append(nil), err
			})
			fixed(t, "switch", p, func(p []byte) ([]byte, error) {
				a, err := DecodeAuthSwitch(p)
				return a.Append(nil), err
			})
			fixed(t, "query", p, func(p []byte) ([]byte, error) {
				q, err := DecodeQuery(p, caps)
				return AppendQuery(nil, q.Attrs, q.SQL, caps), err
			})
		}
		DecodeBare(p)
		DecodeInitDB(p)
		DecodeSetOption(p)
		DecodeProcessKill(p)
		DecodeFieldList(p)
		DecodeStmtPrepare(p)
		DecodeStmtFetch(p)
		DecodeStmtLongData(p)
		DecodeInfile(p)
		DecodeAuthMore(p)
		decodeKey(p)
		StmtID(p)
		if !bytes.Equal(p, keep) {
			t.Fatal("decoding changed the packet")
		}
	})
}

// fixed checks that rebuild, applied to what it gives, gives it again.
func fixed(t *testing.T, what string, p []byte, rebuild func([]byte) ([]byte, error)) {
	t.Helper()
	once, err := rebuild(p)
	if err != nil {
		return
	}
	if twice, err := rebuild(once); err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("%s: %x\nonce  %x\ntwice %x, %v", what, p, once, twice, err)
	}
}

func FuzzExecute(f *testing.F) {
	e := Execute{ID: 1, Iterations: 1, NewTypes: true, Params: []Param{{ParamType: ParamType{TypeLong, true}, Value: []byte("1234")}, {Null: true}}}
	f.Add(e.Append(nil, 0), 2, uint8(0))
	e.Flags = ParamCountSent
	f.Add(e.Append(nil, QueryAttributes), 1, uint8(1))
	f.Fuzz(func(t *testing.T, p []byte, n int, c uint8) {
		caps := someCaps[int(c)%len(someCaps)]
		types := make([]ParamType, max(0, min(n, 100)))
		fixed(t, "execute", p, func(p []byte) ([]byte, error) {
			var e Execute
			err := e.Decode(p, n, types, func(i int) bool { return i == 3 }, caps)
			if len(e.Params) > maxParams {
				t.Fatal("too many parameters")
			}
			if err == nil && e.NewTypes && !caps.Has(QueryAttributes) {
				given := ParamTypes(nil, p, n, caps)
				if len(given) != len(e.Params) {
					t.Fatalf("%d types of %d parameters", len(given), len(e.Params))
				}
				for i, typ := range given {
					if typ != e.Params[i].Type {
						t.Fatalf("parameter %d is a %d and a %d", i, typ, e.Params[i].Type)
					}
				}
			}
			return e.Append(nil, caps), err
		})
	})
}

func FuzzTextRow(f *testing.F) {
	f.Add(AppendTextRow(nil, []byte("a"), nil, bytes.Repeat([]byte("b"), 300)), 3)
	f.Fuzz(func(t *testing.T, row []byte, n int) {
		fields, err := DecodeTextRow(row, min(max(n, 0), 1000), nil)
		checkRow(t, row, fields, err)
	})
}

func FuzzBinaryRow(f *testing.F) {
	f.Add(AppendBinaryRow(nil, []Type{TypeLong, TypeDate, TypeBlob, TypeTiny}, []byte("1234"), []byte{1, 2, 3, 4}, []byte("x"), nil), []byte{3, 10, 252, 1})
	f.Fuzz(func(t *testing.T, row, kinds []byte) {
		types := make([]Type, min(len(kinds), 1000))
		for i := range types {
			types[i] = Type(kinds[i])
		}
		fields, err := DecodeBinaryRow(row, types, nil)
		checkRow(t, row, fields, err)
	})
}

// checkRow checks that fields are in order and, replaced by themselves, give a
// row with the same values.
func checkRow(t *testing.T, row []byte, fields []Field, err error) {
	if err != nil {
		if !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
		return
	}
	at := uint32(0)
	var all []int
	for i, f := range fields {
		if f.Start < at || f.Data < f.Start || f.End < f.Data || int(f.End) > len(row) || (f.Value(row) == nil) != f.Null {
			t.Fatalf("field %d of %x: %+v after %d", i, row, f, at)
		}
		at = f.End
		all = append(all, i)
	}
	if int(at) != len(row) && len(fields) > 0 {
		t.Fatalf("fields of %x end at %d", row, at)
	}
	if _, err := ReplaceFields(nil, row, fields, all, func(dst []byte, _ int, v []byte) ([]byte, error) { return append(dst, v...), nil }); err != nil {
		t.Fatal(err)
	}
}

// FuzzResponse walks whatever a backend sends as the answer to a command. It
// must end, and never read more than came.
func FuzzResponse(f *testing.F) {
	f.Add(rows(2, 10), byte(ComQuery), uint8(0), uint8(3))
	f.Add(append(frame(1, Prepared{1, 1, 1, 0}.Append(nil)), frame(2, []byte{3})...), byte(ComStmtPrepare), uint8(1), uint8(0))
	f.Add(frame(1, []byte{0xfb, 'x'}), byte(ComQuery), uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, cmd byte, c, step uint8) {
		caps := someCaps[int(c)%len(someCaps)]
		server := NewBackend(&feed{data: data, step: int(step)}, Limits{Load: 1 << 20, Buffer: 1024})
		client := NewConn(&discard{feed{data: frame(0, []byte("file")), step: 1}}, Limits{})
		server.seq, client.seq = 1, 0
		var r Response
		r.Start(Command(cmd), caps)
		for n := 0; !r.Done(); n++ {
			kind, err := r.Next(server)
			if err == nil {
				if r.Columns > MaxColumns || n > len(data) {
					t.Fatalf("%d columns, %d packets of %d bytes", r.Columns, n, len(data))
				}
				if kind == KindRow && step%2 == 0 {
					_, err = server.Load()
				}
			}
			if err == nil {
				err = server.CopyTo(client)
			}
			if err == nil && kind == KindInfile {
				_, err = RelayInfile(client, server)
			}
			if err != nil {
				for _, known := range []error{ErrMalformed, ErrTooLarge, ErrOutOfOrder, ErrUnsupported, io.EOF, io.ErrUnexpectedEOF} {
					if errors.Is(err, known) {
						return
					}
				}
				t.Fatal(err)
			}
		}
	})
}

// FuzzRelayLogin gives a login whatever a client and a backend may send. It must
// end in an error packet or an OK for the client, and whatever the client's
// first packet says under a plugin that sends passwords, the server must not
// get it.
func FuzzRelayLogin(f *testing.F) {
	greeting := (&Greeting{ServerVersion: "8", Scramble: []byte("12345678901234567890"), Capabilities: 0xffff_ffff, AuthPlugin: PluginCaching}).Append(nil)
	request := func(plugin, auth string) []byte {
		r := LoginRequest{Capabilities: Protocol41 | SecureConnection | PluginAuth, User: "u", Auth: []byte(auth), AuthPlugin: plugin}
		return r.Append(nil)
	}
	ok := OK{}.Append(nil, 0)
	packets := func(seq byte, ps ...[]byte) (b []byte) {
		for _, p := range ps {
			b = append(b, frame(seq, p)...)
			seq += 2
		}
		return b
	}
	f.Add(packets(1, request(PluginCaching, "answer"), []byte{2}, []byte("encrypted")),
		packets(0, greeting, []byte{1, 4}, []byte("\x01-----BEGIN PUBLIC KEY-----"), ok), false)
	f.Add(packets(1, request("mysql_clear_password", "secret password"), []byte("answer")),
		packets(0, greeting, AuthSwitch{[]byte(PluginNative), []byte("12345678901234567890")}.Append(nil), ok), false)
	f.Add(packets(1, request(PluginNative, "answer")), packets(0, greeting, ok), true)
	f.Fuzz(func(t *testing.T, fromClient, fromServer []byte, change bool) {
		cf, sf := &feed{data: fromClient}, &feed{data: fromServer}
		client, server := NewConn(cf, Limits{}), NewBackend(sf, Limits{})
		cfg := &LoginConfig{Passwords: PasswordPolicy{FetchServerKey: true}}
		s, err := RelayLogin(t.Context(), client, server, cfg)
		if change && err == nil {
			client.Caps, server.Caps = someCaps[2], someCaps[2]
			client.ResetSequence()
			p, rerr := client.ReadCommand(0)
			if rerr != nil {
				return
			}
			s, err = RelayChangeUser(t.Context(), bytes.Clone(p), client, server, s, cfg)
		}
		if (s == nil) == (err == nil) {
			t.Fatalf("session %v, error %v", s, err)
		}
		if client.out != nil {
			t.Fatal("the client was not told all")
		}
		first := NewConn(&feed{data: append([]byte{0, 0, 0, 0}, fromClient...)}, Limits{})
		first.Next()
		p, rerr := first.ReadPacket()
		if rerr != nil {
			return
		}
		r, rerr := DecodeLoginRequest(p)
		if rerr != nil || r.AuthPlugin == "" || challenged(r.AuthPlugin) || len(r.Auth) < 8 || bytes.Count(fromClient, r.Auth) > 1 {
			return
		}
		if bytes.Contains(sf.out.Bytes(), r.Auth) {
			t.Fatalf("the server got what a client says under %s", r.AuthPlugin)
		}
	})
}
