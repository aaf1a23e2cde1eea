package wire

import "fmt"

// A Command is the first byte of the packet that begins one.
type Command byte

// The commands of MySQL and MariaDB.
const (
	ComSleep            Command = 0x00
	ComQuit             Command = 0x01
	ComInitDB           Command = 0x02
	ComQuery            Command = 0x03
	ComFieldList        Command = 0x04
	ComCreateDB         Command = 0x05
	ComDropDB           Command = 0x06
	ComRefresh          Command = 0x07
	ComShutdown         Command = 0x08
	ComStatistics       Command = 0x09
	ComProcessInfo      Command = 0x0a
	ComConnect          Command = 0x0b
	ComProcessKill      Command = 0x0c
	ComDebug            Command = 0x0d
	ComPing             Command = 0x0e
	ComTime             Command = 0x0f
	ComDelayedInsert    Command = 0x10
	ComChangeUser       Command = 0x11
	ComBinlogDump       Command = 0x12
	ComTableDump        Command = 0x13
	ComConnectOut       Command = 0x14
	ComRegisterReplica  Command = 0x15
	ComStmtPrepare      Command = 0x16
	ComStmtExecute      Command = 0x17
	ComStmtSendLongData Command = 0x18
	ComStmtClose        Command = 0x19
	ComStmtReset        Command = 0x1a
	ComSetOption        Command = 0x1b
	ComStmtFetch        Command = 0x1c
	ComDaemon           Command = 0x1d
	ComBinlogDumpGTID   Command = 0x1e
	ComResetConnection  Command = 0x1f
	ComClone            Command = 0x20
	ComSubscribeGroup   Command = 0x21
	ComBulkExecute      Command = 0xfa // MariaDB
	ComSlaveWorker      Command = 0xfb // MariaDB, inside the server
	ComSlaveIO          Command = 0xfc
	ComSlaveSQL         Command = 0xfd
	ComMulti            Command = 0xfe // MariaDB
)

// A Shape is the form of the answer to a command.
type Shape byte

// The shapes.
const (
	ShapeRefused Shape = iota // a relay does not pass the command on
	ShapeNothing              // no answer at all
	ShapeOK                   // one OK, EOF or error packet
	ShapeResults              // results in the text protocol
	ShapeExecute              // results in the binary protocol
	ShapePrepare              // a prepared statement
	ShapeRows                 // rows in the binary protocol without a head
	ShapeFields               // column definitions without a head
	ShapeString               // one packet of text
	ShapeLogin                // a login; see RelayChangeUser
)

// commands has every command a relay passes on. What is not here can answer
// with whole tables in a form of its own (binlog and table dumps, clone,
// replication), is a command only the server uses, or is not yet invented.
var commands = [256]struct {
	name  string
	shape Shape
}{
	ComQuit:             {"QUIT", ShapeNothing},
	ComInitDB:           {"INIT_DB", ShapeOK},
	ComQuery:            {"QUERY", ShapeResults},
	ComFieldList:        {"FIELD_LIST", ShapeFields},
	ComCreateDB:         {"CREATE_DB", ShapeOK},
	ComDropDB:           {"DROP_DB", ShapeOK},
	ComRefresh:          {"REFRESH", ShapeOK},
	ComShutdown:         {"SHUTDOWN", ShapeOK},
	ComStatistics:       {"STATISTICS", ShapeString},
	ComProcessInfo:      {"PROCESS_INFO", ShapeResults},
	ComProcessKill:      {"PROCESS_KILL", ShapeOK},
	ComDebug:            {"DEBUG", ShapeOK},
	ComPing:             {"PING", ShapeOK},
	ComChangeUser:       {"CHANGE_USER", ShapeLogin},
	ComStmtPrepare:      {"STMT_PREPARE", ShapePrepare},
	ComStmtExecute:      {"STMT_EXECUTE", ShapeExecute},
	ComStmtSendLongData: {"STMT_SEND_LONG_DATA", ShapeNothing},
	ComStmtClose:        {"STMT_CLOSE", ShapeNothing},
	ComStmtReset:        {"STMT_RESET", ShapeOK},
	ComSetOption:        {"SET_OPTION", ShapeOK},
	ComStmtFetch:        {"STMT_FETCH", ShapeRows},
	ComResetConnection:  {"RESET_CONNECTION", ShapeOK},
}

// Shape is the form of the command's answer; ShapeRefused for a command a relay
// must not pass on.
func (c Command) Shape() Shape { return commands[c].shape }

// String is the command's name without "COM_".
func (c Command) String() string {
	if n := commands[c].name; n != "" {
		return n
	}
	return fmt.Sprintf("0x%02x", byte(c))
}

// DecodeBare checks a command without arguments: COM_QUIT, COM_PING,
// COM_RESET_CONNECTION, COM_STATISTICS, COM_PROCESS_INFO, COM_DEBUG.
func DecodeBare(p []byte) (Command, error) {
	d := decoder{b: p}
	c := Command(d.u8())
	return c, d.end("command")
}

// DecodeInitDB is the database a COM_INIT_DB (or COM_CREATE_DB, COM_DROP_DB)
// names, a view.
func DecodeInitDB(p []byte) ([]byte, error) {
	d := decoder{b: p}
	switch Command(d.u8()) {
	case ComInitDB, ComCreateDB, ComDropDB:
	default:
		d.fail()
	}
	name := d.rest()
	return name, d.end("database command")
}

// DecodeSetOption is the option of a COM_SET_OPTION: 0 turns multi-statements
// on, 1 off.
func DecodeSetOption(p []byte) (uint16, error) {
	d := decoder{b: p}
	d.expect(byte(ComSetOption))
	o := d.u16()
	return o, d.end("set option command")
}

// DecodeProcessKill is the connection a COM_PROCESS_KILL names.
func DecodeProcessKill(p []byte) (uint32, error) {
	d := decoder{b: p}
	d.expect(byte(ComProcessKill))
	id := d.u32()
	return id, d.end("kill command")
}

// DecodeFieldList is the table and the column pattern of a COM_FIELD_LIST,
// views.
func DecodeFieldList(p []byte) (table, pattern []byte, err error) {
	d := decoder{b: p}
	d.expect(byte(ComFieldList))
	table = d.nul()
	pattern = d.rest()
	return table, pattern, d.end("field list command")
}
