package fscrypt

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// A Cipher is the code that the kernel runs for contents.
type Cipher struct {
	Driver      string `json:"driver"`      // as /proc/crypto calls it; "" if that cannot be read
	Accelerated bool   `json:"accelerated"` // it uses instructions made for it
}

// maxCryptoTable bounds what is read of /proc/crypto, in bytes.
const maxCryptoTable = 1 << 20

// FindCipher tells which implementation of AES-256-XTS the kernel uses, or would
// use for the first file.
func FindCipher() Cipher {
	f, err := os.Open("/proc/crypto")
	if err != nil {
		return Cipher{}
	}
	defer f.Close()
	return parseCrypto(io.LimitReader(f, maxCryptoTable))
}

// parseCrypto reads the format of /proc/crypto: blocks of "key : value" with a
// blank line between them. Of several implementations the kernel takes the one
// of the highest priority. That of XTS appears with its first use, unless the
// processor has instructions for it; before that the parts it will be made of
// tell.
func parseCrypto(r io.Reader) Cipher {
	type best struct {
		driver   string
		priority int
	}
	found := map[string]best{}
	var name, driver string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			name, driver = "", ""
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "name":
			name = value
		case "driver":
			driver = value
		case "priority":
			if n, err := strconv.Atoi(value); err == nil && (found[name].driver == "" || n > found[name].priority) {
				found[name] = best{driver, n}
			}
		}
	}
	for _, candidate := range []struct{ name, before, after string }{
		{"xts(aes)", "", ""}, {"ecb(aes)", "xts(", ")"}, {"aes", "xts(ecb(", "))"},
	} {
		if b := found[candidate.name]; b.driver != "" {
			return Cipher{candidate.before + b.driver + candidate.after, accelerated(b.driver)}
		}
	}
	return Cipher{}
}

// accelerated reports whether a driver is more than C code: aes-generic,
// aes-lib and aes-fixed-time are the kernel's portable ones.
func accelerated(driver string) bool {
	for _, portable := range []string{"generic", "fixed-time", "aes-lib"} {
		if strings.Contains(driver, portable) {
			return false
		}
	}
	return true
}
