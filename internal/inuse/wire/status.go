package wire

// Status are the server status flags of OK and EOF packets.
type Status uint16

// The status flags.
const (
	StatusInTransaction      Status = 1 << 0
	StatusAutocommit         Status = 1 << 1
	StatusMoreResults        Status = 1 << 3 // another result follows this one
	StatusNoGoodIndex        Status = 1 << 4
	StatusNoIndex            Status = 1 << 5
	StatusCursorExists       Status = 1 << 6 // rows wait for COM_STMT_FETCH
	StatusLastRowSent        Status = 1 << 7
	StatusDBDropped          Status = 1 << 8
	StatusNoBackslashEscapes Status = 1 << 9 // SQL: a backslash is an ordinary character
	StatusMetadataChanged    Status = 1 << 10
	StatusQueryWasSlow       Status = 1 << 11
	StatusPSOutParams        Status = 1 << 12
	StatusInTransReadonly    Status = 1 << 13
	StatusSessionChanged     Status = 1 << 14 // the OK packet tells what
	StatusANSIQuotes         Status = 1 << 15 // MariaDB: "x" is an identifier
)

// Has reports whether all flags of f are set.
func (s Status) Has(f Status) bool { return s&f == f }
