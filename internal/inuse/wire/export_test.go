package wire

// LoginRounds is the client's part after the login request, for tests that
// write another packet in its place.
var LoginRounds = loginRounds
