package process

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
)

// FreePorts returns ports that no process is listening on. The ports are random, so that two control planes that start at the
// same time get different ports. They are below the ephemeral port range.
func FreePorts(count int) ([]int, error) {
	const first, last = 20000, 32000
	var ports []int
	var err error
	for range last - first {
		if len(ports) == count {
			return ports, nil
		}
		port := first + rand.IntN(last-first)
		if slices.Contains(ports, port) {
			continue
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			listener.Close()
			ports = append(ports, port)
		}
	}
	return nil, fmt.Errorf("cannot find %d free ports from %d to %d: %w", count, first, last, err)
}
