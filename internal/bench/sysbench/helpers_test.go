package sysbench_test

import (
	"fmt"
	"os"
	"sync/atomic"
)

var exit = os.Exit

var databases atomic.Int64

func databaseName() string { return fmt.Sprintf("sb%d", databases.Add(1)) }
