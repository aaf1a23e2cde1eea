package wire

import "encoding/binary"

// maxParams is the most parameters a statement can have.
const maxParams = 1<<16 - 1

// LastPrepared, as a statement's ID, means the one prepared last; MariaDB's
// clients use it to send COM_STMT_EXECUTE before the answer to
// COM_STMT_PREPARE has come.
const LastPrepared = 1<<32 - 1

// Flags of COM_STMT_EXECUTE.
const (
	CursorReadOnly   = 1 << 0 // rows wait for COM_STMT_FETCH
	CursorForUpdate  = 1 << 1
	CursorScrollable = 1 << 2
	ParamCountSent   = 1 << 3 // with QueryAttributes
)

// A ParamType is the type of a parameter.
type ParamType struct {
	Type     Type
	Unsigned bool
}

// A Param is one parameter of an execution; Value is a view without length.
type Param struct {
	ParamType
	Name  []byte // with QueryAttributes
	Null  bool
	Long  bool // sent before by COM_STMT_SEND_LONG_DATA, so not here
	Value []byte
}

// An Execute is a COM_STMT_EXECUTE.
type Execute struct {
	ID         uint32
	Flags      byte
	Iterations uint32
	NewTypes   bool // the packet has the types; otherwise those of the last execution hold
	Params     []Param
}

// StmtID is the statement a COM_STMT_EXECUTE, _FETCH, _RESET, _CLOSE or
// _SEND_LONG_DATA names.
func StmtID(p []byte) (uint32, error) {
	d := decoder{b: p}
	switch Command(d.u8()) {
	case ComStmtExecute, ComStmtFetch, ComStmtReset, ComStmtClose, ComStmtSendLongData, ComBulkExecute:
	default:
		d.fail()
	}
	id := d.u32()
	return id, d.endLax("statement command")
}

// ParamTypes appends to types those that a COM_STMT_EXECUTE of a statement with n
// parameters gives them; none if it has none, or is malformed.
func ParamTypes(types []Type, p []byte, n int, caps Capabilities) []Type {
	d := decoder{b: p}
	d.take(10)
	if n <= 0 || n > maxParams || caps.Has(QueryAttributes) {
		return types
	}
	d.take(uint64(n+7) / 8)
	if d.u8() != 1 {
		return types
	}
	for range n {
		types = append(types, Type(d.u16()))
	}
	if d.bad {
		return types[:0]
	}
	return types
}

// Decode decodes a COM_STMT_EXECUTE of a statement with n parameters, reusing
// e.Params. types are those of its last execution, used if the packet has none;
// long says which parameters COM_STMT_SEND_LONG_DATA has sent since, nil
// meaning none.
func (e *Execute) Decode(p []byte, n int, types []ParamType, long func(i int) bool, caps Capabilities) error {
	d := decoder{b: p}
	d.expect(byte(ComStmtExecute))
	e.ID, e.Flags, e.Iterations = d.u32(), d.u8(), d.u32()
	e.NewTypes, e.Params = false, e.Params[:0]
	attrs := caps.Has(QueryAttributes)
	if attrs && (n > 0 || e.Flags&ParamCountSent != 0) {
		if sent := d.lenenc(); sent >= uint64(n) && sent <= maxParams {
			n = int(sent)
		} else {
			d.fail()
		}
	}
	if n < 0 || n > maxParams {
		d.fail()
	}
	if d.bad || n == 0 {
		return d.end("execute command")
	}
	nulls := d.take(uint64(n+7) / 8)
	if e.NewTypes = d.u8() == 1; !e.NewTypes && len(types) != n || d.bad {
		return malformed("execute command")
	}
	for i := range n {
		var pa Param
		if e.NewTypes {
			t := d.u16()
			pa.ParamType = ParamType{Type(t), t&0x8000 != 0}
			if attrs {
				pa.Name = d.lenencBytes()
			}
		} else {
			pa.ParamType = types[i]
		}
		if d.bad {
			break
		}
		pa.Null = nulls[i/8]&(1<<(i%8)) != 0
		e.Params = append(e.Params, pa)
	}
	for i := range e.Params {
		pa := &e.Params[i]
		switch {
		case long != nil && long(i):
			pa.Long, pa.Null = true, false
		case !pa.Null:
			pa.Value = pa.Type.take(&d)
		}
	}
	return d.end("execute command")
}

// Append appends the packet's payload to dst.
func (e *Execute) Append(dst []byte, caps Capabilities) []byte {
	dst = binary.LittleEndian.AppendUint32(append(dst, byte(ComStmtExecute)), e.ID)
	dst = binary.LittleEndian.AppendUint32(append(dst, e.Flags), e.Iterations)
	attrs := caps.Has(QueryAttributes)
	if attrs && (len(e.Params) > 0 || e.Flags&ParamCountSent != 0) {
		dst = AppendLenenc(dst, uint64(len(e.Params)))
	}
	if len(e.Params) == 0 {
		return dst
	}
	nulls := len(dst)
	dst = append(dst, make([]byte, (len(e.Params)+7)/8)...)
	for i, pa := range e.Params {
		if pa.Null {
			dst[nulls+i/8] |= 1 << (i % 8)
		}
	}
	if !e.NewTypes {
		dst = append(dst, 0)
	} else {
		dst = append(dst, 1)
		for _, pa := range e.Params {
			var flag byte
			if pa.Unsigned {
				flag = 0x80
			}
			dst = append(dst, byte(pa.Type), flag)
			if attrs {
				dst = AppendLenencBytes(dst, pa.Name)
			}
		}
	}
	for _, pa := range e.Params {
		switch {
		case pa.Null || pa.Long || pa.Type == TypeNull:
		case pa.Type.fixedSize() > 0:
			dst = append(dst, pa.Value...)
		default:
			dst = AppendLenencBytes(dst, pa.Value)
		}
	}
	return dst
}
