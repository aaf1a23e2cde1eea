package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/veildb/veildb/internal/disk"
	"github.com/veildb/veildb/internal/inuse/encdb"
	"github.com/veildb/veildb/internal/inuse/gate"
)

// openRegistry opens what remembers master keys.
func (o *gateOptions) openRegistry(ctx context.Context, op string) (*encdb.Registry, error) {
	where := o.registry
	if rules, table := strings.CutPrefix(o.rules, sharedTable); where == "" && table {
		where = sharedTable + gate.RegistryTable(rules)
	} else if where == "" {
		where = o.rules + ".meks"
	}
	name, table := strings.CutPrefix(where, sharedTable)
	if !table {
		return encdb.OpenRegistry(ctx, registryFile(where))
	}
	if err := gate.CheckTableName(name); err != nil {
		return nil, usagef(op, "write --registry table:NAME", "%w", err)
	}
	r, err := encdb.OpenRegistry(ctx, &gate.SharedTable{Name: name, Backends: o.cfg.Backends})
	switch {
	case errors.Is(err, gate.ErrNoBackend):
		return nil, gateError(op, err)
	case err != nil:
		return nil, &Error{Code: ExitMissing, Op: op, Err: err, Hint: "veildb rule publish makes the table, or name a FILE with --registry"}
	}
	return r, nil
}

// A registryFile is a registry in a file, which the gates of one machine can
// share, as two do while one hands over to the other.
type registryFile string

func (f registryFile) Read(context.Context) ([]byte, error) {
	state, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read registry: %w", err)
	}
	return state, nil
}

func (f registryFile) Write(ctx context.Context, old, state []byte) error {
	lock, err := f.lock(ctx)
	if err != nil {
		return fmt.Errorf("write registry: %w", err)
	}
	defer lock.Close()
	now, err := f.Read(ctx)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return errors.New("write registry: another gate has changed it")
	}
	if err := disk.AtomicWrite(string(f), state, 0o600); err != nil {
		return fmt.Errorf("write registry: %w", err)
	}
	return nil
}

// lock waits for whoever else is writing.
func (f registryFile) lock(ctx context.Context) (*disk.FileLock, error) {
	for {
		lock, err := disk.Lock(string(f) + ".lock")
		if !errors.Is(err, disk.ErrBusy) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// registryReport logs trouble with the registry, and its end.
func registryReport(log *slog.Logger) func(error) {
	return func(err error) {
		if err != nil {
			log.Error("master keys stay as they were", "cause", err)
			return
		}
		log.Info("master keys can be read again")
	}
}
