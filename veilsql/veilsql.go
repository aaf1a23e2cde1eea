// Package veilsql is a database/sql driver for confidential MySQL databases:
// servers that send the values of protected columns encrypted, behind "veildb
// gate" or at the vendors of the protocol, and take the key from the client.
//
// It is go-sql-driver/mysql with the encryption taken away on the way in:
// contexts, transactions, prepared statements, multiple results, types and
// errors are that driver's own. Its name is "veilsql", so both can be linked.
//
//	db, err := sql.Open("veilsql",
//		"app:password@tcp(gate.example:6033)/shop?tls=true&mekFile=/etc/shop/mek")
//
// # The master key
//
// The master key (MEK), 16 or 32 bytes, comes from a file (mekFile), an
// environment variable (mekEnv) or a function ([WithKey]), once for each new
// connection. It never comes from the DSN, which ends up in logs: MEK= and
// ENC_ALGO=, as other drivers have them, are refused.
//
// It goes to the server only if something says who that is: a certificate that
// is verified (tls=true, [WithTLS]), a pinned key (gateKeyHash, [WithPin]) or a
// unix socket. To a gate of veildb the key itself does not go at all, but one
// derived from it for the session.
//
// # Parameters
//
// Beside those of go-sql-driver/mysql the DSN has
//
//	mekFile=PATH             file of the master key, mode 0600
//	mekEnv=NAME              environment variable of the master key
//	gateKeyHash=HASH         the server's key must be this one
//	requireProtection=BOOL   refuse servers without the protocol; default true
//	algorithm=NAME           AES_128_GCM (default), AES_256_GCM, SM4_128_GCM
//	allowUnmarked=BOOL       also servers that do not mark protected columns
//	allowWeak=BOOL           also open cells without authentication
//	allowInsecure=BOOL       hand the key to a server that is not verified
//
// # Types
//
// With a gate of veildb, values and column types are those of the unprotected
// column. Other servers do not say a column's type: ColumnTypes then has the
// database type "" and the scan type any, and each value has the type its own
// cell says, int64, float32, float64, time.Time with parseTime, or []byte. Scan
// converts all of them as usual.
//
// A value that cannot be opened is [ErrTampered]; ciphertext is never returned
// in its place.
package veilsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/sidecar"
)

// DriverName is the name the driver is registered under.
const DriverName = "veilsql"

// Errors to decide on with errors.Is. None holds a key or a value. The server's
// own errors are *mysql.MySQLError.
var (
	// ErrDSN means the DSN cannot be used. The error does not quote it.
	ErrDSN = errors.New("DSN cannot be used")
	// ErrKeyInDSN means the DSN has a master key in it, or asks for one there.
	ErrKeyInDSN = errors.New("a DSN must not hold the master key: use mekFile, mekEnv or WithKey")
	// ErrNoKey means there is no master key: no source of one is named, or
	// the source has none.
	ErrNoKey = errors.New("no master key")
	// ErrWrongKey means the server does not accept the master key.
	ErrWrongKey = sidecar.ErrWrongKey
	// ErrPinMismatch means the server's key is not the pinned one.
	ErrPinMismatch = encdb.ErrPin
	// ErrNotConfidential means the server does not have the protocol.
	ErrNotConfidential = sidecar.ErrNotConfidential
	// ErrUnmarked means the server does not mark protected columns, and
	// allowUnmarked is not set.
	ErrUnmarked = sidecar.ErrUnmarked
	// ErrInsecure means nothing says that the other end is the server.
	ErrInsecure = sidecar.ErrInsecure
	// ErrTampered means a protected value could not be opened: it was
	// altered, is another column's, under another key or under a cipher that
	// is not allowed. The statement has ended; the connection has not.
	ErrTampered = errors.New("protected value cannot be opened")
)

func init() { sql.Register(DriverName, Driver{}) }

// Driver is the driver as database/sql knows it.
type Driver struct{}

var _ driver.DriverContext = Driver{}

// Open connects once. database/sql uses OpenConnector.
func (d Driver) Open(dsn string) (driver.Conn, error) {
	c, err := d.OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

// OpenConnector is NewConnector without options.
func (Driver) OpenConnector(dsn string) (driver.Connector, error) { return NewConnector(dsn) }
