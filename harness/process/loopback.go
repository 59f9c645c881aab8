package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"time"
)

// CheckLoopback returns an error if programs cannot connect to each other at 127.0.0.1. The loopback device is down in a
// new network namespace.
func CheckLoopback(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		defer listener.Close()
		var connection net.Conn
		if connection, err = (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", listener.Addr().String()); err == nil {
			return connection.Close()
		}
	}
	err = fmt.Errorf("no connection to 127.0.0.1: %w", err)
	if runtime.GOOS == "linux" && (errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.ENETUNREACH)) {
		return fmt.Errorf("%w: run `ip link set lo up`", err)
	}
	return err
}
