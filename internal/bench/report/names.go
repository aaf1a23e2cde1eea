package report

import "strings"

// variantNames say in words what a variant is. A variant not listed goes by
// its own name.
var variantNames = map[string]string{
	"plain":   "no protection",
	"tde":     "encryption at rest",
	"native":  "the engine's own encryption at rest",
	"fuse":    "the mount without a cipher",
	"relay":   "a plain relay",
	"gate":    "the gate, no column protected",
	"cols20":  "column protection, 20 % of columns",
	"cols50":  "column protection, 50 % of columns",
	"cols100": "column protection, all columns",
}

var engineNames = map[string]string{
	"sqlite":   "SQLite",
	"mariadb":  "MariaDB",
	"mysql":    "MySQL",
	"postgres": "PostgreSQL",
	"galera":   "Galera",
}

// variantName is "Encryption at rest (tde)", or the bare name if unknown.
func variantName(v string) string {
	v = clean(v)
	name, ok := variantNames[v]
	if !ok {
		return v
	}
	return strings.ToUpper(name[:1]) + name[1:] + " (" + v + ")"
}

// variantWords is the first half of variantName.
func variantWords(v string) string {
	name, _, _ := strings.Cut(variantName(v), " (")
	return name
}

func engineName(e string) string {
	if n, ok := engineNames[e]; ok {
		return n
	}
	return clean(e)
}

// engineVersion is "SQLite 3.51.0", whether or not the version names the
// engine itself.
func engineVersion(engine, version string) string {
	name, version := engineName(engine), clean(version)
	if strings.HasPrefix(strings.ToLower(version), strings.ToLower(name)) {
		return version
	}
	return name + " " + version
}

// workloadName is "TPC-C" for tpcc and the script's own name for sysbench.
func workloadName(w string) string {
	w = clean(w)
	switch {
	case w == "tpcc":
		return "TPC-C"
	case w == "tprocc":
		return "TPROC-C"
	case strings.HasPrefix(w, "tpcc-"):
		return "TPC-C (" + w[len("tpcc-"):] + ")"
	}
	return strings.TrimPrefix(w, "oltp_")
}
