package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/veildb/veildb/internal/atrest/audit"
	"github.com/veildb/veildb/internal/atrest/convert"
	"github.com/veildb/veildb/internal/atrest/fscrypt"
	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/scan"
	"github.com/veildb/veildb/internal/atrest/sqlvfs"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/bench/dsn"
	"github.com/veildb/veildb/internal/bench/result"
	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/sysbench"
	"github.com/veildb/veildb/internal/bench/target"
	"github.com/veildb/veildb/internal/bench/tpcc"
	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/inuse/cells"
	"github.com/veildb/veildb/internal/inuse/gate"
	"github.com/veildb/veildb/internal/inuse/policy"
	"github.com/veildb/veildb/internal/inuse/sidecar"
	"github.com/veildb/veildb/internal/inuse/sqlend"
	"github.com/veildb/veildb/internal/keys/keyring"
	"github.com/veildb/veildb/internal/keys/kms"
	"github.com/veildb/veildb/internal/sql/schema"
)

// Exit codes. They are an interface: scripts decide on them, so a code is
// never reused for another meaning.
const (
	ExitOK          = 0
	ExitFailure     = 1   // unexpected failure
	ExitUsage       = 2   // usage or configuration
	ExitCheck       = 3   // a check or comparison did not hold
	ExitKey         = 4   // wrong key, missing key or key manager unreachable
	ExitDamaged     = 5   // damaged or tampered data
	ExitMissing     = 6   // something needed is not installed or not permitted here
	ExitBusy        = 7   // another process holds it
	ExitDenied      = 8   // access denied by policy
	ExitInterrupted = 130 // interrupted, state kept and resumable
)

// Error is a failure as the user sees it: what could not be done, and what to
// do next.
type Error struct {
	Code int    // exit code
	Op   string // "verb noun", such as "open database"
	Err  error  // the cause
	Hint string // what the user can do; one line
}

