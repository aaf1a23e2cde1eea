package aead

import (
	"os"
	"regexp"
	"testing"
)

// TestNarrowPathStaysNarrow looks for instructions beyond AVX where a CPU may
// have no more. The assembler silently takes the AVX-512 encoding for registers
// above 15 and the like; on a CPU with all features, no other test would notice.
func TestNarrowPathStaysNarrow(t *testing.T) {
	forbidden := regexp.MustCompile(`\b[YZ][0-9]|\bX(1[6-9]|2[0-9]|3[01])\b|\bK[0-7]\b|VPTERNLOG|VMOVDQ[UA](8|16|32|64)|` +
		`VP(AND|OR|XOR)[DQ]\b|BROADCAST|(INSERT|EXTRACT)I|VPS[LR]LV|VPBLENDD|VPERM|BZHI|SH[LR]X|RORX|PDEP|PEXT[QL]?\b`)
	for _, file := range []string{"avx_amd64.s", "keys_amd64.s", "gcm_amd64.h"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := regexp.MustCompile(`//.*`).ReplaceAll(source, nil)
		if found := forbidden.FindAll(code, -1); found != nil {
			t.Errorf("%s: uses %q", file, found)
		}
	}
}
