package binaries

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// DefaultVersion is the Kubernetes version that Ensure uses if neither the caller nor the environment variable
// K8S_VERSION specifies one.
const DefaultVersion = "1.37.0"

var versionPattern = regexp.MustCompile(`^v1\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

// ResolveVersion returns the Kubernetes version in text as a release tag, such as v1.37.0. If text is empty, it uses
// K8S_VERSION, or DefaultVersion if that is not set either.
func ResolveVersion(text string) (string, error) {
	text = cmp.Or(text, os.Getenv("K8S_VERSION"), DefaultVersion)
	tag := "v" + strings.TrimPrefix(text, "v")
	if !versionPattern.MatchString(tag) {
		return "", fmt.Errorf("invalid Kubernetes version %q: use a full version, such as %s", text, DefaultVersion)
	}
	return tag, nil
}
