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
	refuseTable     = refuse("unknown-table", "it names a table the gate does not know or may not show")
	refuseState     = refuse("session-state", "the session's character set or sql_mode is one in which statements cannot be read")
	refuseCatalog   = refuse("catalog", "the gate cannot see the server's tables now")
	refuseCommand   = refuse("command", "this command of the protocol is not allowed for accounts that get ciphertext")
	refuseStatement = refuse("unknown-statement", "no such prepared statement")
	refuseGuesses   = refuse("guess-rate", "the account has compared too many constants with protected columns in the last minute")
	refuseType      = refuse("predicate-type", "a protected text column must not be compared with a number")
	refuseCounted   = refuse("row-count", "ROW_COUNT() would tell whether protected values were what the statement before wrote")
	refuseLex       = refuse("unreadable", "the statement cannot be read with certainty")
)

// send answers the command at hand with the refusal.
func (r *Refusal) send(c *wire.Conn) error {
	return c.WriteErr(wire.CodeNotSupported, "42000", r.Error())
}
