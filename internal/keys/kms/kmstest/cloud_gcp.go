//go:build cloudkms

package kmstest

import (
	"context"
	"fmt"
	"net/http"

	"cloud.google.com/go/kms/apiv1/kmspb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// GCP answers Encrypt and Decrypt like Google Cloud KMS. Keys are added by
// resource name.
type GCP struct {
	kmspb.UnimplementedKeyManagementServiceServer
	cloudKeys
}

// Handler returns the service.
func (g *GCP) Handler() http.Handler {
	s := grpc.NewServer()
	kmspb.RegisterKeyManagementServiceServer(s, g)
	return s
}

// Login implements http.Handler for oauth2.googleapis.com.
func (g *GCP) Login(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, map[string]any{"access_token": "ya29.test", "token_type": "Bearer", "expires_in": 3599})
}

// RefuseAll answers as to an account without rights.
func (g *GCP) RefuseAll(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", "7")
	w.Header().Set("Grpc-Message", "Permission 'cloudkms.cryptoKeyVersions.useToDecrypt' denied on resource")
	w.WriteHeader(200)
}

// Encrypt implements kmspb.KeyManagementServiceServer.
func (g *GCP) Encrypt(_ context.Context, in *kmspb.EncryptRequest) (*kmspb.EncryptResponse, error) {
	blob, version, err := g.seal(in.Name, in.Plaintext)
	if err != nil {
		return nil, status.Errorf(codes.NotFound, "CryptoKey %s not found.", in.Name)
	}
	return &kmspb.EncryptResponse{Name: fmt.Sprintf("%s/cryptoKeyVersions/%d", in.Name, version), Ciphertext: blob}, nil
}

// Decrypt implements kmspb.KeyManagementServiceServer.
func (g *GCP) Decrypt(_ context.Context, in *kmspb.DecryptRequest) (*kmspb.DecryptResponse, error) {
	name, plain, err := g.open(in.Ciphertext)
	if err != nil || name != in.Name {
		return nil, status.Error(codes.InvalidArgument, "Decryption failed: the ciphertext is invalid.")
	}
	return &kmspb.DecryptResponse{Plaintext: plain}, nil
}
