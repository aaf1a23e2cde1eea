package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/atrest/audit"
	"github.com/veildb/veildb/internal/disk"
)

type auditOptions struct{ key, write, verify string }

func newVolumeAuditCommand(env *Env) *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit LOWER --write MANIFEST | --verify MANIFEST",
		Short: "Write or verify a sealed manifest of a volume",
		Long: `Encryption of files keeps them secret; it does not show when someone changes a
block, or puts an old one back. A manifest does: it vouches for each MiB of each
file, for headers, lengths, names, links, modes and owners, under a key derived
from the volume's.

Write one of a volume at rest, or of a backup of it, and verify it before the
volume is used again. The volume must not be mounted. The seal that is printed
tells this manifest from an older one that someone put back together with the
volume; note it elsewhere.

A difference of content is exit code 5, one of names or attributes alone 3.
Whatever is written through the mount, or rekeyed, needs a new manifest.`,
		Example: `  veildb volume audit /srv/db.enc --write /root/db.manifest --key ring
  veildb volume audit /backup/db.enc --verify /root/db.manifest --key ring`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.write, "write", "", "`MANIFEST` to make; it must not exist")
	f.StringVar(&o.verify, "verify", "", "`MANIFEST` to compare with")
	volumeKeyFlag(cmd, &o.key)
	return cmd
}

func (o *auditOptions) run(ctx context.Context, env *Env, lower string) error {
	if (o.write == "") == (o.verify == "") {
		return usagef("audit volume", "see: veildb volume audit --help", "give either --write or --verify")
	}
	if err := refuseKernel(lower, "audit volume", "its ciphertext, which a manifest vouches for, cannot be read through the file system",
		"convert it to a volume without --backend kernel, which can be audited"); err != nil {
		return err
	}
	lower, err := lowerOf(lower)
	if err != nil {
		return err
	}
	if o.write != "" {
		return o.runWrite(ctx, env, lower)
	}
	return o.runVerify(ctx, env, lower)
}

func (o *auditOptions) runWrite(ctx context.Context, env *Env, lower string) error {
	out, err := disk.CreatePending(o.write, 0o600)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	defer out.Close()
	v, err := openStill(ctx, env, lower, o.key, "writing manifest "+o.write)
	if err != nil {
		return err
	}
	defer v.Close()
	p := env.progress()
	s, err := audit.Write(ctx, v.Dir, &pendingWriter{out, 0}, o.progress(p))
	p.clear()
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return err
	}
	return o.tell(env, s, nil)
}

// progress shows what is read; how much there is, nobody knows before.
func (o *auditOptions) progress(p *progress) audit.Progress {
	return func(done int64, path string) { p.update(-1, "read", megabytes(done)+", "+path) }
}

// pendingWriter appends to a file that has no name yet.
type pendingWriter struct {
	f   disk.File
	off int64
}

// Write implements io.Writer.
func (w *pendingWriter) Write(b []byte) (int, error) {
	n, err := w.f.WriteAt(b, w.off)
	w.off += int64(n)
	return n, err
}

func (o *auditOptions) runVerify(ctx context.Context, env *Env, lower string) error {
	manifest, err := disk.OpenRegular(o.verify)
	if err != nil {
		return fmt.Errorf("verify manifest: %w", err)
	}
	defer manifest.Close()
	v, err := openStill(ctx, env, lower, o.key, "verifying manifest "+o.verify)
	if err != nil {
		return err
	}
	defer v.Close()
	p := env.progress()
	s, diffs, err := audit.Verify(ctx, v.Dir, manifest, o.progress(p))
	p.clear()
	if err != nil {
		return err
	}
	if err := o.tell(env, s, diffs); err != nil || len(diffs) == 0 {
		return err
	}
	e := &Error{Code: ExitCheck, Op: "verify manifest", Err: fmt.Errorf("the volume is not as it was: %s", counted(len(diffs), "difference")),
		Hint: "what was written or rekeyed since the manifest was made differs, too; else restore it from a backup"}
	for _, d := range diffs {
		if d.Kind.IsContent() {
			e.Code = ExitDamaged
		}
	}
	return e
}

// tell prints what a manifest covers, and what differs from it.
func (o *auditOptions) tell(env *Env, s audit.Summary, diffs []audit.Difference) error {
	if env.JSON {
		if diffs == nil {
			diffs = []audit.Difference{}
		}
		return printJSON(env, map[string]any{
			"volume": s.Volume, "written": s.Written, "key_version": s.KeyVersion, "names": s.Names,
			"bytes": s.Bytes, "seal": s.Seal, "differences": diffs,
		})
	}
	var out bytes.Buffer
	for _, d := range diffs {
		out.WriteString(d.Path)
		if d.Name != "" {
			fmt.Fprintf(&out, " (%s)", d.Name)
		}
		fmt.Fprintf(&out, ": %s", d.Kind)
		if d.Kind == audit.Changed {
			fmt.Fprintf(&out, " from byte %d on of the encrypted file", d.Offset)
		}
		fmt.Fprintln(&out)
	}
	what := "written"
	switch {
	case len(diffs) > 0:
		what = counted(len(diffs), "difference")
	case o.verify != "":
		what = "verified"
	}
	fmt.Fprintf(&out, "%s, %s, %s, seal %s\n", counted(s.Names, "name"), megabytes(s.Bytes), what, s.Seal)
	_, err := env.Stdout.Write(out.Bytes())
	return err
}
