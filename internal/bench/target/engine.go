package target

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// An engine knows one kind of server: where it is, how to call it and how to
// ask whether it is ready.
type engine interface {
	programs() []string                 // names of the server program
	places() []string                   // glob patterns of directories to look in first
	version(text string) (string, bool) // from --version; false if it is another engine
	debianPackage() string
	scheme() string                     // of the DSN
	user() string                       // the administrator
	socket(run string, port int) string // port 0: none

	// initialise lists the programs that fill an empty data directory, and
	// dataOptions those settings that shape it, as part of a file name.
	initialise(s *Server, data string) []tool
	dataOptions(s *Server) string
	serve(s *Server) []string // the server's command line
	reserved() []string       // settings that are ours alone
	// probe speaks just enough of the protocol on a fresh connection to
	// know that the server accepts sessions.
	probe(c net.Conn, s *Server) error

	needsOtherUser() bool // refuses to run as root
	stopSignal() syscall.Signal
	deathSignal() syscall.Signal // sent by the kernel when our process dies
}

var engines = map[string]engine{
	MariaDB:  mysqlEngine{mariadb: true},
	MySQL:    mysqlEngine{},
	Postgres: postgresEngine{},
}

// mergeSettings lays the user's settings over the defaults. Names may be written
// with - or _ and come out with _.
func mergeSettings(defaults, user map[string]string) map[string]string {
	all := make(map[string]string, len(defaults)+len(user))
	for _, m := range []map[string]string{defaults, user} {
		for k, v := range m {
			all[strings.ReplaceAll(k, "-", "_")] = v
		}
	}
	return all
}

// checkSettings refuses names that are no setting's, and settings that decide
// where the server is and would lead it elsewhere.
func checkSettings(eng engine, user map[string]string) error {
	for k, v := range user {
		name := strings.ReplaceAll(k, "-", "_")
		if !settingName.MatchString(name) || strings.ContainsRune(v, 0) {
			return fmt.Errorf("%w: %q is no setting's name", ErrSetting, k)
		}
		if slices.Contains(eng.reserved(), strings.ToLower(name)) {
			return fmt.Errorf("%w: %s is chosen by the program", ErrSetting, k)
		}
	}
	return nil
}

// settingName also takes PostgreSQL's extension.setting.
var settingName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]*$`)

// settingArgs writes settings as prefix name=value, in a fixed order.
func settingArgs(prefix string, settings map[string]string) []string {
	args := make([]string, 0, len(settings))
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, prefix+k+"="+settings[k])
	}
	return args
}
