package binaries

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// DefaultVersion is the Kubernetes version that Ensure provides if neither its caller nor the environment variable
// K8S_VERSION names one.
const DefaultVersion = "1.37.0"

// version is a Kubernetes version as its releases and modules are tagged: v1.37.0.
type version string

var versionPattern = regexp.MustCompile(`^v1\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

// ResolveVersion returns the version that Ensure and EnsureNode provide for text, with its leading v.
func ResolveVersion(text string) (string, error) {
	chosen, err := resolveVersion(text)
	return chosen.String(), err
}

// resolveVersion parses text, or K8S_VERSION if text is empty, or else returns the default.
func resolveVersion(text string) (version, error) {
	for _, candidate := range []string{text, os.Getenv("K8S_VERSION")} {
		if candidate != "" {
			return parseVersion(candidate)
		}
	}
	return parseVersion(DefaultVersion)
}

func parseVersion(text string) (version, error) {
	tag := "v" + strings.TrimPrefix(text, "v")
	if !versionPattern.MatchString(tag) {
		return "", fmt.Errorf("%q is no Kubernetes version: set K8S_VERSION to a full one, such as %s", text, DefaultVersion)
	}
	return version(tag), nil
}

func (v version) String() string { return string(v) }

func (v version) major() string { return "1" }

func (v version) minor() string { return strings.Split(string(v), ".")[1] }
