package keyring

import (
	"context"

	"github.com/veildb/veildb/internal/crypto/secret"
)

// A Provider keeps the root key outside the key file and wraps the key
// encryption key with it. Implementations are safe for concurrent use; their
// errors match ErrWrongKey, ErrCorrupt, ErrUnreachable or ErrDenied where that
// is known, and contain no key bytes.
type Provider interface {
	// Wrap encrypts plaintext, at most 4096 bytes, and returns a blob that
	// names its format and, where root keys have versions, its version.
	// keyVersion identifies the root key for people and for the refusal of
	// used ones; "" if the provider cannot tell. aad binds the blob to its
	// place; a provider that cannot authenticate it ignores it.
	Wrap(ctx context.Context, plaintext *secret.Bytes, aad []byte) (blob []byte, keyVersion string, err error)

	// Unwrap returns the plaintext of a blob, which the caller closes.
	Unwrap(ctx context.Context, blob, aad []byte) (*secret.Bytes, error)

	// URI names the provider and its root key, without secrets, so that the
	// Options.Provider of a later process can make it again.
	URI() string
}

// A Recorder is a Provider that can remember the generation of a key file, so
// that an older copy of the file is noticed.
type Recorder interface {
	Provider

	// Generation returns the highest generation recorded for the key file id,
	// 0 if none is.
	Generation(ctx context.Context, id string) (uint64, error)

	// RecordGeneration records a generation; it never lowers one.
	RecordGeneration(ctx context.Context, id string, generation uint64) error
}
