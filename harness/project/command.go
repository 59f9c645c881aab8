package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/operator-assay/assay/harness/pod"
)

// UseImage sets the image that the manager's container runs. Settings in the Deployment override those in the image. If
// argumentsGiven is true, UseImage ignores the image's ENTRYPOINT and CMD. It adds a note if the image affects the
// arguments or variables, if a shell command is skipped, or if the container runs a script that cannot be analyzed.
func (m *Manager) UseImage(image Image, argumentsGiven bool) {
	if argumentsGiven {
		image.Entrypoint, image.Cmd = nil, nil
	}
	before, were, _, _ := m.process("NAMESPACE")
	m.image = image
	env, arguments, skipped, known := m.process("NAMESPACE")
	if len(skipped) > 0 && !argumentsGiven {
		m.install.note(fmt.Sprintf("%s: the commands before the operator in its shell command are not run (%s): if the operator needs files that "+
			"they create, create them yourself, and pass their paths with arguments after --, or with env in assay.yaml", m.Name(), strings.Join(skipped, "; ")))
	}
	switch {
	case !known && !argumentsGiven:
		assumed := "without arguments"
		if len(arguments) > 0 {
			assumed = "with the script's arguments, " + shellescape.QuoteCommand(arguments)
		}
		m.install.note(fmt.Sprintf("%s: its container runs a shell script that cannot be analyzed, so the operator is started %s: if this is wrong, pass its arguments after --", m.Name(), assumed))
	case !slices.Equal(arguments, were) && !argumentsGiven:
		m.install.note(fmt.Sprintf("%s: its arguments come from %s: %s", m.Name(), image.File, shellescape.QuoteCommand(arguments)))
	case !maps.Equal(env, before):
		m.install.note(fmt.Sprintf("%s: some of its variables come from ENV in %s", m.Name(), image.File))
	}
}

// HasCommand reports whether the container's command is known.
func (m *Manager) HasCommand() bool {
	return len(m.container.Command)+len(m.container.Args) > 0 || m.image.File != ""
}

// imagePaths lists variables that refer to files in the image. The process uses the files on this machine instead.
var imagePaths = []string{
	"PATH", "HOME", "LD_LIBRARY_PATH", "JAVA_HOME", "PYTHONPATH", "VIRTUAL_ENV", "NODE_PATH", "GEM_HOME",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
}

// process returns the environment variables and arguments of the container's program, and the skipped statements that a
// shell would run before it. known is false if the arguments are unknown, for example because a shell script sets them.
func (m *Manager) process(namespace string) (env map[string]string, arguments, skipped []string, known bool) {
	env = map[string]string{}
	maps.Copy(env, m.image.Env)
	maps.DeleteFunc(env, func(name, _ string) bool { return slices.Contains(imagePaths, name) })
	own := m.env(namespace)
	maps.Copy(env, own)
	replaced := func(arguments []string) []string { return m.argumentsIn(arguments, own, namespace) }
	command, arguments := replaced(m.container.Command), replaced(m.container.Args)
	if len(command) == 0 {
		command = m.image.entrypoint(arguments)
		if len(arguments) == 0 {
			arguments = m.image.Cmd
		}
	}
	inShell := map[string]string{"HOSTNAME": m.hostname()}
	maps.Copy(inShell, pod.ServiceEnv)
	maps.Copy(inShell, env)
	line, skipped, assigned, known := m.image.program(slices.Concat(command, arguments), inShell)
	maps.Copy(env, assigned)
	return env, line[min(1, len(line)):], skipped, known
}

// entrypoint returns ENTRYPOINT, or a placeholder if it is not set and the first argument is probably not a program.
func (i Image) entrypoint(arguments []string) []string {
	first := slices.Concat(arguments, i.Cmd)
	if len(i.Entrypoint) == 0 && len(first) > 0 && (len(i.Cmd) == 0 || strings.HasPrefix(first[0], "-")) {
		return []string{"program"}
	}
	return i.Entrypoint
}
