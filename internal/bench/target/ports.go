package target

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// FreePorts are n ports of 127.0.0.1 that nobody listens on. They lie outside of
// the range from which the system takes ports for outgoing connections, of which
// a load makes hundreds: none of those can get one before its server does.
func FreePorts(n int) ([]int, error) {
	var out []int
	for range n {
		l, err := listenBeside()
		if err != nil {
			return nil, fmt.Errorf("find free port: %w", err)
		}
		defer l.Close() // after all are chosen, so that no two are the same
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}

// listenBeside listens on a port outside of the system's own range or, if none
// of many is free, on any.
func listenBeside() (net.Listener, error) {
	low, high := localRange()
	for range 100 {
		port := lowestPort + rand.IntN(1<<16-lowestPort)
		if port >= low && port <= high {
			continue
		}
		if l, err := net.Listen("tcp", loopback(port)); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", loopback(0))
}

// lowestPort is above those that well known services have.
const lowestPort = 15000

// localRange is the range of ports for outgoing connections.
func localRange() (low, high int) {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(b), &low, &high)
	}
	if err != nil {
		return 32768, 60999 // Linux's
	}
	return low, high
}
