package target

import "testing"

func TestParseStat(t *testing.T) {
	for _, tc := range []struct {
		name, line string
		want       procStat
		ok         bool
	}{
		{"plain", "17 (mariadbd) S 3 17 17 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 9 0 1234 5 6", procStat{3, 'S', 15, 1234}, true},
		{"parentheses in the name", "17 (a) b (c) R 3 17 17 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 9 0 1234 5 6", procStat{3, 'R', 15, 1234}, true},
		{"short", "17 (a) R 3", procStat{}, false},
		{"empty", "", procStat{}, false},
	} {
		got, err := parseStat([]byte(tc.line))
		if got != tc.want || (err == nil) != tc.ok {
			t.Errorf("%s: parseStat(%q) = %+v, %v; want %+v", tc.name, tc.line, got, err, tc.want)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("17 (mariadbd) S 3 17 17 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 9 0 1234 5 6"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, b []byte) { parseStat(b) })
}
