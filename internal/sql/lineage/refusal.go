package lineage

func refuse(rule, reason string) *Refusal { return &Refusal{rule, reason} }

// The refusals of statements.
var (
	refuseUnreadable = refuse("unreadable", "statement form not supported for this account")
	refuseClass      = refuse("statement-class", "this kind of statement is not allowed for accounts that get ciphertext")
	refuseTable      = refuse("unknown-table", "it names a table that is not known or may not be shown")
	refuseColumn     = refuse("unknown-column", "it names a column that is not known or not the only one of its name")
	refuseFunction   = refuse("function", "a function in it is not on the list of those allowed for accounts that get ciphertext")
	refuseRoutine    = refuse("routine", "stored functions are not allowed for accounts that get ciphertext")
	refuseEffect     = refuse("effect", "a function or variable in it would carry a protected value out of the result")
	refuseVariable   = refuse("variable", "a variable in it may not be read")
	refuseSet        = refuse("set", "only listed session variables can be set, to constants, by accounts that get ciphertext")
	refuseShow       = refuse("show", "this form of SHOW is not allowed for accounts that get ciphertext")
	refusePredicate  = refuse("predicate", "a condition, order or group may not use a protected column in this way")
	refuseGuesses    = refuse("guesses", "too many constants are compared with protected columns")
	refuseType       = refuse("predicate-type", "a protected text column must not be compared with a number")
	refuseNull       = refuse("null", "whether a value in the result is NULL would depend on protected values")
	refuseSink       = refuse("write-copy", "a protected value would be written where it is not protected")
	refuseInto       = refuse("select-into", "a protected value must not go into a variable")
	refuseStamp      = refuse("write-stamp", "whether a row was changed would show in a column that the server then sets, or in rows that refer to it")
	refuseCheck      = refuse("write-check", "whether a row can be written, by its constraints and keys, would depend on protected values that the statement does not set to constants")
	refuseNarrow     = refuse("narrowed", "partitions must not be named of tables with protected columns, nor indexes of such columns")
	refuseView       = refuse("write-view", "writing through views is not allowed for accounts that get ciphertext")
	refuseTrigger    = refuse("trigger", "the table has triggers, which could copy protected values")
	refuseForm       = refuse("statement-form", "this form of the statement is not understood")
	refuseDefine     = refuse("define", "only plain tables can be created by accounts that get ciphertext")
	refuseExplain    = refuse("explain", "EXPLAIN is not allowed for statements that touch protected columns")
	refuseCatalog    = refuse("catalog", "the server's tables cannot be seen")
)
