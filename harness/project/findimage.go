package project

import (
	"debug/buildinfo"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

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

// points scores how likely a Dockerfile is to build a main package. The score is 0 if that is unlikely.
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
