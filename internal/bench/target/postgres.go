package target

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"syscall"
)

// postgresEngine is PostgreSQL, any version since 12.
type postgresEngine struct{}

// socketPort names the socket file when there is no TCP port.
const socketPort = 5432

func (postgresEngine) programs() []string { return []string{"postgres"} }
func (postgresEngine) places() []string {
	return []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin"}
}

func (postgresEngine) version(text string) (string, bool) {
	v := versionNumber.FindString(text)
	return v, v != ""
}

func (postgresEngine) debianPackage() string { return "postgresql" }
func (postgresEngine) scheme() string        { return "postgres" }
func (postgresEngine) user() string          { return "postgres" }
func (postgresEngine) socket(run string, port int) string {
	return filepath.Join(run, ".s.PGSQL."+strconv.Itoa(cmp.Or(port, socketPort)))
}
func (postgresEngine) needsOtherUser() bool { return true }

// stopSignal asks for the fast shutdown: sessions are ended, data is flushed.
func (postgresEngine) stopSignal() syscall.Signal { return syscall.SIGINT }

// deathSignal asks for the immediate shutdown: the postmaster ends its children
// and frees shared memory, which SIGKILL would leave behind.
func (postgresEngine) deathSignal() syscall.Signal { return syscall.SIGQUIT }

func (e postgresEngine) initialise(s *Server, data string) []tool {
	tools := []tool{{argv: []string{filepath.Join(s.inst.BinDir, "initdb"), "-D", data, "-A", "trust",
		"-U", e.user(), "--encoding=UTF8", "--locale=C", "--no-sync"}}}
	if s.cfg.Database != "postgres" {
		tools = append(tools, tool{
			argv:  []string{s.inst.Server, "--single", "-D", data, "-c", "fsync=off", "postgres"},
			stdin: "CREATE DATABASE " + s.cfg.Database + "\n",
		})
	}
	return tools
}

func (postgresEngine) dataOptions(*Server) string { return "utf8-c" }

func (e postgresEngine) serve(s *Server) []string {
	listen := ""
	if s.Addr() != "" {
		listen = "127.0.0.1"
	}
	argv := []string{s.inst.Server, "-D", s.dir.data,
		"-c", "unix_socket_directories=" + s.dir.run,
		"-c", "listen_addresses=" + listen,
		"-c", "port=" + strconv.Itoa(cmp.Or(s.port(), socketPort))}
	settings := mergeSettings(map[string]string{"timezone": "UTC", "log_timezone": "UTC"}, s.cfg.Settings)
	for _, set := range settingArgs("", settings) {
		argv = append(argv, "-c", set)
	}
	return argv
}

func (postgresEngine) reserved() []string {
	return []string{"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file",
		"listen_addresses", "port", "unix_socket_directories"}
}

// probe sends a startup message; the answer is 'R' (authentication) once the
// server takes sessions and 'E' while it starts. PostgreSQL documentation,
// "Message Formats".
func (e postgresEngine) probe(c net.Conn, s *Server) error {
	body := binary.BigEndian.AppendUint32(nil, 3<<16) // protocol 3.0
	for _, v := range []string{"user", e.user(), "database", s.cfg.Database, ""} {
		body = append(append(body, v...), 0)
	}
	msg := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
	if _, err := c.Write(msg); err != nil {
		return err
	}
	var kind [1]byte
	if _, err := io.ReadFull(c, kind[:]); err != nil {
		return err
	}
	switch kind[0] {
	case 'R':
		_, err := c.Write([]byte{'X', 0, 0, 0, 4}) // Terminate
		return err
	case 'E':
		text := make([]byte, 512)
		n, _ := c.Read(text)
		return errors.New("server refuses: " + printable(text[:n]))
	}
	return fmt.Errorf("server speaks another protocol (first byte %q)", kind[0])
}
