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

// CheckLoopback returns an error if local programs cannot connect through host, which is localhost or a loopback
// address. The loopback device is down in a new network namespace, and some containers cannot resolve localhost.
func CheckLoopback(ctx context.Context, host string) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err == nil {
		defer listener.Close()
		var connection net.Conn
		if connection, err = (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", listener.Addr().String()); err == nil {
			return connection.Close()
		}
	}
	err = fmt.Errorf("cannot connect to %s: %w", host, err)
	if _, unknown := errors.AsType[*net.DNSError](err); unknown {
		return fmt.Errorf("%w: add \"127.0.0.1 %s\" to /etc/hosts", err, host)
	}
	if runtime.GOOS == "linux" && (errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.ENETUNREACH)) {
		return fmt.Errorf("%w: run `ip link set lo up`", err)
	}
	return err
}
