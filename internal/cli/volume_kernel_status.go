package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/atrest/fscrypt"
)

// kernelStatus is what status tells of a directory that the kernel encrypts; it
// is the JSON output, too.
type kernelStatus struct {
	Lower         string           `json:"lower"`
	Backend       string           `json:"backend"`
	ID            string           `json:"id"`
	Created       time.Time        `json:"created"`
	KeyVersion    uint32           `json:"key_version"`
	KeyIdentifier string           `json:"key_identifier"`
	Contents      string           `json:"contents"`
	Names         string           `json:"names"`
	Key           fscrypt.KeyState `json:"key"`
	Mounts        []string         `json:"mounts"`
	FileSystem    string           `json:"file_system"`
	Device        string           `json:"device"`
	Cipher        fscrypt.Cipher   `json:"cipher"`
	fscrypt.Tree
	Rotation *rotation `json:"rotation,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
}

// showKernel is status for k.
func (o *statusOptions) showKernel(ctx context.Context, env *Env, k *kernelVolume) error {
	c := k.Config
	s := &kernelStatus{
		Lower: k.home, Backend: backendKernel, ID: fmt.Sprintf("%x", c.ID), Created: c.Created, KeyVersion: c.KeyVersion,
		KeyIdentifier: k.Policy.KeyID.String(), Mounts: append([]string{}, k.mounts...),
		FileSystem: k.file.Type, Device: k.file.Source, Cipher: fscrypt.FindCipher(),
	}
	s.Contents, s.Names = k.Policy.Cipher()
	var err error
	if s.Key, err = k.State(); err != nil {
		return err
	}
	if s.Tree, err = k.Count(ctx); err != nil {
		return err
	}
	if s.Rotation, err = readRotation(o.key); err != nil {
		return err
	}
	s.warn(k)
	switch {
	case env.JSON:
		return printJSON(env, s)
	case o.prometheus:
		return s.writeMetrics(env.Stdout)
	}
	return s.writeText(env.Stdout)
}

func (s *kernelStatus) warn(k *kernelVolume) {
	add := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	switch {
	case s.Cipher.Driver == "":
		add("it cannot be told whether the kernel encrypts with AES instructions")
	case !s.Cipher.Accelerated:
		add("the kernel encrypts without AES instructions (%s), at a multiple of the cost: on x86 it needs CONFIG_CRYPTO_AES_NI_INTEL, on arm64 CONFIG_CRYPTO_AES_ARM64_CE_BLK", s.Cipher.Driver)
	}
	if s.Key == fscrypt.KeyIncomplete {
		add("locked, but files that are open keep their keys; used by: %s", strings.Join(k.userNames(), ", "))
	}
	if k.FromCopy {
		add("the configuration is read from its copy; to put that in place: veildb volume check DIR --repair")
	}
	if s.Rotation != nil && s.Rotation.Newest > s.KeyVersion {
		add("data key %d is not the newest, %d: a directory that the kernel encrypts keeps its key; to change it, convert it", s.KeyVersion, s.Rotation.Newest)
	}
}

func (s *kernelStatus) writeText(w io.Writer) error {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", label, fmt.Sprintf(format, args...))
	}
	line("volume", "%s", s.Lower)
	line("id", "%s", s.ID)
	line("backend", "kernel, %s on %s; made %s", s.FileSystem, s.Device, s.Created.Format(time.DateOnly))
	line("policy", "version 2, contents %s, names %s", s.Contents, s.Names)
	line("cipher", "%s", s.Cipher.Driver)
	line("files", "%s in %s, %s of content, %s on disk", counted(s.Files, "file"), counted(s.Directories, "directory", "directories"), megabytes(s.Bytes), megabytes(s.DiskBytes))
	line(fmt.Sprintf("data key %d", s.KeyVersion), "identifier %s", s.KeyIdentifier)
	if r := s.Rotation; r != nil {
		line("newest key", "%d, made %s", r.Newest, r.Made.Format(time.DateTime))
		if r.NextDue != nil {
			line("rotation due", "%s", r.NextDue.Format(time.DateTime))
		}
	}
	switch s.Key {
	case fscrypt.KeyPresent:
		line("key", "present: unlocked")
	case fscrypt.KeyIncomplete:
		line("key", "incompletely removed")
	default:
		line("key", "absent: locked")
	}
	if len(s.Mounts) > 0 {
		line("mounted", "on %s", strings.Join(s.Mounts, ", "))
	}
	for _, warning := range s.Warnings {
		line("WARNING", "%s", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMetrics writes s in the text format of Prometheus, under the names of
// other volumes where they mean the same.
func (s *kernelStatus) writeMetrics(w io.Writer) error {
	var b strings.Builder
	gauge := func(name, help, labels string, v any) {
		fmt.Fprintf(&b, "# HELP veildb_volume_%s %s\n# TYPE veildb_volume_%s gauge\nveildb_volume_%s{volume=%q%s} %v\n", name, help, name, name, s.ID, labels, v)
	}
	number := map[bool]int{true: 1}
	gauge("kernel_info", "A volume that the kernel encrypts.", fmt.Sprintf(",contents=%q,names=%q,driver=%q", s.Contents, s.Names, s.Cipher.Driver), 1)
	gauge("kernel_accelerated", "Whether the kernel encrypts with AES instructions.", "", number[s.Cipher.Accelerated])
	gauge("kernel_locked", "Whether the kernel has no key of it at all.", "", number[s.Key == fscrypt.KeyAbsent])
	gauge("key_files", "Files encrypted with a data key.", fmt.Sprintf(",key_version=\"%d\"", s.KeyVersion), s.Files)
	gauge("key_bytes", "Bytes of content encrypted with a data key.", fmt.Sprintf(",key_version=\"%d\"", s.KeyVersion), s.Bytes)
	gauge("files", "Files of the volume.", "", s.Files)
	gauge("bytes", "Bytes of content.", "", s.Bytes)
	gauge("disk_bytes", "Bytes allocated below.", "", s.DiskBytes)
	if r := s.Rotation; r != nil {
		gauge("newest_key_version", "Newest data key of the key file.", "", r.Newest)
		gauge("newest_key_timestamp_seconds", "When it was made.", "", r.Made.Unix())
	}
	gauge("mounted", "Whether the volume can be read.", "", number[s.Key == fscrypt.KeyPresent])
	_, err := io.WriteString(w, b.String())
	return err
}
