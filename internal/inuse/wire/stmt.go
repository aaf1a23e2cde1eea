package wire

// DecodeStmtFetch is the statement and the number of rows of a COM_STMT_FETCH.
func DecodeStmtFetch(p []byte) (id, rows uint32, err error) {
	d := decoder{b: p}
	d.expect(byte(ComStmtFetch))
	id, rows = d.u32(), d.u32()
	return id, rows, d.end("fetch command")
}

// DecodeStmtLongData is a COM_STMT_SEND_LONG_DATA; data is a view.
func DecodeStmtLongData(p []byte) (id uint32, param uint16, data []byte, err error) {
	d := decoder{b: p}
	d.expect(byte(ComStmtSendLongData))
	id, param = d.u32(), d.u16()
	data = d.rest()
	return id, param, data, d.end("long data command")
}
