package pod

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/operator-assay/assay/harness/process"
)

// Unavailable returns the reason why processes cannot be isolated on this machine, or nil if they can.
var Unavailable = sync.OnceValue(func() error {
	folder, err := process.MakeTempDir("assay-pod-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	probe := setup{Path: "/proc/self/exe", Hostname: "probe", Mounts: map[string]string{"/assay-probe/mount": folder}}
	command, socket, err := probe.command(context.Background(), folder)
	if err != nil {
		return err
	}
	defer socket.Close()
	command.Args = append(command.Args, probeOnly)
	if out, err := command.CombinedOutput(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); exited {
			err = errors.New(strings.TrimSpace(string(out)))
		}
		if value, _ := os.ReadFile("/proc/sys/" + restriction); strings.TrimSpace(string(value)) == "1" {
			err = fmt.Errorf("%w (on Ubuntu, run sudo sysctl -w %s=0 to allow it)", err, restriction)
		}
		return fmt.Errorf("cannot create network, mount and UTS namespaces on this machine: %w", err)
	}
	return nil
})

// restriction is a sysctl that is 1 by default on Ubuntu.
const restriction = "kernel/apparmor_restrict_unprivileged_userns"

// setup is the helper's input.
type setup struct {
	Path      string
	Arguments []string
	Env       []string
	Hostname  string
	Mounts    map[string]string // source folders, by mount path
	Files     map[string]string // source files, by mount path
	// Connections is the number of sockets that the helper creates for Dial.
	Connections int
}

// runIsolated re-executes this program as a helper in new namespaces. The helper mounts the files, listens on the API
// server's port, and passes the listener back to this process. Once this process is serving on the listener, the helper
// execs the container's binary.
func runIsolated(ctx context.Context, c Container, folder string, serve func(net.Listener) (func(), error), log io.Writer) error {
	credentials, err := certificates()
	if err != nil {
		return err
	}
	s, err := c.setup(folder, credentials)
	if err != nil {
		return err
	}
	command, socket, err := s.command(ctx, folder)
	if err != nil {
		return err
	}
	defer socket.Close()
	if c.Remount != nil {
		mounts := &mounts{folders: s.Mounts}
		defer mounts.close()
		c.Remount(mounts.change)
	}
	err = c.start(command, log)
	_ = command.ExtraFiles[0].Close() // only the helper needs its end
	if err != nil {
		return err
	}
	shut, err := serveFrom(socket, credentials, serve, c.Reach)
	defer shut()
	if err != nil && ctx.Err() == nil {
		_ = process.KillGroup(command)
		return errors.Join(c.wait(ctx, command), err)
	}
	return c.wait(ctx, command)
}

// serveFrom receives the listener from the helper and serves the API server on it. It calls reach with a Dial function
// for the container's network, and then tells the helper to start the container's process. The caller must call shut,
// even after an error.
func serveFrom(socket *os.File, credentials Certificates, serve func(net.Listener) (func(), error), reach func(Dial)) (shut func(), err error) {
	listener, unconnected, err := receive(socket)
	if err != nil {
		return func() {}, fmt.Errorf("the process could not be isolated: %w", err)
	}
	secured, err := credentials.listen(listener)
	if err != nil {
		return unconnected.close, err
	}
	if reach != nil {
		reach(unconnected.dial)
	}
	stop, err := serve(secured)
	if err != nil {
		return unconnected.close, err
	}
	shut = func() {
		stop()
		unconnected.close()
	}
	if _, err := socket.Write([]byte{0}); err != nil {
		return shut, fmt.Errorf("the process could not be started: %w", err)
	}
	return shut, nil
}

// setup writes the source files of all mounts to folder, and returns the helper's input.
func (c Container) setup(folder string, credentials Certificates) (setup, error) {
	s := setup{Path: c.Path, Hostname: c.hostname(), Mounts: map[string]string{}, Files: map[string]string{}}
	if c.Reach != nil {
		s.Connections = maxConnections
	}
	kubeconfig := filepath.Join(folder, "kubeconfig")
	s.Arguments = c.arguments(kubeconfig)
	api := []string{"TMPDIR=" + tmp}
	for name, value := range ServiceEnv {
		api = append(api, name+"="+value)
	}
	mounts := map[string]Files{}
	if home, err := os.UserHomeDir(); c.Kubeconfig {
		api = append(api, "KUBECONFIG="+kubeconfig)
	} else if _, missing := os.ReadDir(filepath.Join(home, ".kube")); err == nil && missing == nil {
		mounts[filepath.Join(home, ".kube")] = Files{} // some clients prefer the user's kubeconfig to the ServiceAccount
	}
	s.Env = c.environment(api...)
	account := Files{"token": []byte(token), "ca.crt": credentials.CA, "namespace": []byte(c.Namespace)}
	for target, files := range c.Mounts {
		mounts[filepath.Clean(target)] = files
	}
	maps.Copy(account, mounts[serviceAccountFolder]) // a projected volume may not contain the CA
	mounts[serviceAccountFolder] = account
	for target, files := range mounts {
		source := filepath.Join(folder, fmt.Sprintf("mount-%d", len(s.Mounts)))
		s.Mounts[target] = source
		if err := files.write(source); err != nil {
			return setup{}, err
		}
	}
	for target := range c.Files {
		s.Files[filepath.Clean(target)] = filepath.Join(folder, "files", target)
	}
	if err := c.Files.write(filepath.Join(folder, "files")); err != nil {
		return setup{}, err
	}
	return s, writeKubeconfig(kubeconfig, "https://127.0.0.1:"+apiPort, credentials.CA)
}

// command returns the command that starts the helper, and the socket on which the helper sends the listener.
func (s setup) command(ctx context.Context, folder string) (*exec.Cmd, *os.File, error) {
	encoded, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(folder, "setup.json")
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		return nil, nil, err
	}
	sockets, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	command := exec.CommandContext(ctx, "/proc/self/exe")
	command.Args = []string{helperName, file}
	command.ExtraFiles = []*os.File{os.NewFile(uintptr(sockets[1]), "helper")}
	process.Isolate(command)
	command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID
	command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	// Pdeathsig kills PID 1 of the PID namespace when this process exits for any reason. The kernel then kills all other
	// processes in the namespace.
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return command, os.NewFile(uintptr(sockets[0]), "pod"), nil
}
