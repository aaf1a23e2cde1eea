package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/spf13/cobra"
)

// newBenchRelayCommand is "veildb bench relay", which studies start: a process
// that does for each connection what no process in its place could leave out.
func newBenchRelayCommand(env *Env) *cobra.Command {
	var listen, backend string
	cmd := &cobra.Command{
		Use:    "relay",
		Short:  "Pass bytes on between clients and a server",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ln, err := net.Listen("tcp", listen)
			if err != nil {
				return &Error{Code: ExitMissing, Op: "start relay", Err: err}
			}
			fmt.Fprintf(env.Stdout, "listening on %s\n", ln.Addr())
			return relay(cmd.Context(), ln, backend)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "take connections at `ADDR`")
	cmd.Flags().StringVar(&backend, "backend", "", "`ADDR` to pass them on to")
	return cmd
}

// relay passes connections on until ctx is done.
func relay(ctx context.Context, ln net.Listener, backend string) error {
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		client, err := ln.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept connection: %w", err)
		}
		wg.Go(func() { relayConn(ctx, client, backend) })
	}
}

func relayConn(ctx context.Context, client net.Conn, backend string) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", backend)
	if err != nil {
		return
	}
	defer server.Close()
	end := func() { client.Close(); server.Close() }
	stop := context.AfterFunc(ctx, end)
	defer stop()
	var wg sync.WaitGroup
	for _, way := range [2][2]net.Conn{{client, server}, {server, client}} {
		wg.Go(func() {
			defer end()
			// Read and write, as proxies do; the kernel's own way to pass data
			// on, which io.Copy would take, is made for larger pieces.
			io.CopyBuffer(struct{ io.Writer }{way[0]}, struct{ io.Reader }{way[1]}, make([]byte, 16<<10))
		})
	}
	wg.Wait()
}
