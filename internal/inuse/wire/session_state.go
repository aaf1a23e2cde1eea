package wire

// ChangeKind says what a session state change is about.
type ChangeKind uint64

// The kinds of change. Servers may add others.
const (
	ChangeVariable     ChangeKind = 0 // Name, Value: a system variable
	ChangeSchema       ChangeKind = 1 // Value: the default database
	ChangeState        ChangeKind = 2 // Value: "1"
	ChangeGTIDs        ChangeKind = 3
	ChangeTrxCharacter ChangeKind = 4 // Value: SQL that restores the transaction's characteristics
	ChangeTrxState     ChangeKind = 5 // Value: eight letters
)

// A Change is one change of session state; the slices are views.
type Change struct {
	Kind        ChangeKind
	Name, Value []byte
}

// EachChange calls f with every change in an OK packet's State, up to the one
// that is malformed, if any.
func EachChange(state []byte, f func(Change)) error {
	d := decoder{b: state}
	for d.more() {
		kind := ChangeKind(d.lenenc())
		in := decoder{b: d.lenencBytes()}
		if d.bad || !eachOfKind(kind, &in, f) {
			return malformed("session state")
		}
	}
	return nil
}

func eachOfKind(kind ChangeKind, in *decoder, f func(Change)) bool {
	for first := true; first || in.more(); first = false {
		ch := Change{Kind: kind}
		switch kind {
		case ChangeVariable: // MariaDB puts several variables into one change
			ch.Name = in.lenencBytes()
		case ChangeSchema, ChangeState, ChangeTrxCharacter, ChangeTrxState:
		case ChangeGTIDs:
			in.u8() // encoding
		default:
			ch.Value = in.rest()
			f(ch)
			return true
		}
		ch.Value = in.lenencBytes()
		if in.bad {
			return false
		}
		f(ch)
	}
	return true
}
