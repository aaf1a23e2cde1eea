package kmstest

import (
	"bytes"
	"os"
	"testing"
)

// FindKey returns the encoding in which the file at path contains key, or "".
func FindKey(t testing.TB, path string, key []byte) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return FindKeyIn(data, key)
}

// FindKeyIn returns the encoding in which data contains key, or "".
func FindKeyIn(data, key []byte) string {
	for name, enc := range Encodings(key) {
		if bytes.Contains(data, enc) {
			return name
		}
	}
	return ""
}
