// Package pod runs an operator's binary as if it were running in its Pod. An operator that was written for a cluster
// can then run in a test without additional flags, wrappers or patches.
//
// On Linux each process runs in its own network, mount, UTS and PID namespace. This does not require privileges. As a
// result, several instances can listen on the same port, and each instance has its Pod's hostname. Files are mounted at
// the same paths as in a Pod: the ServiceAccount token, ConfigMaps, Secrets and emptyDirs. The variables
// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT point to a port inside the network namespace on which the caller
// of Run serves the API:
//
//	err := pod.Run(ctx, pod.Container{Path: "bin/manager"}, func(api net.Listener) (shut func(), err error) {
//		return fault.Serve(api, config)
//	}, log)
//
// Each process has a private /tmp that contains only what is mounted there. Operators often write certificates,
// sockets and lock files with fixed names to /tmp. ~/.kube is empty unless Container.Kubeconfig is set.
//
// Each process is PID 1 of its PID namespace. When it exits, all of its children are killed, even if they have left
// its process group.
//
// If Unavailable returns an error, the process runs on the host network. KUBECONFIG then points to the API server,
// HOSTNAME is the name of the Pod, and TMPDIR is a private folder. Mounted files are written to other folders, and the
// mount paths in the arguments and variables are replaced. The files of the ServiceAccount are missing. Flags that
// enable leader election are removed unless another flag sets its namespace. Run only one process at a time in this
// mode.
//
// There are some differences from a real Pod:
//   - The root file system belongs to the host.
//   - The process runs as root of a user namespace and has no privileges outside of it.
//   - Memory and CPU are not limited.
//   - The network contains only the process itself and the API server.
package pod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/process"
)

// Container describes a process as a container in a Pod.
type Container struct {
	// Path is the path of the binary on this machine.
	Path string
	// Arguments are the binary's arguments. {kubeconfig} is replaced with the path of a kubeconfig file.
	Arguments []string
	// Env contains NAME=value entries. The process inherits only essential variables, such as PATH, from this machine.
	Env []string
	// Namespace is the Pod's namespace, which is stored in a file next to the ServiceAccount token.
	Namespace string
	// Hostname is the Pod's hostname, and the value of HOSTNAME unless Env sets that variable. It is truncated to 63
	// characters. Defaults to this machine's hostname.
	Hostname string
	// Mounts maps mount paths to the files in the mounted folder. The folder can be empty, like an emptyDir.
	Mounts map[string]Files
	// Files maps mount paths to single files. As with a subPath, other files in the same folders stay visible.
	Files Files
	// Folder is the folder in which temporary files are created. Defaults to os.TempDir().
	Folder string
	// Kubeconfig sets KUBECONFIG in an isolated process. The variable is always set if the process is not isolated.
	Kubeconfig bool
	// Reach, if not nil, is called just before the process starts, with a function that connects to the process's ports.
	Reach func(Dial)
	// Remount, if not nil, is called just before an isolated process starts, with a function that replaces the files in
	// a mounted folder.
	Remount func(Remount)
}

// Remount replaces all files in a mounted folder, as a kubelet does. It does nothing after the process has exited.
type Remount func(folder string, files Files) error

// Dial connects to one of the process's ports. It returns ECONNREFUSED while the process is not listening on that port.
// At most maxConnections connections to an isolated process can be opened.
type Dial func(port int) (net.Conn, error)

// maxConnections limits the connections to an isolated process over its lifetime. Each uses a socket that the helper
// created in the network namespace in advance, so that no proxy has to run there.
const maxConnections = 64

const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// apiPort is the API server's port in the network namespace.
const apiPort = "6443"

// ServiceEnv holds the variables of an isolated process that point to the API server.
var ServiceEnv = map[string]string{
	"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": apiPort, "KUBERNETES_SERVICE_PORT_HTTPS": apiPort,
}

// Run runs the container until ctx is done, and then kills the process and its children and returns nil. It returns an
// error if the process exits before that, regardless of its exit code. serve starts serving the API server on the given
// listener and returns a function that stops it.
func Run(ctx context.Context, c Container, serve func(net.Listener) (shut func(), err error), log io.Writer) error {
	var err error
	if c.Path, err = exec.LookPath(c.Path); err != nil {
		return err
	}
	if c.Path, err = filepath.Abs(c.Path); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(c.Folder, "assay-pod-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if Unavailable() != nil {
		return runOnHost(ctx, c, folder, serve, log)
	}
	return runIsolated(ctx, c, folder, serve, log)
}

func (c Container) arguments(kubeconfig string) []string {
	var arguments []string
	for _, argument := range c.Arguments {
		arguments = append(arguments, strings.ReplaceAll(argument, "{kubeconfig}", kubeconfig))
	}
	return arguments
}

// hostname returns the Pod's hostname. Like a kubelet, it truncates the name if it is too long for a hostname.
func (c Container) hostname() string {
	const longest = 63
	return strings.TrimRight(c.Hostname[:min(len(c.Hostname), longest)], "-.")
}

// environment returns the environment of the process. Env overrides the variables of the Pod, which override the
// variables inherited from this machine. NO_PROXY always covers the API server.
func (c Container) environment(ofPod ...string) []string {
	if c.Hostname != "" {
		ofPod = append(ofPod, "HOSTNAME="+c.hostname())
	}
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !slices.Contains(inherited, name) && !strings.HasPrefix(name, "LC_")
	})
	values := map[string]string{}
	for _, variable := range slices.Concat(own, ofPod, c.Env) {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = value
	}
	var variables []string
	for name, value := range values {
		variables = append(variables, name+"="+value)
	}
	return process.NoProxy(variables)
}

// inherited lists the environment variables that a process inherits, in addition to LC_*.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "HOSTNAME", "TMPDIR", "LANG", "LANGUAGE", "TZ",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "JAVA_HOME", "PYTHONPATH", "VIRTUAL_ENV",
	"GOCOVERDIR",
}

func (c Container) start(command *exec.Cmd, log io.Writer) error {
	command.Stdout, command.Stderr = log, log
	command.WaitDelay = time.Second // do not wait longer for children that keep the output open
	return command.Start()
}

// ErrExited is wrapped by the error that Run returns if the process exits with code 0.
var ErrExited = errors.New("exited with code 0")

// wait waits until the command exits. It returns nil if ctx is done, and an error otherwise.
func (c Container) wait(ctx context.Context, command *exec.Cmd) error {
	err := command.Wait()
	_ = process.KillGroup(command) // kill the remaining children
	switch {
	case ctx.Err() != nil:
		return nil // killed because ctx is done
	case err == nil:
		return fmt.Errorf("%s %w", filepath.Base(c.Path), ErrExited)
	default:
		return fmt.Errorf("%s: %w", filepath.Base(c.Path), err)
	}
}
