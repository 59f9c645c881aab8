package faultinject

import (
	"context"
	"errors"
	"io"
)

// openBody is the body of a response that may stay open, as a followed log does, or a connection that exec has upgraded. It
// ends with its instance.
type openBody struct {
	io.ReadCloser
	closed context.CancelFunc
}

func newOpenBody(instance *Instance, body io.ReadCloser) *openBody {
	open, closed := context.WithCancel(context.Background())
	go func() {
		select {
		case <-instance.disconnected:
			_ = body.Close()
		case <-open.Done():
		}
	}()
	return &openBody{body, closed}
}

// Write writes to an upgraded connection.
func (b *openBody) Write(from []byte) (int, error) {
	connection, upgraded := b.ReadCloser.(io.Writer)
	if !upgraded {
		return 0, errors.ErrUnsupported
	}
	return connection.Write(from)
}

func (b *openBody) Close() error {
	b.closed()
	return b.ReadCloser.Close()
}
