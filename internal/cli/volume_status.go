package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/veildb/veildb/internal/atrest/fusefs/fuse"
	"github.com/veildb/veildb/internal/atrest/volume"
	"github.com/veildb/veildb/internal/keys/keyring"
)

type statusOptions struct {
	key        string
	prometheus bool
}

func newVolumeStatusCommand(env *Env) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status LOWER|MOUNTPOINT",
		Short: "Show a volume: files, keys, mount",
		Long: `Show how many files and bytes a volume holds under which data key, whether it is
mounted and how, and what the mount has served since. Nothing is authenticated,
and no key is opened; veildb volume check does that. With a key file, also when
its newest data key was made.`,
		Example: `  veildb volume status /srv/db.enc
  veildb volume status /srv/db --key /etc/veildb/ring --prometheus`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args[0]) },
	}
	cmd.Flags().BoolVar(&o.prometheus, "prometheus", false, "print metrics in the text format of Prometheus")
	volumeKeyFlag(cmd, &o.key)
	return cmd
}

// volumeStatus is what status tells; it is the JSON output, too.
type volumeStatus struct {
	Lower      string         `json:"lower"`
	Backend    string         `json:"backend"`
	ID         string         `json:"id"`
	State      volume.State   `json:"state"`
	Names      volume.Names   `json:"names"`
	Created    time.Time      `json:"created"`
	Rekeyed    *time.Time     `json:"rekeyed,omitempty"`
	KeyVersion uint32         `json:"key_version"` // of the configuration
	Files      int            `json:"files"`
	Bytes      int64          `json:"bytes"`      // of content
	DiskBytes  int64          `json:"disk_bytes"` // allocated below
	Keys       []keyShare     `json:"keys"`
	Damaged    int            `json:"damaged"` // files without a header that stands
	Rotation   *rotation      `json:"rotation,omitempty"`
	Held       *volume.Holder `json:"held,omitempty"`
	Mount      *mountStatus   `json:"mount,omitempty"`
}

