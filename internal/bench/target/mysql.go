package target

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// mysqlEngine is MariaDB or MySQL.
type mysqlEngine struct{ mariadb bool }

func (e mysqlEngine) programs() []string {
	if e.mariadb {
		return []string{"mariadbd", "mysqld"}
	}
	return []string{"mysqld"}
}

func (e mysqlEngine) places() []string {
	dirs := []string{"/opt/mariadb*/bin", "/opt/mysql*/bin", "/usr/local/mysql*/bin"}
	if cache, err := os.UserCacheDir(); err == nil && !e.mariadb {
		dirs = append(dirs, filepath.Join(cache, "veildb", "mysql", "bin")) // scripts/fetch-mysql.sh
	}
	return dirs
}

func (e mysqlEngine) version(text string) (string, bool) {
	if text == "" || strings.Contains(text, "MariaDB") != e.mariadb {
		return "", false
	}
	v := versionNumber.FindString(text)
	return v, v != ""
}

func (e mysqlEngine) debianPackage() string {
	if e.mariadb {
		return "mariadb-server"
	}
	return ""
}

func (e mysqlEngine) scheme() string                  { return "mysql" }
func (e mysqlEngine) user() string                    { return "root" }
func (e mysqlEngine) socket(run string, _ int) string { return filepath.Join(run, "s.sock") }
func (e mysqlEngine) needsOtherUser() bool            { return false }
func (e mysqlEngine) stopSignal() syscall.Signal      { return syscall.SIGTERM }

// deathSignal is the hard one: the engine recovers from it, and a shutdown in
// order could outlive us by minutes.
func (e mysqlEngine) deathSignal() syscall.Signal { return syscall.SIGKILL }

func (e mysqlEngine) initialise(s *Server, data string) []tool {
	common := append([]string{"--no-defaults", "--datadir=" + data, "--tmpdir=" + s.dir.tmp}, e.asUser(s)...)
	sets := e.settings(s)
	createDB := fmt.Sprintf("CREATE DATABASE %s CHARACTER SET %s COLLATE %s;\n",
		s.cfg.Database, sets["character_set_server"], sets["collation_server"])
	if !e.mariadb {
		// Unlike MariaDB's, its root is known at the socket only.
		accounts := "CREATE USER root@'127.0.0.1' IDENTIFIED BY '';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n" +
			"GRANT PROXY ON ''@'' TO root@'127.0.0.1' WITH GRANT OPTION;\n"
		return []tool{{stdin: createDB + accounts, argv: slices.Concat([]string{s.inst.Server}, common,
			[]string{"--initialize-insecure", "--init-file=/dev/stdin"})}}
	}
	installer := "mariadb-install-db"
	// Packages put the server in sbin and the installer in bin.
	for _, d := range []string{".", "../bin", "../scripts"} {
		if p := filepath.Join(s.inst.BinDir, d, installer); exists(p) {
			installer = p
			break
		}
	}
	return []tool{
		{argv: slices.Concat([]string{installer}, common, []string{
			"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
			"--force"})}, // or it asks what this machine's name resolves to, and gives up if that is nothing
		{stdin: createDB, argv: slices.Concat([]string{s.inst.Server}, common, []string{"--bootstrap"})},
	}
}

func (e mysqlEngine) dataOptions(s *Server) string {
	sets := e.settings(s)
	return sets["character_set_server"] + "-" + sets["collation_server"]
}

// asUser is needed by root, who must say that it is meant.
func (mysqlEngine) asUser(s *Server) []string {
	if os.Geteuid() == 0 && s.dir.cred == nil {
		return []string{"--user=root"}
	}
	return nil
}

// settings are the defaults with the user's laid over them. The defaults are
// pinned so that two arms, and two machines, agree on what is measured whatever
// the distribution's are.
func (e mysqlEngine) settings(s *Server) map[string]string {
	m := map[string]string{
		"character_set_server": "utf8mb4",
		"collation_server":     "utf8mb4_general_ci",
		"skip_name_resolve":    "ON",
		"secure_file_priv":     s.dir.tmp,
		"tmpdir":               s.dir.tmp,
	}
	if !e.mariadb {
		m["mysqlx"] = "OFF"
	}
	return mergeSettings(m, s.cfg.Settings)
}

func (e mysqlEngine) serve(s *Server) []string {
	argv := []string{s.inst.Server, "--no-defaults",
		"--datadir=" + s.dir.data, "--socket=" + s.Socket(),
		"--pid-file=" + filepath.Join(s.dir.run, "pid")}
	argv = append(argv, e.asUser(s)...)
	if s.Addr() == "" {
		argv = append(argv, "--skip-networking")
	} else {
		argv = append(argv, "--bind-address=127.0.0.1", "--port="+strconv.Itoa(s.port()))
	}
	return append(argv, settingArgs("--", e.settings(s))...)
}

func (mysqlEngine) reserved() []string {
	return []string{"datadir", "socket", "port", "bind_address", "skip_networking", "pid_file", "user", "init_file",
		"defaults_file", "defaults_extra_file", "basedir", "log_error", "daemonize", "chroot"}
}

// probe reads the server's greeting: protocol version 10 means it takes
// sessions, 0xff is an error packet.
func (e mysqlEngine) probe(c net.Conn, s *Server) error {
	var head [5]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	switch head[4] {
	case 10:
		return nil
	case 0xff:
		return errors.New("server greets with an error")
	}
	return fmt.Errorf("server speaks another protocol (first byte %d)", head[4])
}
