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
	"regexp"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/process"
)

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
	temporary := filepath.Join(folder, "tmp")
	if err := os.MkdirAll(temporary, 0o700); err != nil {
		return err
	}
	if c, err = c.onHost(filepath.Join(folder, "mounts"), temporary); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, c.Path, c.arguments(kubeconfig)...)
	command.Env = c.environment("KUBECONFIG="+kubeconfig, "TMPDIR="+temporary)
	process.Isolate(command)
	if err := c.start(command, log); err != nil {
		return err
	}
	pidFile := folder + ".pid" // the watchdog of the parent directory kills the process group in this file
	if err := os.WriteFile(pidFile, fmt.Appendln(nil, -command.Process.Pid), 0o600); err != nil {
		return errors.Join(err, process.KillGroup(command), c.wait(ctx, command))
	}
	defer os.Remove(pidFile)
	return c.wait(ctx, command)
}

// leaderElection matches the flags that enable leader election in scaffolded projects. leaderElectionNamespace matches
// flags that set the namespace of the Lease.
var (
	leaderElection          = regexp.MustCompile(`(?i)^--?(enable-)?leader-elect(ion)?(=(1|t|true))?$`)
	leaderElectionNamespace = regexp.MustCompile(`--?leader-elect[-\w]*-namespace[= ]\S`)
)

// onHost adapts the container so that it can run as a process on the host. It writes files that are mounted below /tmp
// to the folder temporary, and all other mounted files to folder.
func (c Container) onHost(folder, temporary string) (Container, error) {
	paths := map[string]string{} // by mount path
	hostPath := func(target string) string {
		target = filepath.Clean(target)
		paths[target] = filepath.Join(folder, target)
		if target == "/tmp" || strings.HasPrefix(target, "/tmp/") {
			paths[target] = filepath.Join(temporary, strings.TrimPrefix(target, "/tmp"))
		}
		return paths[target]
	}
	var errs []error
	for target, files := range c.Mounts {
		errs = append(errs, files.write(hostPath(target)))
	}
	for target, content := range c.Files {
		path := hostPath(target)
		errs = append(errs, Files{filepath.Base(path): content}.write(filepath.Dir(path)))
	}
	if err := errors.Join(errs...); err != nil {
		return c, err
	}
	c.Arguments, c.Env = replacePaths(c.Arguments, paths), replacePaths(c.Env, paths)
	if !leaderElectionNamespace.MatchString(strings.Join(c.Arguments, " ")) {
		c.Arguments = slices.DeleteFunc(slices.Clone(c.Arguments), leaderElection.MatchString)
	}
	return c, nil
}

// words matches the parts of an argument or a variable that can be paths.
var words = regexp.MustCompile(`[^=:,\s"']+`)

// replacePaths replaces each path that is equal to a key of the map, or below it.
func replacePaths(texts []string, actual map[string]string) []string {
	var replaced []string
	for _, text := range texts {
		replaced = append(replaced, words.ReplaceAllStringFunc(text, func(word string) string {
			for parent := word; len(parent) > 1; parent = filepath.Dir(parent) {
				if path, found := actual[parent]; found && strings.HasPrefix(word, parent) { // not if Dir has cleaned the word
					return path + strings.TrimPrefix(word, parent)
				}
			}
			return word
		}))
	}
	return replaced
}
