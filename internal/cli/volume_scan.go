package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/atrest/scan"
)

type scanOptions struct {
	key         string
	canaries    []string
	canaryFiles []string
	workers     int
}

func newVolumeScanCommand(env *Env) *cobra.Command {
	var o scanOptions
	cmd := &cobra.Command{
		Use:   "scan LOWER",
		Short: "Look for plaintext in a volume",
		Long: `Read everything below LOWER as it lies on the disk and look for what is not
ciphertext: files without the header of an encrypted file, files that lie beside
the tree, starts of known formats, readable text, data units of 4096 bytes whose
bytes are not spread like random ones, and canaries: strings that you know to be
in the data. Canaries are also looked for in UTF-16.

A mounted volume can be scanned. Without a key file headers are checked against
damage only; with one they are authenticated. What is found is told by file and
offset, never by content; the exit code is then 3. Compressed or otherwise
random plaintext without a canary cannot be told from ciphertext.

A canary on the command line can be seen by other users of the machine while
the scan runs; --canary-file reads them from a file, one a line.`,
		Example: `  veildb volume scan /srv/db.enc --canary 'Erika Mustermann'
  veildb volume scan /srv/db.enc --canary-file canaries.txt --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args[0]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.canaries, "canary", nil, "`STRING` that must not be found; may be given several times")
	f.StringArrayVar(&o.canaryFiles, "canary-file", nil, "`FILE` of such strings, one a line")
	f.IntVar(&o.workers, "workers", 0, "`N` parts of files at once; 0 suits the machine")
	volumeKeyFlag(cmd, &o.key)
	return cmd
}

func (o *scanOptions) run(ctx context.Context, env *Env, lower string) error {
	if err := refuseKernel(lower, "scan volume", "its ciphertext cannot be read through the file system",
		"see what is encrypted with: veildb volume check DIR --key KEYFILE"); err != nil {
		return err
	}
	canaries, err := o.read()
	if err != nil {
		return err
	}
	lower, err = lowerOf(lower)
	if err != nil {
		return err
	}
	v, err := viewVolume(ctx, env, lower, o.key)
	if err != nil {
		return err
	}
	defer v.Close()
	p := env.progress()
	r, err := scan.Run(ctx, v.Dir, scan.Options{Canaries: canaries, Workers: o.workers, Progress: func(done, all int64) {
		p.update(float64(done)/float64(max(all, 1)), "scan", megabytes(all))
	}})
	p.clear()
	if err != nil {
		return err
	}
	if env.JSON {
		err = printJSON(env, r)
	} else {
		o.tell(env, r)
	}
	if err == nil && r.Total > 0 {
		return &Error{Code: ExitCheck, Op: "scan volume", Err: errors.New(counted(r.Total, "place is", "places are") + " not like ciphertext"),
			Hint: "look at each file it names; what lies in the tree without a header was put there below the mount"}
	}
	return err
}

// read returns the canaries of the options and of the files they name.
func (o *scanOptions) read() ([][]byte, error) {
	var list [][]byte
	for _, c := range o.canaries {
		list = append(list, []byte(c))
	}
	for _, name := range o.canaryFiles {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read canaries: %w", err)
		}
		for line := range bytes.Lines(data) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
				list = append(list, line)
			}
		}
	}
	return list, nil
}

func (o *scanOptions) tell(env *Env, r *scan.Report) {
	for _, f := range r.Findings {
		fmt.Fprintf(env.Stdout, "%s: at %d: %s", f.File, f.Offset, f.Kind)
		if f.Detail != "" {
			fmt.Fprintf(env.Stdout, ", %s", f.Detail)
		}
		if f.Bytes > 0 {
			fmt.Fprintf(env.Stdout, ", %d bytes", f.Bytes)
		}
		if f.More > 0 {
			fmt.Fprintf(env.Stdout, ", and %d more", f.More)
		}
		fmt.Fprintln(env.Stdout)
	}
	fmt.Fprintf(env.Stdout, "%s, %s, %s judged, %d too short or never written: ", counted(r.Files, "file"), megabytes(r.Bytes), counted(r.Units, "data unit"), r.Unjudged)
	if r.Total == 0 {
		fmt.Fprintln(env.Stdout, "clean")
	} else {
		fmt.Fprintln(env.Stdout, counted(r.Total, "finding"))
	}
}
