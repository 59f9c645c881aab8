package project

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Image describes the container process that a Dockerfile defines.
type Image struct {
	File            string // the Dockerfile; empty if it is unknown
	Entrypoint, Cmd []string
	Env             map[string]string

	text     string   // followed by the instructions with their variables replaced
	folder   string   // context of the build
	copied   []string // sources of COPY and ADD in all stages
	setsCmd  bool     // whether this stage sets CMD instead of inheriting it
	shell    []string
	declared map[string]string // ARG and ENV
}

// readDockerfile returns the images of all build stages, starting with the last one, which is built by default.
func readDockerfile(folder, file string) ([]Image, error) {
	file = filepath.Join(folder, file)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var images []Image
	stages, global := map[string]Image{}, map[string]string{"TARGETOS": "linux", "TARGETARCH": runtime.GOARCH, "TARGETPLATFORM": "linux/" + runtime.GOARCH}
	image, name := Image{Env: map[string]string{}, declared: global}, ""
	var copied []string
	var replaced strings.Builder
	for instruction, rest := range instructions(string(text)) {
		switch instruction {
		case "FROM":
			from := withoutFlags(strings.Fields(rest))
			if len(from) == 0 {
				continue
			}
			images = append(images, image)
			base := substitute(from[0], global)
			image, name = stages[strings.ToLower(base)].child(), ""
			if program := operatorSDKImage.FindStringSubmatch(base); program != nil {
				image.Entrypoint = []string{program[1], "run", "--watches-file=./watches.yaml"}
			}
			if len(from) == 3 && strings.EqualFold(from[1], "as") {
				name = strings.ToLower(from[2])
			}
		case "ARG":
			for key, value := range assignments(rest, image.declared) {
				if _, isGlobal := global[key]; isGlobal && value == "" {
					value = global[key] // "ARG NAME" in a stage imports the value from before the first FROM
				}
				if _, isEnv := image.Env[key]; !isEnv { // ENV takes precedence
					image.declared[key] = value
				}
			}
		case "ENV":
			set := assignments(rest, image.declared)
			if key, value, _ := strings.Cut(rest, " "); !strings.Contains(key, "=") { // the legacy form "NAME VALUE"
				set = map[string]string{key: substitute(strings.TrimSpace(value), image.declared)}
			}
			maps.Copy(image.declared, set)
			maps.Copy(image.Env, set)
		case "COPY", "ADD":
			sources := withoutFlags(strings.Fields(rest))
			if list, isList := words(strings.Join(sources, " ")); isList {
				sources = list
			}
			copied = append(copied, sources...)
		case "SHELL":
			image.shell, _ = words(rest)
		case "CMD":
			image.Cmd, image.setsCmd = image.command(rest), true
		case "ENTRYPOINT":
			image.Entrypoint = image.command(rest)
			if !image.setsCmd {
				image.Cmd = nil
			}
		}
		if name != "" {
			stages[name] = image
		}
		replaced.WriteString("\n" + os.Expand(rest, func(name string) string { // keeps commands such as $(go env GOOS)
			name, otherwise, _ := strings.Cut(name, ":-")
			return cmp.Or(image.declared[name], otherwise)
		}))
	}
	images = append(images, image)
	slices.Reverse(images)
	for i := range images {
		images[i].File, images[i].text, images[i].folder, images[i].copied = file, string(text)+replaced.String(), folder, copied
	}
	return images, nil
}

// operatorSDKImage matches the base images of operators that operator-sdk generates from Helm charts and Ansible roles.
var operatorSDKImage = regexp.MustCompile(`operator-framework/((?:helm|ansible)-operator)\b`)

// script returns the text of a shell script copied from the build context, or an empty string.
func (i Image) script(name string) string {
	for _, source := range i.copied {
		file := filepath.Join(i.folder, source)
		if isFolder(file) {
			file = filepath.Join(file, path.Base(name))
		}
		text, err := os.ReadFile(file)
		if err == nil && filepath.Base(file) == path.Base(name) && shebang.Match(text) {
			return string(text)
		}
	}
	return ""
}

var shebang = regexp.MustCompile(`^#!.*sh\b`)

// child returns the initial image of a build stage that is based on i.
func (i Image) child() Image {
	child := Image{Entrypoint: i.Entrypoint, Cmd: i.Cmd, shell: i.shell, Env: map[string]string{}, declared: map[string]string{}}
	maps.Copy(child.Env, i.Env)
	maps.Copy(child.declared, i.Env)
	if child.shell == nil {
		child.shell = []string{"/bin/sh", "-c"}
	}
	return child
}

