package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/veildb/veildb/internal/atrest/fscrypt"
)

// checkKernel is check for k: the configuration against the key file, and the
// policy of everything below.
func (o *volumeCheck) checkKernel(ctx context.Context, env *Env, k *kernelVolume) error {
	if o.read || o.zeros {
		return usagef("check volume", "leave it out; reading the files themselves does the same",
			"--read and --zeros are for volumes that this program encrypts")
	}
	ring, err := openKeyring(ctx, env, o.key)
	if err != nil {
		return err
	}
	defer ring.Close()
	key, err := k.Config.Key(ring)
	if err != nil {
		return fmt.Errorf("check volume: %w", err)
	}
	key.Close()
	restored := false
	if k.FromCopy && o.repair {
		if err := k.Restore(ring); err != nil {
			return fmt.Errorf("check volume: %w", err)
		}
		restored = true
	}
	tree, problems, err := k.Check(ctx)
	if err != nil {
		return fmt.Errorf("check volume: %w", err)
	}
	state, err := k.State()
	if err != nil {
		return err
	}
	if k.FromCopy && !restored {
		problems = append(problems, fscrypt.Problem{Path: ".", What: "configuration damaged or missing; --repair would put its copy in its place"})
	}
	if env.JSON {
		err = printJSON(env, map[string]any{
			"backend": backendKernel, "tree": tree, "locked": state != fscrypt.KeyPresent, "restored": restored,
			"problems": append([]fscrypt.Problem{}, problems...),
		})
	} else {
		o.tellKernel(env, tree, problems, state, restored)
	}
	if err == nil && len(problems) > 0 {
		return &Error{Code: ExitCheck, Op: "check volume", Err: errors.New(counted(len(problems), "problem")),
			Hint: "what is not encrypted was put there from below, or lies on another file system: move it away, copy it back"}
	}
	return err
}

func (o *volumeCheck) tellKernel(env *Env, tree fscrypt.Tree, problems []fscrypt.Problem, state fscrypt.KeyState, restored bool) {
	if restored {
		fmt.Fprintln(env.Stdout, "configuration: damaged or missing; repaired: put its copy in its place")
	}
	for _, p := range problems {
		fmt.Fprintf(env.Stdout, "%s: %s\n", p.Path, p.What)
	}
	fmt.Fprintf(env.Stdout, "%s, %s, %s of content, %s\n", counted(tree.Files, "file"), counted(tree.Directories, "directory", "directories"), megabytes(tree.Bytes), counted(len(problems), "problem"))
	if state != fscrypt.KeyPresent {
		fmt.Fprintln(env.Stdout, "locked: which key each file has shows only after veildb volume mount")
	}
}
