package fscrypt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// A Policy is what the kernel says of an encrypted file or directory.
type Policy struct {
	Version         uint8 // 2, or 0 for the first version, which has no KeyID
	Contents, Names uint8 // unix.FSCRYPT_MODE_*
	Flags           uint8
	KeyID           KeyID
}

// ours reports whether p is of the kind that this package sets.
func (p Policy) ours() bool {
	return p.Version == unix.FSCRYPT_POLICY_V2 && p.Contents == unix.FSCRYPT_MODE_AES_256_XTS &&
		p.Names == unix.FSCRYPT_MODE_AES_256_CTS && p.Flags == unix.FSCRYPT_POLICY_FLAGS_PAD_32
}

// Cipher names the modes of p, for people.
func (p Policy) Cipher() (contents, names string) { return modeName(p.Contents), modeName(p.Names) }

func modeName(mode uint8) string {
	switch mode {
	case unix.FSCRYPT_MODE_AES_256_XTS:
		return "AES-256-XTS"
	case unix.FSCRYPT_MODE_AES_256_CTS:
		return "AES-256-CTS"
	}
	return fmt.Sprintf("mode %d", mode)
}

func ioctl(f *os.File, request uintptr, arg unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}

// policyOf returns the policy of an open file. Without one the error is
// unix.ENODATA; where there can be none, unix.ENOTTY or unix.EOPNOTSUPP.
func policyOf(f *os.File) (Policy, error) {
	arg := unix.FscryptGetPolicyExArg{Size: uint64(len(unix.FscryptGetPolicyExArg{}.Policy))}
	if err := ioctl(f, unix.FS_IOC_GET_ENCRYPTION_POLICY_EX, unsafe.Pointer(&arg)); err != nil {
		return Policy{}, err
	}
	b := arg.Policy
	p := Policy{Version: b[0], Contents: b[1], Names: b[2], Flags: b[3]}
	if p.Version == unix.FSCRYPT_POLICY_V2 {
		copy(p.KeyID[:], b[8:24])
	}
	return p, nil
}

// setPolicy encrypts the empty directory f. The key must have been added.
func setPolicy(f *os.File, id KeyID) error {
	p := unix.FscryptPolicyV2{
		Version:                   unix.FSCRYPT_POLICY_V2,
		Contents_encryption_mode:  unix.FSCRYPT_MODE_AES_256_XTS,
		Filenames_encryption_mode: unix.FSCRYPT_MODE_AES_256_CTS,
		Flags:                     unix.FSCRYPT_POLICY_FLAGS_PAD_32,
		Master_key_identifier:     id,
	}
	err := ioctl(f, unix.FS_IOC_SET_ENCRYPTION_POLICY, unsafe.Pointer(&p))
	switch {
	case errors.Is(err, unix.ENOTEMPTY):
		return ErrNotEmpty
	case errors.Is(err, unix.EEXIST):
		return ErrEncrypted
	}
	return err
}

// Layout of struct fscrypt_add_key_arg: the specifier is its type, 4 bytes that
// are zero and 32 bytes, then come the size, a key id, flags, reserved words and
// the key.
const (
	addKeySize       = int(unsafe.Sizeof(unix.FscryptAddKeyArg{}))
	addKeyIdentifier = 8
	addKeyRawSize    = 40
)

// addKey gives key to the file system of f, for the user of this process.
func addKey(f *os.File, key *secret.Bytes) (id KeyID, err error) {
	arg, err := secret.New(addKeySize + key.Len()) // it holds the key
	if err != nil {
		return id, err
	}
	defer arg.Close()
	b := arg.Reveal()
	binary.NativeEndian.PutUint32(b, unix.FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER)
	binary.NativeEndian.PutUint32(b[addKeyRawSize:], uint32(key.Len()))
	copy(b[addKeySize:], key.Reveal())
	if err := ioctl(f, unix.FS_IOC_ADD_ENCRYPTION_KEY, unsafe.Pointer(&b[0])); err != nil {
		return id, fmt.Errorf("give key to the kernel: %w", err)
	}
	copy(id[:], b[addKeyIdentifier:])
	return id, nil
}

func specifier(id KeyID) unix.FscryptKeySpecifier {
	s := unix.FscryptKeySpecifier{Type: unix.FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER}
	copy(s.U[:], id[:])
	return s
}

// removeKey takes the key from the file system of f: as root for all users,
// else for the user of this process. f must not lie in a directory that the key
// encrypts. Errors: ErrLocked, ErrBusy, ErrOtherUsers.
func removeKey(f *os.File, id KeyID) error {
	arg := unix.FscryptRemoveKeyArg{Key_spec: specifier(id)}
	request := uintptr(unix.FS_IOC_REMOVE_ENCRYPTION_KEY)
	if os.Geteuid() == 0 {
		request = unix.FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS
	}
	err := ioctl(f, request, unsafe.Pointer(&arg))
	switch {
	case errors.Is(err, unix.ENOKEY):
		return ErrLocked
	case err != nil:
		return fmt.Errorf("take key from the kernel: %w", err)
	case arg.Removal_status_flags&unix.FSCRYPT_KEY_REMOVAL_STATUS_FLAG_FILES_BUSY != 0:
		return ErrBusy
	case arg.Removal_status_flags&unix.FSCRYPT_KEY_REMOVAL_STATUS_FLAG_OTHER_USERS != 0:
		return ErrOtherUsers
	}
	return nil
}

// A KeyState says whether the kernel has a key.
type KeyState string

// The states of a key.
const (
	KeyAbsent     KeyState = "absent"     // locked
	KeyPresent    KeyState = "present"    // unlocked
	KeyIncomplete KeyState = "incomplete" // taken away, but open files keep theirs
)

func keyState(f *os.File, id KeyID) (KeyState, error) {
	arg := unix.FscryptGetKeyStatusArg{Key_spec: specifier(id)}
	if err := ioctl(f, unix.FS_IOC_GET_ENCRYPTION_KEY_STATUS, unsafe.Pointer(&arg)); err != nil {
		return "", fmt.Errorf("ask for the state of a key: %w", err)
	}
	switch arg.Status {
	case unix.FSCRYPT_KEY_STATUS_ABSENT:
		return KeyAbsent, nil
	case unix.FSCRYPT_KEY_STATUS_PRESENT:
		return KeyPresent, nil
	case unix.FSCRYPT_KEY_STATUS_INCOMPLETELY_REMOVED:
		return KeyIncomplete, nil
	}
	return "", fmt.Errorf("ask for the state of a key: unknown state %d", arg.Status)
}

// supported explains why policyOf failed with err for the directory f; nil if f
// could be given a policy.
func supported(f *os.File, err error) error {
	var st unix.Statfs_t
	if serr := unix.Fstatfs(int(f.Fd()), &st); serr != nil {
		return serr
	}
	var features string
	switch int64(st.Type) {
	case unix.EXT4_SUPER_MAGIC:
		features = "/sys/fs/ext4/features/encryption"
	case unix.F2FS_SUPER_MAGIC:
		features = "/sys/fs/f2fs/features/encryption"
	default:
		return ErrFileSystem
	}
	switch {
	case err == nil:
		return ErrEncrypted
	case errors.Is(err, unix.ENODATA):
		return nil
	case errors.Is(err, unix.EOPNOTSUPP):
		if _, err := os.Stat(features); err == nil {
			return ErrFeature
		}
		return ErrKernel
	case errors.Is(err, unix.ENOTTY):
		return ErrKernel
	}
	return err
}
