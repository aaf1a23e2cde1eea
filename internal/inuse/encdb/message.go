package encdb

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The request types of MySQL clients. Others belong to other products.
const (
	reqServerInfo   = 0
	reqProvision    = 48
	reqImportRules  = 160
	reqDeleteRule   = 161
	maxRequest      = 8 << 20 // longest request, in bytes
	maxProvision    = 64 << 10
	maxAnswer       = 1 << 20 // longest answer a client reads
	statusOK        = 0
	statusFailed    = 1
	uniformProblem  = "the mek is wrong"
	problemFormat   = "invalid encdb msg format"
	problemClosed   = "session is closed"
	problemType     = "unsupported request"
	teeType         = "MOCK" // what MySQL services say
	mrenclave       = "0"
	noMEK           = -1
	kmsSinceVersion = "1.2.22"
)

// A request is what a client sends. The fields are in the order of their names,
// as the first clients write them. Unknown fields are ignored.
type request struct {
	Algorithm     string     `json:"algorithm,omitempty"`
	CipherSuite   string     `json:"cipher_suite,omitempty"`
	EncRule       string     `json:"enc_rule,omitempty"`
	Envelope      string     `json:"envelope,omitempty"`
	Name          string     `json:"name,omitempty"`
	PublicKeyHash string     `json:"public_key_hash,omitempty"`
	Type          *int       `json:"request_type"`
	Extension     *extension `json:"veildb,omitempty"`
	Version       string     `json:"version,omitempty"`
}

// An extension is what our own ends add to a message; others ignore it.
//
//	request 0    layout, most, nonce (16)
//	answer to 0  layout, session_id (16), salt, identity (32), signature (64)
//	request 48   layout, verifier (32), proof (64)
//	answer to 48 layout, key_id
type extension struct {
	Layout    byte   `json:"layout,omitempty"`
	Most      byte   `json:"most,omitempty"` // highest layout; Layout is the lowest own one
	Nonce     []byte `json:"nonce,omitempty"`
	SessionID []byte `json:"session_id,omitempty"`
	Salt      []byte `json:"salt,omitempty"`
	Identity  []byte `json:"identity,omitempty"`
	Signature []byte `json:"signature,omitempty"`
	Verifier  []byte `json:"verifier,omitempty"`
	Proof     []byte `json:"proof,omitempty"`
	KeyID     uint32 `json:"key_id,omitempty"`
}

// An answer is what a server sends; Body is itself JSON where it holds more
// than a message.
type answer struct {
	Status *int   `json:"status"`
	Body   string `json:"body"`
}

type serverInfo struct {
	CipherSuite   string     `json:"cipher_suite"`
	KMSEncMEK     string     `json:"kms_enc_mek,omitempty"`
	KMSIV         string     `json:"kms_iv,omitempty"`
	KMSKeyID      string     `json:"kms_key_id,omitempty"`
	KMSMEKVersion *int       `json:"kms_mek_version,omitempty"`
	KMSMode       bool       `json:"kms_mode,omitempty"`
	KMSRegion     string     `json:"kms_region,omitempty"`
	Enclave       string     `json:"mrenclave"`
	PublicKey     string     `json:"public_key"`
	PublicKeyHash string     `json:"public_key_hash"`
	TEEType       string     `json:"tee_type"`
	Extension     *extension `json:"veildb,omitempty"`
	Version       string     `json:"version"`
}

type infoBody struct {
	MEKID int64      `json:"mekid"`
	Info  serverInfo `json:"server_info"`
}

type provisionBody struct {
	Extension *extension `json:"veildb,omitempty"`
}

// keyMessage is the plaintext of an envelope.
type keyMessage struct {
	MEK        []byte `json:"mek,omitempty"`
	SessionKey []byte `json:"session_key,omitempty"`
}

func (k *keyMessage) wipe() { clear(k.MEK); clear(k.SessionKey) }

// parseRequest reads a request. It fails with ErrMessage, without the JSON
// error, which may quote the request.
func parseRequest(text []byte) (r request, err error) {
	if len(text) > maxRequest || json.Unmarshal(text, &r) != nil || r.Type == nil {
		return r, fmt.Errorf("read request: %w", ErrMessage)
	}
	return r, nil
}

// appendAnswer returns the base64 of an answer, the value of the one cell of
// the result.
func encodeAnswer(status int, body string) []byte {
	text, err := json.Marshal(answer{&status, body})
	if err != nil {
		panic("encdb: internal error: encode answer: " + err.Error())
	}
	return base64.StdEncoding.AppendEncode(nil, text)
}

// encodeBody returns the body of a good answer.
func encodeBody(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("encdb: internal error: encode body: " + err.Error())
	}
	return string(text)
}

// parseAnswer reads the cell of an answer into body. Errors: ErrMessage, and
// ErrRefused with the server's words.
func parseAnswer(cell []byte, body any) error {
	var a answer
	if len(cell) > maxAnswer {
		return fmt.Errorf("read answer: %w", ErrMessage)
	}
	text, err := base64.StdEncoding.AppendDecode(nil, cell)
	if err != nil || json.Unmarshal(text, &a) != nil || a.Status == nil {
		return fmt.Errorf("read answer: %w", ErrMessage)
	}
	if *a.Status != statusOK {
		return fmt.Errorf("%w: %s", ErrRefused, printable(a.Body))
	}
	if json.Unmarshal([]byte(a.Body), body) != nil {
		return fmt.Errorf("read body of answer: %w", ErrMessage)
	}
	return nil
}

// printable makes a peer's words fit for an error message.
func printable(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// statement returns the statement that carries a request.
func statement(r *request) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("encdb: internal error: encode request: " + err.Error())
	}
	return []byte("/*encoding_key*/SELECT encdb_process_message('" + escape(string(text)) + "')")
}

var escape = strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace

// atLeast compares dotted version numbers, without a "-SNAPSHOT" at the end.
// Versions of other lengths count as older, and so does anything else.
func atLeast(version, least string) bool {
	v := strings.Split(strings.TrimSuffix(version, "-SNAPSHOT"), ".")
	l := strings.Split(least, ".")
	if len(v) != len(l) {
		return false
	}
	for i := range v {
		a, err := strconv.ParseUint(v[i], 10, 32)
		b, _ := strconv.ParseUint(l[i], 10, 32)
		if err != nil {
			return false
		}
		if a != b {
			return a > b
		}
	}
	return true
}
