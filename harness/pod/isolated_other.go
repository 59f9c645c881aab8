//go:build !linux

package pod

import (
	"context"
	"errors"
	"io"
	"net"
)

// Unavailable returns the reason why processes cannot be isolated.
func Unavailable() error { return errors.New("only Linux has network and mount namespaces") }

func runIsolated(context.Context, Container, string, func(net.Listener) (func(), error), io.Writer) error {
	return Unavailable()
}
