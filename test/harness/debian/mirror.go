// Package debian finds the mirror of Debian's packages that this host's network reaches, for building images from
// packages.
package debian

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// Mirror returns the value of DEBIAN_MIRROR or else, on a Debian host, the mirror that apt uses. Otherwise the error
// says to set DEBIAN_MIRROR.
func Mirror(ctx context.Context) (string, error) {
	if chosen := os.Getenv("DEBIAN_MIRROR"); chosen != "" {
		return strings.TrimSuffix(chosen, "/"), nil
	}
	targets, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format=$(REPO_URI) $(LABEL)", "Created-By: Packages").Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil {
		if found := among(string(targets)); found != "" {
			return found, nil
		}
	}
	return "", errors.New("this host names no mirror of Debian's packages: set DEBIAN_MIRROR to one")
}

// among finds the mirror in lines of a repository's address and label. apt knows labels once it has been updated.
func among(targets string) string {
	for line := range strings.Lines(targets) {
		address, label, _ := strings.Cut(strings.TrimSpace(line), " ")
		address = strings.TrimSuffix(address, "/")
		if strings.HasPrefix(address, "http") && (label == "Debian" || strings.HasSuffix(address, "/debian")) {
			return address
		}
	}
	return ""
}
