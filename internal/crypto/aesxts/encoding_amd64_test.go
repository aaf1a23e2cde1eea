package aesxts

import (
	"os"
	"regexp"
	"testing"
)

// TestNarrowPathsStayNarrow looks for instructions that the CPUs of a path may
// lack. The assembler silently takes the AVX-512 encoding for registers above
// 15 and the like; on a CPU with all features, no other test would notice.
func TestNarrowPathsStayNarrow(t *testing.T) {
	avx512 := `\b[XYZ](1[6-9]|2[0-9]|3[01])\b|\bZ[0-9]|\bK[0-7]\b|VPTERNLOG|VMOVDQ[UA](8|16|32|64)|VP(AND|OR|XOR)[DQ]\b|VBROADCASTI(32|64)`
	for _, test := range []struct{ file, forbidden string }{
		{"vaes256_amd64.s", avx512},
		{"vaes256_amd64.h", avx512},
		{"aesni_amd64.s", avx512 + `|\bV[A-Z]|\bY[0-9]|PCLMUL`},
		{"aesni_amd64.h", avx512 + `|\bV[A-Z]|\bY[0-9]|PCLMUL`},
		{"accel_amd64.s", avx512 + `|\bV[A-Z]|\bY[0-9]|PCLMUL`},
	} {
		source, err := os.ReadFile(test.file)
		if err != nil {
			t.Fatal(err)
		}
		code := regexp.MustCompile(`//.*`).ReplaceAll(source, nil)
		if found := regexp.MustCompile(test.forbidden).FindAll(code, -1); found != nil {
			t.Errorf("%s: uses %q", test.file, found)
		}
	}
}
