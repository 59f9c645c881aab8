package binaries

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// DefaultVersion is the Kubernetes version that Ensure uses if neither its caller nor K8S_VERSION specifies one.
const DefaultVersion = "1.37.0"

var versionPattern = regexp.MustCompile(`^v1\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

// ResolveVersion returns a Kubernetes version as a release tag. It defaults to K8S_VERSION, then to DefaultVersion.
func ResolveVersion(text string) (string, error) {
	text = cmp.Or(text, os.Getenv("K8S_VERSION"), DefaultVersion)
	tag := "v" + strings.TrimPrefix(text, "v")
	if !versionPattern.MatchString(tag) {
		return "", fmt.Errorf("invalid Kubernetes version %q (--kubernetes-version or K8S_VERSION): "+
			"use a full version, such as %s", text, DefaultVersion)
	}
	return tag, nil
}
