//go:build mysqlserver

package gate

import "testing"

// mysqlRules protect what schema_mysql.sql adds to the schema hr.
const mysqlRules = `  - {name: ssn, databases: [hr], tables: [gen, inv, gipk, part], columns: [ssn]}
  - {name: pay, databases: [hr], tables: [cap, capf], columns: [pay]}
  - {name: docs, databases: [hr], tables: [js, mvi], columns: [doc]}
`

// TestMySQLBypasses runs cases of MySQL's own dialect as TestOwnBypasses does.
func TestMySQLBypasses(t *testing.T) {
	runOwn(t, casesOf(t, "mysql.sql"), schemaFile(t, "schema_mysql.sql"), mysqlRules)
}
