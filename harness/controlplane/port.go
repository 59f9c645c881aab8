package controlplane

import (
	"os"

	"golang.org/x/sys/unix"
)

const loopback = "127.0.0.1"

// reservePort reserves a TCP port of the loopback device until stop is called. Only a program that sets SO_REUSEPORT can
// listen on the port. The socket itself does not listen, so connections are refused until then.
func (s *servers) reservePort() (port int, err error) {
	descriptor, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	unix.CloseOnExec(descriptor)
	s.sockets = append(s.sockets, os.NewFile(uintptr(descriptor), "port"))
	if err := unix.SetsockoptInt(descriptor, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(descriptor, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	address, err := unix.Getsockname(descriptor)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	return address.(*unix.SockaddrInet4).Port, nil
}
