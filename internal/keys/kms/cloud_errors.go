//go:build cloudkms

package kms

import (
	"errors"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	alierrors "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors"
	"github.com/aws/aws-sdk-go/aws/awserr"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/veildb/veildb/internal/keys/keyring"
)

// Each classify function returns the sentinel for an error of its library, or
// nil if it is not one or says nothing. A blob's sum was right when a blob was
// sent, so what a cloud calls an invalid ciphertext is one of another key.

func classifyAWS(err error) error {
	var e awserr.Error
	if !errors.As(err, &e) {
		return nil
	}
	denied := []string{
		"AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException", "InvalidSignatureException",
		"IncompleteSignature", "MissingAuthenticationTokenException", "InvalidClientTokenId", "OptInRequired",
		"DisabledException", "KMSInvalidStateException", "ExpiredToken", "AccessDenied",
	}
	wrong := []string{"NotFoundException", "InvalidCiphertextException", "IncorrectKeyException", "InvalidKeyUsageException", "InvalidArnException"}
	switch {
	case slices.Contains(denied, e.Code()):
		return keyring.ErrDenied
	case slices.Contains(wrong, e.Code()):
		return keyring.ErrWrongKey
	case e.Code() == "NoCredentialProviders":
		return ErrConfig
	}
	return keyring.ErrUnreachable
}

func classifyGCP(err error) error {
	s, ok := status.FromError(err)
	if !ok || s == nil {
		if strings.Contains(err.Error(), "could not find default credentials") {
			return ErrConfig
		}
		return nil
	}
	switch s.Code() {
	case codes.PermissionDenied, codes.Unauthenticated, codes.FailedPrecondition: // the last: disabled or destroyed
		return keyring.ErrDenied
	case codes.NotFound, codes.InvalidArgument:
		return keyring.ErrWrongKey
	}
	return keyring.ErrUnreachable
}

func classifyAzure(err error) error {
	var login *azidentity.AuthenticationFailedError
	if errors.As(err, &login) {
		if login.RawResponse != nil && login.RawResponse.StatusCode < 500 {
			return keyring.ErrDenied
		}
		return keyring.ErrUnreachable
	}
	var e *azcore.ResponseError
	if !errors.As(err, &e) {
		return nil
	}
	switch e.StatusCode {
	case 401, 403:
		return keyring.ErrDenied
	case 400, 404:
		return keyring.ErrWrongKey
	}
	return keyring.ErrUnreachable
}

func classifyAliCloud(err error) error {
	var e alierrors.Error
	if !errors.As(err, &e) {
		return nil
	}
	code := e.ErrorCode()
	switch {
	case code == "Forbidden.KeyNotFound" || code == "InvalidParameter" || strings.HasPrefix(code, "InvalidCiphertext"):
		return keyring.ErrWrongKey
	case strings.HasPrefix(code, "Forbidden") || strings.HasPrefix(code, "InvalidAccessKeyId") || strings.HasPrefix(code, "InvalidSecurityToken") ||
		strings.HasPrefix(code, "SignatureDoesNotMatch") || strings.HasPrefix(code, "IncompleteSignature") || strings.HasPrefix(code, "Rejected"):
		return keyring.ErrDenied
	}
	return keyring.ErrUnreachable
}

// classifyLocal looks at the unwrapping that is done here, under the data key
// that the cloud gave: it fails for a blob of another place.
func classifyLocal(err error) error {
	if strings.Contains(err.Error(), "message authentication failed") {
		return keyring.ErrCorrupt
	}
	return nil
}
