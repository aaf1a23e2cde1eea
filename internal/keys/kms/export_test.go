package kms

// Unexported parts that tests reach.
var (
	Substitute  = substitute
	OpenRemote  = openRemote
	SealRemote  = sealRemote
	ParsePKCS11 = func(uri string) (string, error) {
		u, err := parsePKCS11(uri)
		return u.uri(), err
	}
	ParseCloud = func(scheme, name string) (string, error) {
		k, err := parseCloud(scheme, name)
		return k.uri(), err
	}
)