// keyShare is what one data key encrypts.
type keyShare struct {
	Version uint32 `json:"version"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	Names   int    `json:"directories,omitempty"` // whose names are under it
}

// rotation is what the key file tells.
type rotation struct {
	Newest  uint32     `json:"newest_data_key"`
	Made    time.Time  `json:"made"`
	Last    time.Time  `json:"last_rotation"`
	NextDue *time.Time `json:"next_due,omitempty"`
}

// mountStatus is what the process that serves a mount tells of it.
type mountStatus struct {
	PID          int       `json:"pid"`
	MountPoint   string    `json:"mountpoint"`
	Cache        string    `json:"cache"`
	ReadOnly     bool      `json:"read_only"`
	Dead         bool      `json:"dead,omitempty"` // its process has gone; nothing else but the place is known
	Since        time.Time `json:"since"`
	Requests     uint64    `json:"requests"`
	ReadBytes    uint64    `json:"read_bytes"`
	WrittenBytes uint64    `json:"written_bytes"`
	Syncs        uint64    `json:"syncs"`
}

func (o *statusOptions) run(ctx context.Context, env *Env, path string) error {
	if o.prometheus && env.JSON {
		return usagef("show volume", "see: veildb volume status --help", "--json and --prometheus exclude each other")
	}
	if k, err := findKernel(path); err != nil {
		return err
	} else if k != nil {
		return o.showKernel(ctx, env, k)
	}
	s, err := o.gather(ctx, path)
	if s == nil {
		return err
	}
	// Of a mount that does not answer the rest is told nonetheless.
	return errors.Join(s.write(env, o.prometheus), err)
}

func (s *volumeStatus) write(env *Env, metrics bool) error {
	switch {
	case env.JSON:
		return printJSON(env, s)
	case metrics:
		return s.writeMetrics(env.Stdout)
	}
	return s.writeText(env.Stdout)
}

// lowerOf returns the volume that is mounted on path, or else path.
func lowerOf(path string) (string, error) {
	abs, err := mountPath(path)
	switch {
	case errors.Is(err, errForOther):
		return "", err
	case err != nil:
		return path, nil // who asked looks at it, and says what it is
	}
	if e, ours, err := fuse.Find(abs); err != nil {
		return "", err
	} else if ours {
		return e.Source, nil
	}
	return path, nil
}

// gather finds out what status tells. It is incomplete if there is an error, too.
func (o *statusOptions) gather(ctx context.Context, path string) (*volumeStatus, error) {
	lower, err := lowerOf(path)
	if err != nil {
		return nil, err
	}
	v, err := volume.ViewDir(lower, nil)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	c := v.Config()
	s := &volumeStatus{
		Lower: lower, Backend: backendFUSE, ID: fmt.Sprintf("%x", c.ID), State: c.State, Names: c.Names, Created: c.Created, KeyVersion: c.KeyVersion, Keys: []keyShare{},
	}
	if !c.Rekeyed.IsZero() {
		s.Rekeyed = &c.Rekeyed
	}
	if err := s.count(v); err != nil {
		return nil, err
	}
	if s.Rotation, err = readRotation(o.key); err != nil {
		return nil, err
	}
	if h := volume.ReadHolder(lower); isAlive(h.PID) {
		s.Held = &h
	}
	m := new(mountStatus)
	switch err := askMount(ctx, lower, controlRequest{Do: askStatus}, m, nil); {
	case err == nil:
		s.Mount = m
	case errors.Is(err, errSilent):
		return s, err
	case !errors.Is(err, errNoMount):
		return nil, err
	default:
		if s.Mount, err = silentMount(lower); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// silentMount finds a mount of lower that cannot be asked, such as one of a
// volume that cannot be changed, and says where it is; nil if there is none. One
// that a process left that was killed is told of if there is no other.
func silentMount(lower string) (m *mountStatus, err error) {
	if lower, err = filepath.EvalSymlinks(lower); err == nil {
		lower, err = filepath.Abs(lower)
	}
	if err != nil {
		return nil, err
	}
	err = fuse.Mounts(func(e fuse.Entry) {
		if e.Type != fuse.FSType || e.Source != lower {
			return
		}
		if dead := fuse.IsDead(e.Path); !dead || m == nil {
			m = &mountStatus{MountPoint: e.Path, ReadOnly: e.ReadOnly, Dead: dead}
		}
	})
	return m, err
}

// isAlive reports whether the process pid runs; one that has ended and that its
// parent has not noticed yet does not.
func isAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	state := processState(pid) // first: it may end between the two looks
	return state != "Z" && state != "X" && unix.Kill(pid, 0) != unix.ESRCH
}

// count adds up the files of v.
func (s *volumeStatus) count(v *volume.Dir) error {
	shares := map[uint32]*keyShare{}
	err := v.Walk(func(e *volume.Entry) error {
		if e.Kind() != unix.S_IFREG || e.Again {
			return nil
		}
		if s.DiskBytes += e.Stat.Blocks * 512; !e.Own {
			s.Files++
			s.Bytes += e.Size()
		}
		if e.Err != nil {
			if !errors.Is(e.Err, volume.ErrEmpty) || e.Own {
				s.Damaged++
			}
			return nil
		}
		if e.Own && e.Header == (volume.Header{}) {
			return nil
		}
		k := shares[e.Header.KeyVersion]
		if k == nil {
			k = &keyShare{Version: e.Header.KeyVersion}
			shares[k.Version] = k
		}
		if e.Own {
			k.Names++
			return nil
		}
		k.Files++
		k.Bytes += e.Size()
		return nil
	})
	for _, version := range slices.Sorted(maps.Keys(shares)) {
		s.Keys = append(s.Keys, *shares[version])
	}
	return err
}

// readRotation reads the key file, if one is named, without its keys.
func readRotation(key string) (*rotation, error) {
	path, err := keyPath(key)
	if err != nil {
		return nil, nil // none named
	}
	k, err := keyring.ReadStatus(path, keyring.Options{})
	if err != nil {
		return nil, err
	}
	newest := k.DEKs[len(k.DEKs)-1]
	return &rotation{Newest: newest.Version, Made: newest.Created, Last: k.LastRotation, NextDue: k.NextDue}, nil
}

func (s *volumeStatus) writeText(w io.Writer) error {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", label, fmt.Sprintf(format, args...))
	}
	line("volume", "%s", s.Lower)
	line("id", "%s", s.ID)
	line("backend", "%s", s.Backend)
	line("state", "%s, names %s, made %s", s.State, s.Names, s.Created.Format(time.DateOnly))
	line("files", "%d, %s of content, %s on disk", s.Files, megabytes(s.Bytes), megabytes(s.DiskBytes))
	for _, k := range s.Keys {
		of := ""
		if k.Names > 0 {
			of = ", names of " + counted(k.Names, "directory", "directories")
		}
		line(fmt.Sprintf("data key %d", k.Version), "%s, %s%s", counted(k.Files, "file"), megabytes(k.Bytes), of)
	}
	if s.Damaged > 0 {
		line("damaged", "%s; see: veildb volume check", counted(s.Damaged, "file"))
	}
	if r := s.Rotation; r != nil {
		line("newest key", "%d, made %s", r.Newest, r.Made.Format(time.DateTime))
		if r.NextDue != nil {
			line("rotation due", "%s", r.NextDue.Format(time.DateTime))
		}
	}
	if s.Rekeyed != nil {
		line("rekeyed", "%s", s.Rekeyed.Format(time.DateTime))
	} else {
		line("rekeyed", "never")
	}
	switch m := s.Mount; {
	case m != nil && m.Dead:
		line("mounted", "dead mount at %s, its process has gone; veildb volume umount %s", m.MountPoint, shellWord(m.MountPoint))
	case m != nil && m.PID == 0:
		line("mounted", "on %s; it cannot be asked for more", m.MountPoint)
	case m != nil:
		access := ""
		if m.ReadOnly {
			access = ", read-only"
		}
		line("mounted", "on %s by process %d, cache %s%s, since %s", m.MountPoint, m.PID, m.Cache, access, m.Since.Format(time.DateTime))
		spent := max(time.Since(m.Since).Seconds(), 1)
		line("served", "%s; read %s (%.1f MB/s), written %s (%.1f MB/s), %s", counted(m.Requests, "request"),
			megabytes(int64(m.ReadBytes)), float64(m.ReadBytes)/1e6/spent, megabytes(int64(m.WrittenBytes)), float64(m.WrittenBytes)/1e6/spent, counted(m.Syncs, "sync"))
	case s.Held != nil:
		line("in use", "by process %d: %s", s.Held.PID, s.Held.Purpose)
	default:
		line("mounted", "no")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMetrics writes s in the text format of Prometheus.
func (s *volumeStatus) writeMetrics(w io.Writer) error {
	var b strings.Builder
	label := fmt.Sprintf("volume=%q", s.ID)
	metric := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP veildb_volume_%s %s\n# TYPE veildb_volume_%s %s\n", name, help, name, kind)
	}
	value := func(name, labels string, v any) { fmt.Fprintf(&b, "veildb_volume_%s{%s} %v\n", name, labels, v) }
	one := func(name, kind, help string, v any) {
		metric(name, kind, help)
		value(name, label, v)
	}
	metric("key_files", "gauge", "Files encrypted with a data key.")
	for _, k := range s.Keys {
		value("key_files", fmt.Sprintf("%s,key_version=\"%d\"", label, k.Version), k.Files)
	}
	metric("key_bytes", "gauge", "Bytes of content encrypted with a data key.")
	for _, k := range s.Keys {
		value("key_bytes", fmt.Sprintf("%s,key_version=\"%d\"", label, k.Version), k.Bytes)
	}
	if s.Names == volume.NamesEncrypted {
		metric("key_directories", "gauge", "Directories whose names are encrypted with a data key.")
		for _, k := range s.Keys {
			value("key_directories", fmt.Sprintf("%s,key_version=\"%d\"", label, k.Version), k.Names)
		}
	}
	one("files", "gauge", "Files of the volume.", s.Files)
	one("bytes", "gauge", "Bytes of content.", s.Bytes)
	one("disk_bytes", "gauge", "Bytes allocated below.", s.DiskBytes)
	one("damaged_files", "gauge", "Files without a header that stands.", s.Damaged)
	if s.Rekeyed != nil {
		one("rekeyed_timestamp_seconds", "gauge", "When all files last reached one data key.", s.Rekeyed.Unix())
	}
	if r := s.Rotation; r != nil {
		one("newest_key_version", "gauge", "Newest data key of the key file.", r.Newest)
		one("newest_key_timestamp_seconds", "gauge", "When it was made.", r.Made.Unix())
	}
	mounted := 0
	if s.Mount != nil && !s.Mount.Dead {
		mounted = 1
	}
	one("mounted", "gauge", "Whether a mount serves the volume.", mounted)
	if m := s.Mount; m != nil && m.PID != 0 {
		one("requests_total", "counter", "Requests served since the mount.", m.Requests)
		one("read_bytes_total", "counter", "Bytes read since the mount.", m.ReadBytes)
		one("written_bytes_total", "counter", "Bytes written since the mount.", m.WrittenBytes)
		one("syncs_total", "counter", "Syncs since the mount.", m.Syncs)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
