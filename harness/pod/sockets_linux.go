package pod

import (
	"errors"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// receive waits for the helper to send the listener and the sockets. It returns an error if the helper exits.
func receive(socket *os.File) (net.Listener, *sockets, error) {
	rights := make([]byte, unix.CmsgSpace(4*(1+maxConnections)))
	_, n, _, _, err := unix.Recvmsg(int(socket.Fd()), make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) == 0 {
		return nil, nil, errors.Join(err, errors.New("the helper exited"))
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, nil, err
	}
	unconnected := &sockets{files: files[1:]}
	file := os.NewFile(uintptr(files[0]), "listener")
	defer file.Close() // net.FileListener duplicates the file descriptor
	listener, err := net.FileListener(file)
	if err != nil {
		unconnected.close()
		return nil, nil, err
	}
	return listener, unconnected, nil
}

// sockets holds unconnected sockets. They belong to the network namespace in which they were created, even if a
// process in a different namespace connects them.
type sockets struct {
	mu    sync.Mutex
	files []int
}

func (s *sockets) dial(port int) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.files) == 0 {
		return nil, net.ErrClosed
	}
	last := len(s.files) - 1
	if err := unix.Connect(s.files[last], &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err // keep the socket: it can be connected again after a refusal
	}
	file := os.NewFile(uintptr(s.files[last]), "connection")
	s.files = s.files[:last]
	defer file.Close() // net.FileConn duplicates the file descriptor
	return net.FileConn(file)
}

func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range s.files {
		_ = unix.Close(file)
	}
	s.files = nil
}
