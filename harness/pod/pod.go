// Package pod runs an operator's binary as if it ran in its Pod, so that an operator that is made for a cluster needs
// no flag, no wrapper and no patch to run in a test.
//
// On Linux each process has a network, a mount and a UTS namespace of its own, which need no privileges. So many instances
// listen on the same fixed ports at once, each has its Pod's hostname, and each finds files where a kubelet mounts them: its
// ServiceAccount's token, CA and namespace, ConfigMaps, Secrets, empty folders. The API server is what the variables
// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name, as in a cluster: a port inside that network, which Run has its
// caller serve.
//
//	err := pod.Run(ctx, pod.Container{Path: "bin/manager"}, func(api net.Listener) (shut func(), err error) {
//		return fault.Serve(api, config)
//	}, log)
//
// Its /tmp is its own, and holds nothing but what its mounts put there: certificates, sockets and locks of instances are often
// there, by fixed names.
//
// Each is the first of a PID namespace, so what it has started ends with it, even what has left its process group.
//
// Where such namespaces cannot be had, as Unavailable tells, the process runs in the host's network, with KUBECONFIG
// naming the API server, HOSTNAME the Pod and TMPDIR a folder of its own, and without the files. Then run one at a time.
//
// What differs from a Pod: the root file system is the host's, the process is root of a user namespace without rights
// outside of it, nothing limits its memory or CPU, and its network reaches the API server and itself, nothing else.
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

// Container is what a Pod's manifest says about the process.
type Container struct {
	// Path is that of the binary on this machine.
	Path string
	// Arguments follow it. {kubeconfig} in them stands for the path of a kubeconfig file.
	Arguments []string
	// Env is added to the environment of this process, as NAME=value, and wins over it. Variables that tell where a
	// cluster is are not inherited.
	Env []string
	// Namespace is what the ServiceAccount's folder names.
	Namespace string
	// Hostname is the Pod's, and the value of the variable HOSTNAME unless Env has one; by default the machine's. Of a
	// longer one the first 63 characters are.
	Hostname string
	// Mounts are the files of each mounted folder, by its path. A folder may have none, as an emptyDir.
	Mounts map[string]Files
	// Files are mounted by themselves, as a subPath's, beside what their folders hold.
	Files Files
	// Folder is where temporary files are; by default the system's folder for them.
	Folder string
	// Kubeconfig has the variable KUBECONFIG name the API server, too, which no Pod has.
	Kubeconfig bool
	// Reach, if it is set, is given the way to the ports on which the process listens, just before it starts.
	Reach func(Dial)
	// Remount, if it is set, is given the way to change what a folder of Mounts holds, just before the process starts.
	// A process on the host finds no mounts, and none that change.
	Remount func(Remount)
}

// Remount has a mounted folder hold these files and no others, as a kubelet does when a Secret changes. When the process
// has ended, it does nothing.
type Remount func(folder string, files Files) error

// Dial connects to a port on which a process listens. It fails with ECONNREFUSED as long as the process does not. An
// isolated process can be connected to maxConnections times.
type Dial func(port int) (net.Conn, error)

// maxConnections is how many connections to an isolated process can be made, so that nothing has to run beside it: they
// are sockets that were made in its network. Reuse them.
const maxConnections = 64

// serviceAccountFolder is where a kubelet mounts the token.
const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// apiPort is the API server's inside the network namespace.
const apiPort = "6443"

// Run runs the container until ctx ends, and kills it and its children then, which is no error. serve serves the API
// server on a listener that the process reaches, until shut. That the process ends by itself is always an error.
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

// runOnHost runs the process in the host's network, without its files.
func runOnHost(ctx context.Context, c Container, folder string, serve func(net.Listener) (func(), error), log io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	shut, err := serve(listener)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer shut()
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := writeKubeconfig(kubeconfig, "http://"+listener.Addr().String(), nil); err != nil {
		return err
	}
	if c.Reach != nil {
		c.Reach(func(port int) (net.Conn, error) { return net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)) })
	}
	command := exec.CommandContext(ctx, c.Path, c.arguments(kubeconfig)...)
	temporary := filepath.Join(folder, "tmp")
	if err := os.MkdirAll(temporary, 0o700); err != nil {
		return err
	}
	command.Env = c.environment("KUBECONFIG="+kubeconfig, "TMPDIR="+temporary)
	process.Isolate(command)
	if err := c.start(command, log); err != nil {
		return err
	}
	return c.wait(ctx, command)
}

// arguments are those of the process, which reads this kubeconfig.
func (c Container) arguments(kubeconfig string) []string {
	var arguments []string
	for _, argument := range c.Arguments {
		arguments = append(arguments, strings.ReplaceAll(argument, "{kubeconfig}", kubeconfig))
	}
	return arguments
}

// hostname is the Pod's, as a kubelet sets it: longer ones are no hostnames.
func (c Container) hostname() string {
	const longest = 63
	return strings.TrimRight(c.Hostname[:min(len(c.Hostname), longest)], "-.")
}

// environment is that of the process: what this process has, what a Pod has, and Env; of a name, the last one.
func (c Container) environment(ofPod ...string) []string {
	if c.Hostname != "" {
		ofPod = append(ofPod, "HOSTNAME="+c.hostname())
	}
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "KUBECONFIG=") || strings.HasPrefix(variable, "KUBERNETES_")
	})
	values := map[string]string{}
	for _, variable := range slices.Concat(own, ofPod, c.Env) {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = value
	}
	variables := make([]string, 0, len(values))
	for name, value := range values {
		variables = append(variables, name+"="+value)
	}
	return variables
}

func (c Container) start(command *exec.Cmd, log io.Writer) error {
	command.Stdout, command.Stderr = log, log
	command.WaitDelay = time.Second // for children that hold its output open
	return command.Start()
}

// wait waits for the end of a command that has started, which is an error unless ctx has ended.
func (c Container) wait(ctx context.Context, command *exec.Cmd) error {
	err := command.Wait()
	_ = process.KillGroup(command) // the children that it has left behind
	switch {
	case ctx.Err() != nil:
		return nil // it was killed
	case err == nil:
		return errors.New("it exited with code 0")
	default:
		return fmt.Errorf("%s: %w", filepath.Base(c.Path), err)
	}
}
