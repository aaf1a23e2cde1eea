package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGreeting decodes a greeting of MariaDB 10.11, as sent, and builds it again.
func TestGreeting(t *testing.T) {
	p := unhex(t, "0a 352e352e352d31302e31312e392d4d61726961444200 11000000 6162636465666768 00 fef7 2d 0200 ff81 15 000000000000 1d000000 696a6b6c6d6e6f707172737400 6d7973716c5f6e61746976655f70617373776f726400")
	g, err := DecodeGreeting(p)
	if err != nil {
		t.Fatal(err)
	}
	want := &Greeting{ServerVersion: "5.5.5-10.11.9-MariaDB", ConnectionID: 17, Scramble: []byte("abcdefghijklmnopqrst"),
		Capabilities: 0x1d_81ff_f7fe, Charset: 45, Status: StatusAutocommit, AuthPlugin: PluginNative}
	if !reflect.DeepEqual(g, want) {
		t.Errorf("got %+v\nwant %+v", g, want)
	}
	if got := g.Append(nil); !bytes.Equal(got, p) {
		t.Errorf("built %x\nwant  %x", got, p)
	}
}

func TestLoginRequest(t *testing.T) {
	base := LongPassword | Protocol41 | SecureConnection
	for _, tc := range []struct {
		name string
		r    LoginRequest
	}{
		{"least", LoginRequest{Capabilities: base, User: "u", Auth: []byte("12345678901234567890")}},
		{"all", LoginRequest{Capabilities: base | ConnectWithDB | PluginAuth | PluginAuthLenenc | ConnectAttrs | CompressZstd, MaxPacket: 1 << 24, Charset: 255,
			User: "user", Auth: bytes.Repeat([]byte{7}, 300), Database: "db", AuthPlugin: PluginCaching, Attrs: AppendAttr(nil, "a", "b"), ZstdLevel: 3}},
		{"MariaDB", LoginRequest{Capabilities: base&^LongPassword | PluginAuth | MariaDBExtendedMetadata, Charset: 45, Auth: []byte{}, AuthPlugin: PluginEd25519}},
		{"before secure connection", LoginRequest{Capabilities: Protocol41, User: "u", Auth: []byte("12345678")}},
	} {
		p := tc.r.Append(nil)
		got, err := DecodeLoginRequest(p)
		if err != nil || !reflect.DeepEqual(*got, tc.r) {
			t.Errorf("%s: got %+v, %v\nwant %+v", tc.name, got, err, tc.r)
		}
		if IsSSLRequest(p) {
			t.Errorf("%s: taken for a TLS request", tc.name)
		}
		req := SSLRequest{tc.r.Capabilities | SSL, tc.r.MaxPacket, tc.r.Charset}
		if p := req.Append(nil); !IsSSLRequest(p) {
			t.Errorf("%s: TLS request not seen as one", tc.name)
		} else if back, err := DecodeSSLRequest(p); err != nil || back != req {
			t.Errorf("%s: TLS request %+v, %v; want %+v", tc.name, back, err, req)
		}
	}
	if _, err := DecodeLoginRequest([]byte{0x85, 0xa0, 0, 0, 0, 'u', 0}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("old protocol: %v", err)
	}
}

func TestCapabilities(t *testing.T) {
	server := Capabilities(0x1d_81ff_f7fe) | Compress | SSL
	for _, tc := range []struct {
		name         string
		client       Capabilities
		ssl          bool
		offer, agree Capabilities
	}{
		{"MariaDB client", ^Capabilities(0) &^ LongPassword, true, server&Relayable | SSL,
			server&Relayable | clientOnly&^LongPassword},
		{"MySQL client", 0xffff_ffff, false, server & Relayable, server&Relayable&0xffff_ffff | clientOnly},
		{"little", Protocol41 | SecureConnection, false, server & Relayable, Protocol41 | SecureConnection},
	} {
		offer := Offer(server, Relayable, tc.ssl)
		if agree := Agree(tc.client, offer); offer != tc.offer || agree != tc.agree {
			t.Errorf("%s: offer %x, agree %x; want %x, %x", tc.name, uint64(offer), uint64(agree), uint64(tc.offer), uint64(tc.agree))
		}
	}
	for _, blind := range []Capabilities{Compress, CompressZstd, OptionalMetadata, QueryAttributes, MariaDBProgress, MariaDBBulk, MariaDBComMulti, MultiFactorAuth, 1 << 50} {
		if Relayable&blind != 0 {
			t.Errorf("%x is let through", uint64(blind))
		}
	}
}

