package lineage

import "testing"

// TestTriggers judges writes to tables with triggers.
func TestTriggers(t *testing.T) {
	for _, tt := range []struct {
		name, trigger string
		want          string
	}{
		{"stamps", "BEFORE UPDATE ON hr.dept FOR EACH ROW SET NEW.name = CONCAT(OLD.name, NOW())", ""},
		{"logs another column", "AFTER UPDATE ON hr.dept FOR EACH ROW INSERT INTO hr.log (msg) VALUES (NEW.id)", ""},
		{"for another event", "AFTER DELETE ON hr.dept FOR EACH ROW INSERT INTO hr.log (msg) VALUES (OLD.budget)", ""},
		{"copies its own column", "AFTER UPDATE ON hr.dept FOR EACH ROW INSERT INTO hr.log (msg) VALUES (NEW.budget)", "trigger"},
		{"compares its own column", "BEFORE UPDATE ON hr.dept FOR EACH ROW SET NEW.name = IF(NEW.`Budget` <> OLD.budget, 'x', 'y')", "trigger"},
		{"reads another table", "BEFORE UPDATE ON hr.dept FOR EACH ROW SET NEW.name = (SELECT MAX(ssn) FROM hr.employee)", "trigger"},
		{"names in double quotes", `BEFORE UPDATE ON hr.dept FOR EACH ROW SET NEW.name = (SELECT MAX("x") FROM "hr"."employee")`, "trigger"},
		{"a column in double quotes", `AFTER UPDATE ON hr.dept FOR EACH ROW INSERT INTO hr.log (msg) VALUES (NEW."budget")`, "trigger"},
		{"a backslash", `BEFORE UPDATE ON hr.dept FOR EACH ROW SET NEW.name = '\'`, "trigger"},
		{"calls", "AFTER UPDATE ON hr.dept FOR EACH ROW CALL hr.p()", "trigger"},
		{"a stored function", "BEFORE UPDATE ON hr.dept FOR EACH ROW SET NEW.name = f(1)", "trigger"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			if !w.run(t, schemaFile(t, "schema_hr.sql")) || !w.run(t, "CREATE TRIGGER tr "+tt.trigger) {
				t.Fatal("definitions not understood")
			}
			v := New(w.Catalog, testRules(Guarded)).judge("UPDATE dept SET name = 'x' WHERE id = 1", Session{Database: "hr"})
			got := ""
			if v.Refusal != nil {
				got = v.Refusal.Rule
			}
			if got != tt.want {
				t.Errorf("refusal %q, want %q", got, tt.want)
			}
		})
	}
}
