package cli

import (
	"context"
	"errors"
)

func (e *serverEngine) startCluster(context.Context, []string, map[string]string) (armServer, error) {
	return nil, errors.New("no cluster")
}
