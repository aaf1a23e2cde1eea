package wire

// LoginRounds is the client's part after the login request, for tests that
// write another packet in its place.
var LoginRounds = loginRounds

// NativeAnswer is a client's answer for mysql_native_password.
func NativeAnswer(challenge []byte, password string) []byte {
	a, err := answer(PluginNative, challenge, []byte(password))
	if err != nil {
		panic(err)
	}
	return a
}
