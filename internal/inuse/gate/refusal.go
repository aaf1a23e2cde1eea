package gate

import "github.com/veildb/veildb/internal/inuse/wire"

// A Refusal is why a restricted account's statement or command is not run. It
// holds nothing of the statement but names of kinds of statements.
type Refusal struct {
	Rule   string // short name of the reason, for logs
	Reason string // for people
}

func (r *Refusal) Error() string { return "refused by the gate: " + r.Reason + " (" + r.Rule + ")" }

func refuse(rule, reason string) *Refusal { return &Refusal{rule, reason} }

var (
	refuseClass     = refuse("statement-class", "this kind of statement is not allowed for accounts that get ciphertext")
	refuseMulti     = refuse("multi-statement", "several statements in one are not allowed for accounts that get ciphertext")
	refuseFunction  = refuse("function", "a function in it is not on the list of those allowed for accounts that get ciphertext")
	refuseRoutine   = refuse("function", "stored functions are not allowed for accounts that get ciphertext")
	refuseVariable  = refuse("variable", "a variable in it is not allowed for accounts that get ciphertext")
	refuseSet       = refuse("set", "only listed session variables can be set, to constants, by accounts that get ciphertext")
	refuseInto      = refuse("select-into", "SELECT ... INTO is not allowed for accounts that get ciphertext")
	refuseProcedure = refuse("procedure", "PROCEDURE is not allowed for accounts that get ciphertext")
	refuseBraces    = refuse("braces", "escapes in braces are not allowed for accounts that get ciphertext")
	refuseTable     = refuse("unknown-table", "it names a table the gate does not know or may not show")
	refuseShow      = refuse("show", "this form of SHOW is not allowed for accounts that get ciphertext")
	refuseSubquery  = refuse("write-select", "a statement that writes must not read protected tables in a SELECT")
	refuseMultiWr   = refuse("write-join", "an UPDATE or DELETE of several tables must not touch protected ones")
	refuseView      = refuse("write-view", "writing through views is not allowed for accounts that get ciphertext")
	refuseCopy      = refuse("write-copy", "a protected column must not be assigned to another column")
	refuseTrigger   = refuse("trigger", "the table has triggers, which could copy protected values")
	refuseForm      = refuse("statement-form", "this form of the statement is not understood")
	refuseState     = refuse("session-state", "the session's character set or sql_mode is one in which statements cannot be read")
	refuseCatalog   = refuse("catalog", "the gate cannot see the server's tables now")
	refuseCommand   = refuse("command", "this command of the protocol is not allowed for accounts that get ciphertext")
	refuseStatement = refuse("unknown-statement", "no such prepared statement")
	refuseLex       = refuse("unreadable", "the statement cannot be read with certainty")
)

// send answers the command at hand with the refusal.
func (r *Refusal) send(c *wire.Conn) error {
	return c.WriteErr(wire.CodeNotSupported, "42000", r.Error())
}