// TestColumnMark decodes the vector of a column definition whose last filler
// byte marks it, and builds it again.
func TestColumnMark(t *testing.T) {
	plain := unhex(t, "03646566047465737401740174016101610c2d0000040000fd0000000000")
	marked := unhex(t, "03646566047465737401740174016101610c2d0000040000fd0000000080")
	var c Column
	if err := c.Decode(plain, 0); err != nil {
		t.Fatal(err)
	}
	want := Column{Catalog: []byte("def"), Schema: []byte("test"), Table: []byte("t"), OrgTable: []byte("t"), Name: []byte("a"), OrgName: []byte("a"),
		Charset: 45, Length: 1024, Type: TypeVarString, Default: []byte{}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
	c.Filler[1] = 0x80
	if got := c.Append(nil, 0); !bytes.Equal(got, marked) {
		t.Errorf("built %x\nwant  %x", got, marked)
	}
	own := c.Clone()
	clear(plain)
	if string(own.Schema) != "test" || string(own.OrgName) != "a" {
		t.Errorf("clone changed with the packet: %+v", own)
	}
}

func TestColumnExtended(t *testing.T) {
	c := Column{Name: []byte("g"), Extended: []byte("\x00\x05point\x01\x04json")}
	var back Column
	if err := back.Decode(c.Append(nil, MariaDBExtendedMetadata), MariaDBExtendedMetadata); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := back.EachExtended(func(kind byte, v []byte) { got = append(got, string('0'+kind)+string(v)) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"0point", "1json"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestVectorRows replaces values as the published cells do.
func TestVectorRows(t *testing.T) {
	const cell = "cUAADAKChogqoKpaans"
	for _, tc := range []struct {
		name  string
		row   []byte
		types []Type // nil: text
		cols  []int
		want  string
	}{
		{"text", AppendTextRow(nil, []byte("v")), nil, []int{0}, "13" + hex.EncodeToString([]byte(cell))},
		{"text NULL", AppendTextRow(nil, nil, []byte("v")), nil, []int{0, 1}, "fb13" + hex.EncodeToString([]byte(cell))},
		{"text, last stays", AppendTextRow(nil, []byte("v"), []byte("w")), nil, []int{0}, "13" + hex.EncodeToString([]byte(cell)) + "0177"},
		{"text, first stays", AppendTextRow(nil, []byte("v"), []byte("w")), nil, []int{1}, "0176" + "13" + hex.EncodeToString([]byte(cell))},
		{"text, none", AppendTextRow(nil, []byte("v")), nil, nil, "0176"},
		{"binary", AppendBinaryRow(nil, []Type{TypeLong}, []byte{1, 2, 3, 4}), []Type{TypeLong}, []int{0}, "000013" + hex.EncodeToString([]byte(cell))},
		{"binary NULL and date", AppendBinaryRow(nil, []Type{TypeLong, TypeDate, TypeTiny}, nil, []byte{0xe8, 7, 2, 29}, []byte{5}), []Type{TypeLong, TypeDate, TypeTiny}, []int{0, 1},
			"000413" + hex.EncodeToString([]byte(cell)) + "05"},
	} {
		var fields []Field
		var err error
		if tc.types == nil {
			fields, err = DecodeTextRow(tc.row, bytes.Count(tc.row, []byte("v"))+bytes.Count(tc.row, []byte("w"))+bytes.Count(tc.row, []byte{0xfb}), nil)
		} else {
			fields, err = DecodeBinaryRow(tc.row, tc.types, nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		got, err := ReplaceFields(nil, tc.row, fields, tc.cols, func(dst []byte, _ int, v []byte) ([]byte, error) {
			if v == nil {
				t.Errorf("%s: NULL was replaced", tc.name)
			}
			return append(dst, cell...), nil
		})
		if err != nil || hex.EncodeToString(got) != tc.want {
			t.Errorf("%s: got %x, %v\nwant %s", tc.name, got, err, tc.want)
		}
	}
}

// TestReplacedLengths: the length before a replaced value takes 1, 3, 4 or 9
// bytes.
func TestReplacedLengths(t *testing.T) {
	row := AppendTextRow(nil, []byte("a"), []byte("b"), []byte("c"))
	fields, err := DecodeTextRow(row, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 250, 251, 65535, 65536, 1<<24 - 1, 1 << 24} {
		v := bytes.Repeat([]byte{'v'}, size)
		got, err := ReplaceFields([]byte("before"), row, fields, []int{1}, func(dst []byte, _ int, _ []byte) ([]byte, error) {
			return append(dst, v...), nil
		})
		if want := append([]byte("before"), AppendTextRow(nil, []byte("a"), v, []byte("c"))...); err != nil || !bytes.Equal(got, want) {
			t.Errorf("size %d: %d bytes, want %d", size, len(got), len(want))
		}
	}
	no := errors.New("no")
	if _, err := ReplaceFields(nil, row, fields, []int{1}, func(dst []byte, _ int, _ []byte) ([]byte, error) { return dst, no }); !errors.Is(err, no) {
		t.Errorf("error of a cell: %v", err)
	}
}

func TestMalformedRows(t *testing.T) {
	for _, tc := range []struct {
		name string
		row  []byte
		n    int
	}{
		{"too few values", []byte{1, 'a'}, 2}, {"too many values", []byte{1, 'a', 1, 'b'}, 1}, {"empty", nil, 1},
		{"short value", []byte{3, 'a'}, 1}, {"short length", []byte{0xfc, 1}, 1}, {"length near 2^64", []byte{0xfe, 255, 255, 255, 255, 255, 255, 255, 255}, 1},
		{"length 2^32", []byte{0xfe, 0, 0, 0, 0, 1, 0, 0, 0, 'a'}, 1}, {"error header", []byte{0xff}, 1},
	} {
		if _, err := DecodeTextRow(tc.row, tc.n, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("text, %s: %v", tc.name, err)
		}
	}
	for _, tc := range []struct {
		name  string
		row   []byte
		types []Type
	}{
		{"empty", nil, []Type{TypeTiny}}, {"no bitmap", []byte{0}, []Type{TypeTiny}}, {"wrong header", []byte{1, 0, 5}, []Type{TypeTiny}},
		{"short integer", []byte{0, 0, 1, 2, 3}, []Type{TypeLong}}, {"rest", []byte{0, 0, 1, 2}, []Type{TypeTiny}},
		{"short date", []byte{0, 0, 4, 1}, []Type{TypeDate}}, {"unknown type", []byte{0, 0, 1, 2}, []Type{200}},
	} {
		if _, err := DecodeBinaryRow(tc.row, tc.types, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("binary, %s: %v", tc.name, err)
		}
	}
}

func TestExecute(t *testing.T) {
	tiny, str := ParamType{TypeTiny, true}, ParamType{TypeVarString, false}
	for _, tc := range []struct {
		name string
		e    Execute
		caps Capabilities
	}{
		{"no parameters", Execute{ID: 1, Iterations: 1, Params: []Param{}}, 0},
		{"kinds", Execute{ID: 7, Flags: CursorReadOnly, Iterations: 1, NewTypes: true, Params: []Param{
			{ParamType: tiny, Value: []byte{255}}, {ParamType: str, Value: []byte("abc")}, {ParamType: str, Null: true}, {ParamType: str, Long: true},
			{ParamType: ParamType{TypeDateTime, false}, Value: []byte{0xe8, 7, 2, 29}}, {ParamType: ParamType{TypeDouble, false}, Value: []byte("12345678")}}}, 0},
		{"old types", Execute{ID: LastPrepared, Iterations: 1, Params: []Param{{ParamType: tiny, Value: []byte{1}}, {ParamType: str, Value: []byte{}}}}, 0},
		{"names", Execute{ID: 7, Flags: ParamCountSent, Iterations: 1, NewTypes: true, Params: []Param{
			{ParamType: tiny, Name: []byte{}, Value: []byte{1}}, {ParamType: str, Name: []byte("trace"), Value: []byte("x")}}}, QueryAttributes},
	} {
		p := tc.e.Append(nil, tc.caps)
		var types []ParamType
		for _, pa := range tc.e.Params {
			types = append(types, pa.ParamType)
		}
		n := len(tc.e.Params)
		if tc.caps != 0 {
			n = 1 // the other is an attribute
		}
		var got Execute
		err := got.Decode(p, n, types, func(i int) bool { return tc.e.Params[i].Long }, tc.caps)
		if err != nil || !reflect.DeepEqual(got, tc.e) && n > 0 {
			t.Errorf("%s: got %+v, %v\nwant %+v", tc.name, got, err, tc.e)
		}
		for i := range p {
			if err := got.Decode(p[:i], n, types, nil, tc.caps); err == nil {
				t.Errorf("%s: %d of %d bytes decode", tc.name, i, len(p))
			}
		}
	}
}

func TestQuery(t *testing.T) {
	p := unhex(t, "03 02 01 00 01 fe00 0161 fe00 0162 0178 0179 53454c4543542031")
	for _, tc := range []struct {
		name string
		p    []byte
		caps Capabilities
		sql  string
	}{
		{"plain", []byte("\x03SELECT 1"), 0, "SELECT 1"},
		{"no attributes", []byte("\x03\x00\x01SELECT 1"), QueryAttributes, "SELECT 1"},
		{"two attributes", p, QueryAttributes, "SELECT 1"},
		{"empty", []byte("\x03"), 0, ""},
	} {
		q, err := DecodeQuery(tc.p, tc.caps)
		if err != nil || string(q.SQL) != tc.sql {
			t.Errorf("%s: got %q, %v", tc.name, q.SQL, err)
		}
		if got := AppendQuery(nil, q.Attrs, q.SQL, tc.caps); !bytes.Equal(got, tc.p) {
			t.Errorf("%s: built %x\nwant %x", tc.name, got, tc.p)
		}
	}
	for _, bad := range [][]byte{p[:5], {3}, {3, 1, 2}, {3, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 1}} {
		if _, err := DecodeQuery(bad, QueryAttributes); !errors.Is(err, ErrMalformed) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}

func TestSmallMessages(t *testing.T) {
	ok := OK{AffectedRows: 300, InsertID: 70000, Status: StatusAutocommit | StatusSessionChanged, Warnings: 2, Info: []byte("Rows: 1"), State: []byte("\x01\x03\x02db")}
	back, err := DecodeOK(ok.Append(nil, SessionTrack), SessionTrack)
	if err != nil || !reflect.DeepEqual(back, ok) {
		t.Errorf("OK: got %+v, %v\nwant %+v", back, err, ok)
	}
	var changes []Change
	if err := EachChange([]byte("\x01\x03\x02db\x00\x0b\x04name\x05value\x63\x01x"), func(c Change) { changes = append(changes, c) }); err != nil {
		t.Fatal(err)
	}
	if want := []Change{{ChangeSchema, nil, []byte("db")}, {ChangeVariable, []byte("name"), []byte("value")}, {99, nil, []byte("x")}}; !reflect.DeepEqual(changes, want) {
		t.Errorf("changes: got %v\nwant %v", changes, want)
	}
	old, err := DecodeOK(ok.Append(nil, 0), 0)
	if err != nil || string(old.Info) != "Rows: 1" || old.State != nil || old.Status.Has(StatusSessionChanged) {
		t.Errorf("OK for an older client: %+v, %v", old, err)
	}
	e := Err{1064, []byte("42000"), []byte("text")}
	if back, err := DecodeErr(e.Append(nil)); err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("error: got %+v, %v", back, err)
	}
	if back, err := DecodeErr([]byte("\xff\x10\x04Too many connections")); err != nil || back.Code != 1040 || string(back.Message) != "Too many connections" {
		t.Errorf("error before the login: got %+v, %v", back, err)
	}
	if back, err := DecodeEOF(EOF{3, StatusAutocommit}.Append(nil)); err != nil || back != (EOF{3, StatusAutocommit}) {
		t.Errorf("EOF: got %+v, %v", back, err)
	}
	u := &ChangeUser{"u", []byte("answer"), "db", 255, PluginNative, AppendAttr(nil, "a", "b")}
	all := SecureConnection | PluginAuth | ConnectAttrs
	if back, err := DecodeChangeUser(u.Append(nil, all), all); err != nil || !reflect.DeepEqual(back, u) {
		t.Errorf("change user: got %+v, %v", back, err)
	}
	if table, pattern, err := DecodeFieldList([]byte("\x04tab\x00c%")); err != nil || string(table) != "tab" || string(pattern) != "c%" {
		t.Errorf("field list: %s %s %v", table, pattern, err)
	}
	if id, param, data, err := DecodeStmtLongData([]byte("\x18\x01\x00\x00\x00\x02\x00xyz")); err != nil || id != 1 || param != 2 || string(data) != "xyz" {
		t.Errorf("long data: %d %d %s %v", id, param, data, err)
	}
	if id, n, err := DecodeStmtFetch([]byte("\x1c\x01\x00\x00\x00\x09\x00\x00\x00")); err != nil || id != 1 || n != 9 {
		t.Errorf("fetch: %d %d %v", id, n, err)
	}
}

// TestRefusedCommands: what hands out tables in another form, or is unknown, is
// not relayed.
func TestRefusedCommands(t *testing.T) {
	relayed := 0
	for c := range 256 {
		if Command(c).Shape() != ShapeRefused {
			relayed++
		}
	}
	if relayed != 22 {
		t.Errorf("%d commands are relayed, 22 were looked at", relayed)
	}
	for _, c := range []Command{ComSleep, ComConnect, ComTime, ComDelayedInsert, ComBinlogDump, ComTableDump, ComConnectOut, ComRegisterReplica, ComDaemon, ComBinlogDumpGTID, ComClone, ComSubscribeGroup, ComBulkExecute, ComMulti, 0x77} {
		if c.Shape() != ShapeRefused {
			t.Errorf("%v is relayed", c)
		}
	}
}
