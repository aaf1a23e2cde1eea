package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/atrest/rekey"
)

type rekeyOptions struct {
	key      string
	throttle int64 // MB/s
}

func newVolumeRekeyCommand(env *Env) *cobra.Command {
	var o rekeyOptions
	cmd := &cobra.Command{
		Use:   "rekey LOWER|MOUNTPOINT [--key KEYFILE]",
		Short: "Re-encrypt a volume with the newest data key",
		Long: `Re-encrypt each file of a volume that has not got the newest data key of the
key file. Make a new one first with: veildb key rotate KEYFILE --dek

Each file is copied into a new one under the new key, which then takes its
place; the disk needs room for the largest of them. At any moment, also after a
crash or in a copy that something makes of LOWER meanwhile, a file has one key
throughout. An interrupted run is gone on with by the same command.

A mounted volume is rekeyed by its mount while programs use it; its key file is
the mount's. Each file waits for a moment when its successor takes its place.

The data is safe from who knows the old data key only when copies under it are
gone, too: backups, snapshots, and blocks that the disk has not overwritten.`,
		Example: `  veildb key rotate /etc/veildb/ring --dek
  veildb volume rekey /srv/db.enc --key /etc/veildb/ring
  veildb volume rekey /srv/db --throttle 50            # mounted`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args[0]) },
	}
	cmd.Flags().Int64Var(&o.throttle, "throttle", 0, "re-encrypt at `MB` a second at most; 0 does not limit")
	volumeKeyFlag(cmd, &o.key)
	return cmd
}

func (o *rekeyOptions) run(ctx context.Context, env *Env, lower string) error {
	if o.throttle < 0 || o.throttle > maxThrottle {
		return usagef("rekey volume", "see: veildb volume rekey --help", "--throttle %d is not between 0 and %d", o.throttle, maxThrottle)
	}
	if err := refuseKernel(lower, "rekey volume", "the kernel cannot change the key of a file that exists",
		"convert it into a new one under the newest key: veildb volume convert --in DIR --out NEWDIR --backend kernel"); err != nil {
		return err
	}
	lower, err := lowerOf(lower)
	if err != nil {
		return err
	}
	p, started := env.progress(), time.Now()
	if s, err := o.runMounted(ctx, env, lower, p); !errors.Is(err, errNoMount) {
		p.clear()
		if err != nil {
			return err
		}
		return tellRekey(env, s)
	}
	v, err := openVolume(ctx, env, lower, o.key, "rekeying")
	if err != nil {
		return err
	}
	defer v.Close()
	s, err := rekey.Run(ctx, v.Dir, rekey.Options{
		Rate:     o.throttle * 1e6,
		Progress: func(r rekey.Progress) { showRekey(p, r, time.Since(started)) },
		Note: func(path, why string) {
			p.clear()
			env.note(path + ": " + why)
		},
	})
	p.clear()
	if err != nil {
		return err
	}
	return tellRekey(env, s)
}

// runMounted has the mount of lower do it. The error matches errNoMount if
// there is none.
func (o *rekeyOptions) runMounted(ctx context.Context, env *Env, lower string, p *progress) (s rekey.Summary, err error) {
	started := time.Now()
	err = askMount(ctx, lower, controlRequest{Do: askRekey, Rate: o.throttle * 1e6}, &s, func(data []byte, note string) {
		var r rekey.Progress
		if json.Unmarshal(data, &r) == nil {
			showRekey(p, r, time.Since(started))
		}
		if note != "" {
			p.clear()
			env.note(note)
		}
	})
	return s, err
}

func showRekey(p *progress, r rekey.Progress, spent time.Duration) {
	rate := float64(r.Bytes) / max(spent.Seconds(), 0.001) / 1e6
	p.update(float64(r.Bytes)/float64(max(r.AllBytes, 1)), "rekey", fmt.Sprintf("%.0f MB/s, %d of %d files", rate, r.Files, r.AllFiles))
}

// tellRekey prints what a run did; files that stay behind are a check that does
// not hold.
func tellRekey(env *Env, s rekey.Summary) error {
	if env.JSON {
		if err := printJSON(env, s); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(env.Stdout, "%s, %s, re-encrypted with data key %d; %d had it already\n", counted(s.Files, "file"), megabytes(s.Bytes), s.Version, s.Current)
	}
	if s.Left > 0 {
		return &Error{Code: ExitCheck, Op: "rekey volume", Err: errors.New(counted(s.Left, "file keeps", "files keep") + " an older key"), Hint: "see the notes above"}
	}
	return nil
}
