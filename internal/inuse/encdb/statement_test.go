package encdb

import (
	"strings"
	"testing"
)

func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		sql  string
		kind Kind
		args string // joined by |; ? for a parameter
	}{
		{`/*encoding_key*/SELECT encdb_process_message('{"request_type":0}')`, Message, `{"request_type":0}`},
		{`select ENCDB_PROCESS_MESSAGE ( "{""a"":1}" ) ; `, Message, `{"a":1}`},
		{"  # c\n -- d\n select/**/encdb_process_message('a''b\\'c\\\\')  AS `x`;", Message, `a'b'c\`},
		{"SELECT `encdb_process_message`('a' 'b'\n\"c\") m", Message, `abc`},
		{"SELECT encdb_process_message(x'7b7d')", Message, `{}`},
		{"SELECT encdb_process_message(0x7B7D)", Message, `{}`},
		{"SELECT encdb_process_message(_utf8mb4'{}')", Message, `{}`},
		{"SELECT encdb_process_message(N'{}') 'alias'", Message, `{}`},
		{"SELECT encdb_process_message(?)", Message, `?`},
		{"SELECT encdb_rule_op('add', '{}')", RuleOp, `add|{}`},
		{"SELECT encdb_rule_op(?, ?)", RuleOp, `?|?`},
		{"SELECT encdb_process_message('{}'); SELECT 1", Refused, ""},
		{"SELECT encdb_process_message('{}'), 1", Refused, ""},
		{"SELECT encdb_process_message(CONCAT('{','}'))", Refused, ""},
		{"SELECT encdb_process_message('{}'", Refused, ""},
		{"SELECT encdb_process_message('{}", Refused, ""},
		{"SELECT encdb_process_message()", Refused, ""},
		{"SELECT encdb_process_message('a','b')", Refused, ""},
		{"SELECT encdb_rule_op('add')", Refused, ""},
		{"SELECT encdb_register_mek('0001')", Refused, ""},
		{"SELECT encdb_process_message('{}') FROM t", Refused, ""},
		{"SELECT encdb_process_message FROM t", Other, ""},
		{"SELECT 'encdb_process_message(1)'", Other, ""},
		{"SELECT id FROM t", Other, ""},
		{"/*!50000 SELECT encdb_process_message('{}') */", Other, ""},
		{"", Other, ""},
		{"/* open", Other, ""},
		{"show status where VARIABLE_NAME= 'Polar_role' ", Probe, ""},
		{"SHOW SESSION STATUS LIKE 'polar\\_role'", Probe, ""},
		{"show global status where `variable_name` like \"Polar_role\";", Probe, ""},
		{"SHOW STATUS LIKE 'Polar%'", Other, ""},
		{"SHOW STATUS WHERE variable_name='Polar_role' OR 1", Other, ""},
		{"SHOW STATUS", Other, ""},
		{"SHOW TABLES", Other, ""},
		{"SET MEK=0011", Refused, ""},
		{"SET NAMES utf8, `mek` = '0011'", Refused, ""},
		{"set session enc_algo := SM4", Refused, ""},
		{"SET @mek=1", Refused, ""},
		{"SET x='mek=1', y=2", Other, ""},
		{"SET `", Other, ""},
		{"SET autocommit=1", Other, ""},
	} {
		st := Recognise([]byte(c.sql), false)
		var args []string
		for _, a := range st.Args {
			if a.Parameter {
				args = append(args, "?")
			} else {
				args = append(args, string(a.Value))
			}
		}
		if got := strings.Join(args, "|"); st.Kind != c.kind || got != c.args || (st.Kind == Refused) != (st.Reason != "") {
			t.Errorf("%s: got %d %q (%s), want %d %q", c.sql, st.Kind, got, st.Reason, c.kind, c.args)
		}
	}
	if st := Recognise([]byte(`SELECT encdb_process_message('a\')`), true); st.Kind != Message || string(st.Args[0].Value) != `a\` {
		t.Errorf("NO_BACKSLASH_ESCAPES: got %d", st.Kind)
	}
}
