package project

import (
	"debug/buildinfo"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// UseImage makes the manager use the command and the variables of the image unless its Deployment sets them. If this
// makes a difference, UseImage adds a note about where these settings come from. If the user has specified the
// program's arguments, only the variables are used.
func (m *Manager) UseImage(image Image, argumentsGiven bool) {
	if argumentsGiven {
		image.Entrypoint, image.Cmd = nil, nil
	}
	before, were, _ := m.process("NAMESPACE")
	m.image = image
	env, arguments, known := m.process("NAMESPACE")
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

// process returns the variables and the arguments of the process. It returns false if a shell script starts the program
// and its arguments cannot be determined.
func (m *Manager) process(namespace string) (env map[string]string, arguments []string, known bool) {
	env = maps.Clone(m.image.Env)
	if env == nil {
		env = map[string]string{}
	}
	delete(env, "PATH") // use the programs and the home directory of this machine
	delete(env, "HOME")
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
	line, assigned, known := m.image.program(slices.Concat(command, arguments), env)
	maps.Copy(env, assigned)
	return env, line[min(1, len(line)):], known
}

// entrypoint returns the command that precedes the arguments of a Deployment without a command. It returns a
// placeholder if the program that receives the arguments is unknown.
func (i Image) entrypoint(arguments []string) []string {
	first := slices.Concat(arguments, i.Cmd)
	if len(i.Entrypoint) == 0 && len(first) > 0 && (len(i.Cmd) == 0 || strings.HasPrefix(first[0], "-")) {
		return []string{"program"}
	}
	return i.Entrypoint
}

// imageFolders matches folders that typically contain an operator's Dockerfile.
var imageFolders = regexp.MustCompile(`(^|/)(build|docker|package|images?|deploy|container|operator|manager|controller)[^/]*$`)

// dockerfile matches names such as Dockerfile, Dockerfile.operator and operator.Dockerfile.
var dockerfile = regexp.MustCompile(`(?i)^((docker|container)file|(docker|container)file\..*|.*\.(docker|container)file)$`)

// FindImage looks for the Dockerfile that most likely builds a program, and returns the image that it defines. It
// returns an empty Image if no Dockerfile is likely. If the program was not built from the project in the folder, its
// Dockerfile must start a program of the same name.
func FindImage(folder, binary string, isBuilt bool) Image {
	mainPackage, names := "", []string{filepath.Base(binary)}
	if info, err := buildinfo.ReadFile(binary); err == nil && strings.HasPrefix(info.Path, info.Main.Path) {
		mainPackage = strings.TrimPrefix(strings.TrimPrefix(info.Path, info.Main.Path), "/")
		names = append(names, path.Base(info.Path))
	}
	best, highest := Image{}, 0
	folder = filepath.Join(folder, ".")
	for _, file := range dockerfiles(folder) {
		images, _ := readDockerfile(folder, file) // ignore unreadable files
		for i, image := range images {
			isNamed := slices.Contains(names, image.programName())
			isDefault := i == 0 && isBuilt && len(image.Entrypoint)+len(image.Cmd) > 0
			if !isNamed && !isDefault {
				continue
			}
			if points := image.points(file, mainPackage, isNamed); points > highest {
				best, highest = image, points
			}
		}
	}
	return best
}

// programName returns the name of the program that the image starts, or an empty string.
func (i Image) programName() string {
	line, _, _ := i.program(slices.Concat(i.Entrypoint, i.Cmd), i.Env)
	if len(line) == 0 {
		return ""
	}
	return path.Base(line[0])
}

// mentions reports whether the Dockerfile mentions a package, such as cmd/operator.
func (i Image) mentions(mainPackage string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(mainPackage) + `\b`).MatchString(i.text)
}

// points returns how likely it is that a Dockerfile builds a main package. It returns 0 if this is unlikely.
func (i Image) points(file, mainPackage string, isNamed bool) int {
	folder, points := path.Dir(file), 0
	if isNamed {
		points += 8
	}
	if mainPackage != "" && i.mentions(mainPackage) {
		points += 4
	}
	switch {
	case folder == mainPackage:
		points += 4
	case folder == ".":
		points += 3
	case strings.HasPrefix(mainPackage, folder+"/"), imageFolders.MatchString(folder):
		points += 2
	}
	if name := strings.ToLower(path.Base(file)); points > 0 && (name == "dockerfile" || name == "containerfile") {
		points++
	}
	return points
}

func dockerfiles(folder string) []string {
	var found []string
	for file := range files(folder, notOperators) {
		if name := path.Base(file); dockerfile.MatchString(name) && !strings.HasSuffix(name, "ignore") {
			found = append(found, file)
		}
	}
	return found
}
