package fault

import (
	"errors"
	"io"
)

// openBody is the body of a response that can stay open, such as a log stream or an upgraded exec connection. It is
// closed when its instance terminates.
type openBody struct {
	io.ReadCloser
	outlives func() bool // cancels the AfterFunc that closes the body when the instance ends
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
