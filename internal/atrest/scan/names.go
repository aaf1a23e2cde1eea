package scan

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/volume"
)

// judgeName looks at the name of e, which is file, and at where it leads if it
// is a link, in a volume that encrypts both.
func (s *scanner) judgeName(d *volume.Dir, file string, e *volume.Entry) error {
	if e.Path == "." || e.Own {
		return nil
	}
	var notes notebook
	name := filepath.Base(e.Path)
	if !looksSealed(strings.TrimPrefix(name, ".veildb.long.")) || errors.Is(e.NameErr, volume.ErrName) {
		notes.add(Finding{File: file, Kind: PlainName})
	}
	s.nameCanaries(&notes, file, name)
	if e.Kind() == unix.S_IFLNK {
		to, err := os.Readlink(filepath.Join(d.Root().Name(), e.Path))
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if !looksSealed(to) {
			notes.add(Finding{File: file, Kind: PlainName, Detail: "target of the link"})
		}
		s.nameCanaries(&notes, file, to)
	}
	s.add(notes...)
	return nil
}

// looksSealed reports whether name can be base64url of what encryption leaves.
func looksSealed(name string) bool {
	const least, alphabet = 43, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return len(name) >= least && strings.Trim(name, alphabet) == ""
}

func (s *scanner) nameCanaries(n *notebook, file, name string) {
	for _, c := range s.o.Canaries {
		if bytes.Contains([]byte(name), c) {
			n.add(Finding{File: file, Kind: Canary, Detail: "in a name"})
		}
	}
}
