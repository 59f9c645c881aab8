package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/operator-assay/assay/harness/binaries"
)

// sockets returns the directory for the Unix sockets of control planes that run the given executables.
func sockets(assets string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "assay", "reserve", fmt.Sprintf("%x", sha256.Sum256([]byte(assets)))[:8]), err
}

// Reserve keeps one control plane ready for Start with Options.UseReserve. Each control plane is used only once: after
// it has stopped, Reserve starts a new one. Reserve calls ready whenever a control plane becomes available. When ctx is
// done, Reserve stops the control plane, even if it is in use, and returns.
func Reserve(ctx context.Context, ready func()) error {
	assets, err := binaries.Ensure(ctx, "", os.Stderr, Binaries...)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := reserveOne(ctx, assets, ready); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// reserveOne starts servers and sends their directory to the first process that connects. It stops the servers when the
// connection is closed. It listens before the servers have started, so that processes can wait for them.
func reserveOne(ctx context.Context, assets string, ready func()) (err error) {
	folder, err := sockets(assets)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	name := strconv.FormatInt(time.Now().UnixNano(), 36) + rand.Text()[:2] // names sort by age
	listener, err := net.Listen("unix", filepath.Join(folder, name))
	if errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("%w: the path is too long for a socket: set HOME or XDG_CACHE_HOME to a directory with a shorter path", err)
	}
	if err != nil {
		return err
	}
	defer listener.Close()
	s, err := startServers(ctx, assets)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	ready()
	user, err := listener.Accept()
	if err = errors.Join(err, listener.Close()); err != nil { // Close removes the socket
		return err
	}
	defer user.Close()
	defer context.AfterFunc(ctx, func() { _ = user.Close() })()
	if s.exited() != nil {
		return nil // the run starts its own servers
	}
	_ = json.NewEncoder(user).Encode(s.dir) // fails if the user has closed the connection
	_, _ = io.Copy(io.Discard, user)        // ends when the user closes the connection or exits
	return nil
}

// take returns the oldest servers in the reserve, or nil if there are none. It waits for servers that are starting.
func take(ctx context.Context, assets string) (*servers, error) {
	folder, err := sockets(assets)
	if err != nil {
		return nil, err
	}
	found, err := fs.Glob(os.DirFS(folder), "*") // sorted
	if err != nil {
		return nil, err
	}
	for _, name := range found {
		socket := filepath.Join(folder, name)
		reserve, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(socket) // the process that created it was killed
		}
		if err != nil {
			continue
		}
		uncancel := context.AfterFunc(ctx, func() { _ = reserve.Close() })
		taken := &servers{release: reserve.Close, isTaken: true}
		err = json.NewDecoder(reserve).Decode(&taken.dir)
		if uncancel() && err == nil {
			if taken.admin, err = clientcmd.BuildConfigFromFlags("", taken.kubeconfig()); err == nil {
				taken.admin.QPS = -1
				return taken, nil
			}
		}
		_ = reserve.Close() // another process has connected first, or the servers cannot be used
	}
	return nil, ctx.Err()
}