func (e *Error) Error() string {
	if e.Op == "" {
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// usagef returns a usage error with a hint to the command's help.
func usagef(op, hint, format string, args ...any) error {
	return &Error{Code: ExitUsage, Op: op, Err: fmt.Errorf(format, args...), Hint: hint}
}

// A mapping ties a sentinel of some package to an exit code and a default hint.
type mapping struct {
	is   error
	code int
	hint string
}

// mappings is the one table from errors to exit codes. The first match counts.
var mappings = []mapping{
	{context.Canceled, ExitInterrupted, "run the same command again"},
	{study.ErrUnknown, ExitUsage, "see: veildb bench list"},
	{study.ErrDefinition, ExitUsage, "see docs/benchmarking.md; veildb bench list shows what there is"},
	{result.ErrCorrupt, ExitDamaged, "restore run.jsonl from a copy, or run the study again into another directory"},
	{result.ErrNotRun, ExitDamaged, "name the directory that a run wrote"},
	{keyring.ErrBusy, ExitBusy, "another process is writing it; try again when it has ended"},
	{keyring.ErrStray, ExitDamaged, "find out which of the two is right, and move the other away; no such file is ever read"},
	{keyring.ErrRollback, ExitDamaged, "restore the newest key file; if an older one is meant: veildb key accept-rollback KEYFILE"},
	{keyring.ErrReused, ExitUsage, "use a new root key, or add --allow-reuse"},
	{keyring.ErrExists, ExitUsage, "name a file that does not exist"},
	{keyring.ErrMissing, ExitKey, "make one with: veildb key init KEYFILE --provider file:PATH"},
	{keyring.ErrWrongKey, ExitKey, "veildb key status KEYFILE tells which root key it needs"},
	{keyring.ErrUnreachable, ExitKey, "when the provider is there again, run the same command again"},
	{keyring.ErrDenied, ExitKey, "grant the right to wrap and unwrap with this root key; then: veildb key check KEYFILE"},
	{keyring.ErrUnknownVersion, ExitKey, "name the key file that the data was made with, or restore one that is at least as new as the data"},
	{keyring.ErrUnsupported, ExitMissing, "use the version of veildb that wrote it, or a newer one"},
	{keyring.ErrCorrupt, ExitDamaged, "restore it from a backup; KEYFILE.prev is the generation before"},
	{kms.ErrInsecure, ExitMissing, "make it a regular file of the right owner: chmod 600 FILE"},
	{kms.ErrConfig, ExitUsage, "see docs/keys.md for how each provider is set up"},
	{kms.ErrNotBuilt, ExitMissing, "build with the provider: go build -tags cloudkms,pkcs11 ./cmd/veildb"},
	{kms.ErrUnknown, ExitUsage, "see the providers in: veildb key init --help"},
	{sqlvfs.ErrNotEncrypted, ExitUsage, "open it without a key, or encrypt it with: veildb volume convert --in FILE --out NEWFILE --key KEYFILE"},
	{sqlvfs.ErrEncrypted, ExitKey, "name its key file: sqlite:FILE?key=KEYFILE"},
	{sqlvfs.ErrNotADatabase, ExitUsage, "name a SQLite database"},
	{sqlvfs.ErrBusy, ExitBusy, "close the programs that use it, then run the same command again"},
	{volume.ErrNotVolume, ExitUsage, "make one with: veildb volume init LOWER --key KEYFILE"},
	{volume.ErrNotEmpty, ExitUsage, "name a directory that is empty or does not exist"},
	{volume.ErrBusy, ExitBusy, "unmount it, or wait for the other process; then run the same command again"},
	{volume.ErrConverting, ExitUsage, "finish it with the command that began it: veildb volume convert --in DIR --out LOWER --key KEYFILE"},
	{scan.ErrCanary, ExitUsage, "name a string of 6 to 16384 bytes"},
	{audit.ErrManifest, ExitDamaged, "use a manifest that nobody changed, or write a new one"},
	{audit.ErrOther, ExitUsage, "name the manifest of this volume"},
	{audit.ErrUnsupported, ExitMissing, "use the version of veildb that wrote it, or a newer one"},
	{convert.ErrInUse, ExitBusy, "stop the server, then run the same command again"},
	{convert.ErrChanged, ExitBusy, "stop what changes it, then run the same command again; what is done is kept"},
	{convert.ErrVerify, ExitDamaged, "the disk or the memory of this machine is failing; what was converted is not used"},
	{convert.ErrNested, ExitUsage, "name two directories of which none lies in the other"},
	{convert.ErrOther, ExitUsage, "finish that one, or remove what --out names and run the same command again"},
	{convert.ErrJournal, ExitDamaged, "remove what --out names and run the same command again"},
	{volume.ErrWrongKey, ExitKey, "the key file belongs to other data; name the one it was encrypted with"},
	{volume.ErrUnknownKey, ExitKey, "name the key file that the data was made with, or restore one that is at least as new as the data"},
	{volume.ErrUnsupported, ExitMissing, "use the version of veildb that wrote it, or a newer one"},
	{volume.ErrMismatch, ExitDamaged, "a log or journal of another database lies beside it; restore the pair from one backup"},
	{volume.ErrTruncated, ExitDamaged, "restore it from a backup"},
	{volume.ErrCorrupt, ExitDamaged, "restore it from a backup"},
	{volume.ErrNotOurs, ExitUsage, "name a file that veildb encrypted"},
	{fuse.ErrMounted, ExitBusy, "unmount it first: veildb volume umount MOUNTPOINT"},
	{fuse.ErrBusy, ExitBusy, "end the programs that use it, then run the same command again"},
	{fuse.ErrNotMounted, ExitUsage, "see what is mounted: findmnt -t fuse.veildb"},
	{fuse.ErrNoHelper, ExitMissing, "install it (on Debian: apt-get install fuse3), or run the command as root"},
	{fuse.ErrNoDevice, ExitMissing, "load the kernel's module: modprobe fuse; in a container, give it /dev/fuse"},
	{fuse.ErrNotPermitted, ExitMissing, "run it as root; in a container, give it /dev/fuse and CAP_SYS_ADMIN"},
	{fuse.ErrProtocol, ExitMissing, "use a kernel of version 5.4 or later"},
	{fscrypt.ErrFileSystem, ExitMissing, "name a directory on ext4 or f2fs with the feature encrypt, or leave out --backend kernel"},
	{fscrypt.ErrFeature, ExitMissing, "give it the feature: tune2fs -O encrypt DEVICE"},
	{fscrypt.ErrKernel, ExitMissing, "use a kernel of version 5.4 or later with CONFIG_FS_ENCRYPTION, or leave out --backend kernel"},
	{fscrypt.ErrNotEmpty, ExitUsage, "name an empty directory, not the top of a file system; what there is: veildb volume convert --in DIR --out NEWDIR --backend kernel"},
	{fscrypt.ErrEncrypted, ExitUsage, "name a directory that is not encrypted, nor below one"},
	{fscrypt.ErrNotEncrypted, ExitUsage, "make one with: veildb volume init DIR --backend kernel --key KEYFILE"},
	{fscrypt.ErrLocked, ExitUsage, "unlock it first: veildb volume mount DIR --key KEYFILE"},
	{fscrypt.ErrBusy, ExitBusy, "end the programs that use it, then run the same command again"},
	{fscrypt.ErrOtherUsers, ExitBusy, "it stays readable until that user, or root, runs: veildb volume umount DIR"},
	{fscrypt.ErrWrongKey, ExitKey, "name the key file that the volume was made with"},
	{fscrypt.ErrCorrupt, ExitDamaged, "restore the attribute user.veildb.kernel of the directory, or its copy in .veildb beside it, from a backup"},
	{fscrypt.ErrMismatch, ExitDamaged, "restore the attribute user.veildb.kernel of the directory, or its copy in .veildb beside it, from a backup"},
	{fscrypt.ErrUnsupported, ExitMissing, "use the version of veildb that made it, or a newer one"},
	{cells.ErrTampered, ExitDamaged, "someone or something between the two ends changed it; ask for the rows again"},
	{cells.ErrWrongKey, ExitKey, "use the key file the protecting end uses"},
	{cells.ErrSyntax, ExitUsage, "list one table.column a line; * stands for any characters"},
	{gate.ErrBlind, ExitMissing, "GRANT SELECT, SHOW VIEW, TRIGGER ON *.* to the gate's own account"},
	{policy.ErrRule, ExitUsage, "veildb rule check FILE shows all that is wrong, line by line"},
	{policy.ErrDenied, ExitDenied, "let an account do it that the rules name under admins"},
	{policy.ErrConflict, ExitBusy, "look at the rules as they are now, and try again"},
	{policy.ErrUnknownRule, ExitUsage, "see: veildb rule list FILE"},
	{schema.ErrSetting, ExitUsage, "ask the server: SELECT @@lower_case_table_names"},
	{sidecar.ErrKeyFile, ExitMissing, "make it a regular file of the right owner: chmod 600 FILE"},
	{sidecar.ErrKey, ExitKey, "name the file of the master key"},
	{sqlend.ErrDenied, ExitDenied, "write to protected columns only, or protect the target too"},
	{sqlvfs.ErrOpaque, ExitDenied, "where columns are protected, only statements that can be accounted for are allowed"},
	{dsn.ErrPassword, ExitUsage, "leave it out; use --password-file FILE, " + passwordEnv + " or the prompt"},
	{dsn.ErrSyntax, ExitUsage, "see the forms of a DSN in: veildb bench tpcc --help"},
	{tpcc.ErrNotEmpty, ExitUsage, "name an empty database; nothing was changed"},
	{tpcc.ErrLoaded, ExitUsage, "use it as it is, or run: veildb bench tpcc cleanup --dsn …"},
	{tpcc.ErrHalfLoaded, ExitUsage, "run: veildb bench tpcc cleanup --dsn …, then prepare"},
	{tpcc.ErrNotLoaded, ExitUsage, "run: veildb bench tpcc prepare --dsn …"},
	{sysbench.ErrUnknownWorkload, ExitUsage, "see: veildb bench list"},
	{sysbench.ErrOption, ExitUsage, "see: veildb bench sysbench --help"},
	{sysbench.ErrTableExists, ExitUsage, "use it as it is, or run: veildb bench sysbench WORKLOAD cleanup --dsn …"},
	{sysbench.ErrPreparedLimit, ExitUsage, "use --db-ps-mode=disable, or raise max_prepared_stmt_count"},
	{sysbench.ErrForcedShutdown, ExitFailure, "look for what its statements wait for"},
	{target.ErrUnknownEngine, ExitUsage, "see: veildb lab list"},
	{target.ErrNotInstalled, ExitMissing, "see: veildb lab list"},
	{target.ErrNotPermitted, ExitMissing, "name a directory below /tmp, or run as another user"},
	{target.ErrForeignDir, ExitUsage, "name an empty directory, or one of an earlier lab server of this engine"},
	{target.ErrBusy, ExitBusy, "stop it with: veildb lab down, or choose another --name or --dir"},
	{target.ErrSetting, ExitUsage, "see --set in: veildb lab up --help"},
	{target.ErrStart, ExitFailure, "see what its log says above"},
	{target.ErrGone, ExitFailure, "see the end of its log"},
	{dsn.ErrNoAnswer, ExitMissing, "is it a server of that kind that listens there?"},
	{sqlvfs.ErrDamaged, ExitDamaged, "restore it from a backup"},
	{sqlvfs.ErrFull, ExitFailure, hintFull},
	{sqlvfs.ErrReadOnly, ExitMissing, hintPermission},
	{sqlvfs.ErrCannotOpen, ExitUsage, hintPath},

	// What the system says of files, where no package above says it better.
	{syscall.ENOSPC, ExitFailure, hintFull},
	{syscall.EDQUOT, ExitFailure, hintFull},
	{syscall.EROFS, ExitMissing, "name a place that can be written to"},
	{fs.ErrPermission, ExitMissing, hintPermission},
	{fs.ErrExist, ExitUsage, "name a file that does not exist"},
	{fs.ErrNotExist, ExitUsage, hintPath},
	{syscall.ENOTDIR, ExitUsage, hintPath},
	{syscall.EISDIR, ExitUsage, "name a file, not a directory"},
	{disk.ErrNotRegular, ExitUsage, "name a regular file"},
	{syscall.ELOOP, ExitUsage, hintPath},
	{syscall.ENAMETOOLONG, ExitUsage, hintPath},
}

// Hints that several rows share.
const (
	hintFull       = "free some space, then run the same command again"
	hintPermission = "change the permissions, or run it as a user who may"
	hintPath       = "look at the path: each directory in it must exist"
)

// exitCode finds the code and hint for err.
func exitCode(err error) (code int, hint string) {
	if err == nil {
		return ExitOK, ""
	}
	code = ExitFailure
	for _, m := range mappings {
		if errors.Is(err, m.is) {
			code, hint = m.code, m.hint
			break
		}
	}
	var e *Error
	if errors.As(err, &e) {
		if e.Code != 0 {
			code = e.Code
		}
		if e.Hint != "" {
			hint = e.Hint
		}
	}
	return code, hint
}