// command parses the arguments of an ENTRYPOINT or CMD instruction, which can be in exec form or in shell form.
func (i Image) command(rest string) []string {
	if command, isExec := words(rest); isExec {
		return command
	}
	return append(append([]string{}, i.shell...), rest)
}

func words(rest string) (list []string, isList bool) {
	return list, json.Unmarshal([]byte(rest), &list) == nil
}

func withoutFlags(fields []string) []string {
	for len(fields) > 0 && strings.HasPrefix(fields[0], "--") {
		fields = fields[1:]
	}
	return fields
}

var hereDocument = regexp.MustCompile(`<<-?\s*["']?(\w+)["']?`)

// instructions yields the upper-case name and the arguments of each Dockerfile instruction, joining continuation lines.
func instructions(text string) iter.Seq2[string, string] {
	const escape = `\`
	return func(yield func(string, string) bool) {
		var joined string
		lines := strings.Split(strings.TrimRight(text, " \t\r\n"+escape), "\n")
		for i := 0; i < len(lines); i++ {
			line := strings.TrimSpace(lines[i])
			if line == "" || strings.HasPrefix(line, "#") {
				continue // even within a multi-line instruction
			}
			if joined != "" {
				line = strings.TrimRight(lines[i], " \t\r") // the indentation separates it from the line before
			}
			if part, continues := strings.CutSuffix(line, escape); continues {
				joined += part
				continue
			}
			instruction, rest, _ := strings.Cut(strings.ReplaceAll(joined+line, "\t", " "), " ")
			joined, instruction = "", strings.ToUpper(instruction)
			if instruction == "RUN" || instruction == "COPY" || instruction == "ADD" {
				for _, document := range hereDocument.FindAllStringSubmatch(rest, -1) {
					isEnd := func(line string) bool { return strings.TrimSpace(line) == document[1] }
					i += 1 + slices.IndexFunc(lines[i+1:], isEnd) // unchanged if this is not a here document
				}
			}
			if !yield(instruction, strings.TrimSpace(rest)) {
				return
			}
		}
	}
}

// imageFolders matches folders that typically contain an operator's Dockerfile.
var imageFolders = regexp.MustCompile(`(^|/)(build|docker|package|images?|deploy|container|operator|manager|controller)[^/]*$`)

// dockerfile matches names such as Dockerfile, Dockerfile.operator and operator.Dockerfile.
var dockerfile = regexp.MustCompile(`(?i)^((docker|container)file|(docker|container)file\..*|.*\.(docker|container)file)$`)

// FindImage returns the image in the folder's Dockerfiles that most likely contains the binary, or an empty Image. If
// isBuilt is false, the image must start a program that has the name of the binary or of its main package.
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
			if score := image.score(file, mainPackage, isNamed); score > highest {
				best, highest = image, score
			}
		}
	}
	return best
}

func (i Image) programName() string {
	line, _, _, _ := i.program(slices.Concat(i.Entrypoint, i.Cmd), i.Env)
	if len(line) == 0 {
		return ""
	}
	return path.Base(line[0])
}

// mentions reports whether the Dockerfile contains the path of a main package, or of a Go file in it.
func (i Image) mentions(mainPackage string) bool {
	return regexp.MustCompile(`(^|[^-\w])` + regexp.QuoteMeta(mainPackage) + `(/[\w*-]*\.go|/)?($|[^-/\w])`).MatchString(i.text)
}

// score is higher the more likely it is that a Dockerfile builds the main package. It is 0 if that is unlikely.
func (i Image) score(file, mainPackage string, isNamed bool) int {
	folder, score := path.Dir(file), 0
	if isNamed {
		score += 8
	}
	if mainPackage != "" && i.mentions(mainPackage) {
		score += 4
	}
	switch {
	case folder == mainPackage:
		score += 4
	case folder == ".":
		score += 3
	case strings.HasPrefix(mainPackage, folder+"/"), imageFolders.MatchString(folder):
		score += 2
	}
	if name := strings.ToLower(path.Base(file)); score > 0 && (name == "dockerfile" || name == "containerfile") {
		score++
	}
	return score
}

func dockerfiles(folder string) []string {
	var found []string
	for file := range files(folder, notOperators, maxLevels) {
		if name := path.Base(file); dockerfile.MatchString(name) && !strings.HasSuffix(name, "ignore") {
			found = append(found, file)
		}
	}
	return found
}
