package run

import (
	"context"
	"database/sql"
)

// LoadConfig is one plain load run, as "veildb bench sysbench WORKLOAD run"
// does it.
type LoadConfig struct {
	Workload  Workload
	DB        *sql.DB
	Terminals int
	Seed      uint64
	Window
	// Ready, if set, is called when all terminals are open, before the load
	// starts.
	Ready func()
}

// Load opens the terminals, puts one window of load on the database and closes
// them. Its result and errors are those of Crew.Run; after an interruption the
// result covers the load up to it.
func Load(ctx context.Context, cfg LoadConfig) (LoadResult, error) {
	crew, err := OpenCrew(ctx, cfg.Workload, cfg.DB, cfg.Terminals, cfg.Seed)
	if err != nil {
		return LoadResult{}, err
	}
	if cfg.Ready != nil {
		cfg.Ready()
	}
	res, err := crew.Run(ctx, cfg.Window)
	if closeErr := crew.Close(); err == nil {
		err = closeErr // else it follows from err: a server gone fails every terminal
	}
	return res, err
}
