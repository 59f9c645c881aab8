package fault

import (
	"errors"
	"io"
)

// openBody is the body of a response that may stay open, as a followed log does, or a connection that exec has upgraded. It
// ends with its instance.
type openBody struct {
	io.ReadCloser
	outlives func() bool // has it no longer end with its instance
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
	b.outlives()
	return b.ReadCloser.Close()
}
