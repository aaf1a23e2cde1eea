package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/atrest/check"
	"github.com/veildb/veildb/internal/atrest/volume"
)

type volumeCheck struct {
	key    string
	repair bool
	read   bool
	zeros  bool
}

func newVolumeCheckCommand(env *Env) *cobra.Command {
	var o volumeCheck
	cmd := &cobra.Command{
		Use:   "check LOWER --key KEYFILE",
		Short: "Check a volume's structure, and repair it when asked to",
		Long: `Authenticate the configuration of a volume and the header of each file, and
look for what interrupted programs and copies below the mount leave behind.
With --read read all content as well: that finds what the disk cannot read any
more. It cannot find changes of content; see veildb volume audit. --zeros
reports pages that are zeros although they were written: a failing disk or a bad
copy leaves such pages, and so does a program that zeroes a page in parts.

Nothing is changed without --repair, and a mounted volume can be checked. What
--repair does is said for each problem, and needs the volume unmounted. It never
makes up content. The exit code is 5 if there is damage that stays, 3 if there
is anything else.`,
		Example: `  veildb volume check /srv/db.enc --key ring
  veildb volume check /srv/db.enc --key ring --repair`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.repair, "repair", false, "repair what can be repaired without guessing")
	f.BoolVar(&o.read, "read", false, "read all content, too")
	f.BoolVar(&o.zeros, "zeros", false, "read all content, and report pages of zeros that were written")
	volumeKeyFlag(cmd, &o.key)
	return cmd
}

func (o *volumeCheck) run(ctx context.Context, env *Env, lower string) error {
	if k, err := findKernel(lower); err != nil {
		return err
	} else if k != nil {
		return o.checkKernel(ctx, env, k)
	}
	lower, err := lowerOf(lower)
	if err != nil {
		return err
	}
	v, restored, err := o.open(ctx, env, lower)
	if err != nil {
		return err
	}
	defer v.Close()
	p := env.progress()
	r, err := check.Run(ctx, v.Dir, check.Options{Repair: o.repair, Read: o.read, Zeros: o.zeros, Progress: func(files int) {
		p.update(-1, "check", counted(files, "file"))
	}})
	p.clear()
	if err != nil {
		return err
	}
	if restored {
		r.Problems = append([]check.Problem{{
			Path: ".veildb/config", What: "damaged or missing", Severity: check.Damage, Remedy: "put its copy in its place", Repaired: true,
		}}, r.Problems...)
	}
	if err := o.tell(env, r); err != nil {
		return err
	}
	return o.verdict(r)
}

// open opens the volume: alone to repair it, beside others to look at it.
func (o *volumeCheck) open(ctx context.Context, env *Env, lower string) (v *openedVolume, restored bool, err error) {
	if _, err := keyPath(o.key); err != nil {
		return nil, false, err
	}
	if !o.repair {
		v, err = viewVolume(ctx, env, lower, o.key)
		return v, false, err
	}
	v, err = openVolume(ctx, env, lower, o.key, "repairing")
	if !errors.Is(err, volume.ErrCorrupt) {
		return v, false, err
	}
	held := new(openedVolume)
	rerr := volume.RestoreConfig(lower, held.keys(ctx, env, o.key))
	if held.ring != nil {
		held.ring.Close()
	}
	if rerr != nil {
		return nil, false, &Error{Err: errors.Join(err, rerr), Hint: "restore it from a backup"}
	}
	v, err = openVolume(ctx, env, lower, o.key, "repairing")
	return v, true, err
}

func (o *volumeCheck) tell(env *Env, r *check.Report) error {
	if env.JSON {
		if r.Problems == nil {
			r.Problems = []check.Problem{}
		}
		return printJSON(env, r)
	}
	for _, p := range r.Problems {
		where := p.Path
		if p.Name != "" {
			where += " (" + p.Name + ")"
		}
		fmt.Fprintf(env.Stdout, "%s: %s: %s", p.Severity, where, p.What)
		switch {
		case p.Repaired:
			fmt.Fprintf(env.Stdout, "; repaired: %s", p.Remedy)
		case p.Remedy != "":
			fmt.Fprintf(env.Stdout, "; --repair would %s", p.Remedy)
		}
		fmt.Fprintln(env.Stdout)
	}
	fmt.Fprintf(env.Stdout, "%s, %s of content, %s\n", counted(r.Files, "file"), megabytes(r.Bytes), counted(len(r.Problems), "problem"))
	return nil
}

// verdict is the error that what is left of the problems amounts to.
func (o *volumeCheck) verdict(r *check.Report) error {
	left, damage := 0, 0
	for _, p := range r.Problems {
		if p.Repaired {
			continue
		}
		left++
		if p.Severity == check.Damage {
			damage++
		}
	}
	switch {
	case damage > 0:
		return &Error{Code: ExitDamaged, Op: "check volume", Err: fmt.Errorf("%s, %d of them damage", counted(left, "problem"), damage),
			Hint: "restore the files it names from a backup"}
	case left > 0:
		return &Error{Code: ExitCheck, Op: "check volume", Err: fmt.Errorf("%s, none of them damage", counted(left, "problem")),
			Hint: "see what is said of each"}
	}
	return nil
}
