package dsn

import "strconv"

// Code is the server's own number for err: MySQL's in decimal ("1213"),
// PostgreSQL's SQLSTATE ("40P01"), "" where there is none.
func (d Dialect) Code(err error) string {
	switch d {
	case MySQL:
		if n := mysqlNumber(err); n != 0 {
			return strconv.Itoa(int(n))
		}
	case Postgres:
		return sqlState(err)
	}
	return ""
}
