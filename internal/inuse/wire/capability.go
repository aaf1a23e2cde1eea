package wire

// Capabilities are the flags both sides of a connection agree on: MySQL's in
// the low 32 bits, MariaDB's extended ones in the high 32.
type Capabilities uint64

// The capabilities. A name without a comment has no effect on the bytes.
const (
	LongPassword     Capabilities = 1 << 0 // MySQL; a MariaDB peer that leaves it out uses the high 32 bits
	FoundRows        Capabilities = 1 << 1
	LongFlag         Capabilities = 1 << 2
	ConnectWithDB    Capabilities = 1 << 3
	NoSchema         Capabilities = 1 << 4
	Compress         Capabilities = 1 << 5
	ODBC             Capabilities = 1 << 6
	LocalFiles       Capabilities = 1 << 7
	IgnoreSpace      Capabilities = 1 << 8 // SQL: spaces are allowed between a function's name and "("
	Protocol41       Capabilities = 1 << 9
	Interactive      Capabilities = 1 << 10
	SSL              Capabilities = 1 << 11
	IgnoreSigpipe    Capabilities = 1 << 12
	Transactions     Capabilities = 1 << 13
	Reserved         Capabilities = 1 << 14
	SecureConnection Capabilities = 1 << 15
	MultiStatements  Capabilities = 1 << 16
	MultiResults     Capabilities = 1 << 17
	PSMultiResults   Capabilities = 1 << 18
	PluginAuth       Capabilities = 1 << 19
	ConnectAttrs     Capabilities = 1 << 20
	PluginAuthLenenc Capabilities = 1 << 21
	ExpiredPasswords Capabilities = 1 << 22
	SessionTrack     Capabilities = 1 << 23
	DeprecateEOF     Capabilities = 1 << 24
	OptionalMetadata Capabilities = 1 << 25
	CompressZstd     Capabilities = 1 << 26
	QueryAttributes  Capabilities = 1 << 27
	MultiFactorAuth  Capabilities = 1 << 28
	CapabilityExt    Capabilities = 1 << 29
	VerifyServerCert Capabilities = 1 << 30 // of a client library to itself
	RememberOptions  Capabilities = 1 << 31 // of a client library to itself

	MariaDBProgress         Capabilities = 1 << 32
	MariaDBComMulti         Capabilities = 1 << 33
	MariaDBBulk             Capabilities = 1 << 34
	MariaDBExtendedMetadata Capabilities = 1 << 35
	MariaDBCacheMetadata    Capabilities = 1 << 36 // column counts say whether definitions follow
	MariaDBBulkUnitResults  Capabilities = 1 << 37
)

// Relayable are the capabilities a relay can let both sides agree on. The rest
// would blind it and is negotiated away, those not yet invented included:
//
//   - Compress, CompressZstd: packets inside packets, dearer than the network
//     they save; a relay sits beside one of the two sides.
//   - OptionalMetadata: result sets without the column definitions that say which
//     columns are protected.
//   - QueryAttributes: values in front of the statement's text. The decoders
//     here know them, so a caller that wants them may add the flag.
//   - MariaDBProgress: progress reports in the shape of error packets.
//   - MariaDBComMulti, MariaDBBulk, MariaDBBulkUnitResults: many commands, or
//     many executions, in one packet.
//   - MultiFactorAuth: plugins beyond those [RelayLogin] knows.
//
// With MariaDBCacheMetadata the server leaves definitions out that it has sent
// before: see [Response.Omitted].
//
// SSL is not among them: each side has TLS or not by itself.
const Relayable = LongPassword | FoundRows | LongFlag | ConnectWithDB | NoSchema |
	ODBC | LocalFiles | IgnoreSpace | Protocol41 | Interactive | IgnoreSigpipe |
	Transactions | Reserved | SecureConnection | MultiStatements | MultiResults |
	PSMultiResults | PluginAuth | ConnectAttrs | PluginAuthLenenc |
	ExpiredPasswords | SessionTrack | DeprecateEOF | MariaDBExtendedMetadata | MariaDBCacheMetadata

// clientOnly are flags a client may set though the server did not offer them.
const clientOnly = LongPassword | NoSchema | ODBC | IgnoreSpace | Interactive | IgnoreSigpipe | FoundRows

// required are flags without which a client does not speak the protocol this
// package relays; every client of the last twenty years sets them.
const required = Protocol41 | SecureConnection

// Has reports whether all flags of f are set.
func (c Capabilities) Has(f Capabilities) bool { return c&f == f }

// Offer is what a relay offers its client: what the server offers, as far as
// mask, normally [Relayable], lets it, and SSL if the relay has a certificate.
func Offer(server, mask Capabilities, ssl bool) Capabilities {
	c := server & mask &^ SSL
	if ssl {
		c |= SSL
	}
	return c
}

// Agree is what a relay asks of the server for a client that answered offered
// with client: the same on both sides, but SSL, which is left to the caller.
// So packets can pass from one side to the other as they are.
func Agree(client, offered Capabilities) Capabilities {
	c := client & (offered | clientOnly) &^ (SSL | VerifyServerCert | RememberOptions)
	if c.Has(LongPassword) { // no extended flags in its packet
		c &= 1<<32 - 1
	}
	return c
}
