package images

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// debianMirror is what DEBIAN_MIRROR says or else, where this host is a Debian, the mirror of its own packages.
// Elsewhere it is an error, which says to set DEBIAN_MIRROR.
func debianMirror(ctx context.Context) (string, error) {
	if chosen := os.Getenv("DEBIAN_MIRROR"); chosen != "" {
		return strings.TrimSuffix(chosen, "/"), nil
	}
	targets, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format=$(REPO_URI) $(LABEL)", "Created-By: Packages").Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil {
		if found := mirrorIn(string(targets)); found != "" {
			return found, nil
		}
	}
	return "", errors.New("this host names no mirror of Debian's packages: set DEBIAN_MIRROR to one")
}

// mirrorIn reads lines of a repository's address and label; apt knows labels once it has been updated.
func mirrorIn(targets string) string {
	for line := range strings.Lines(targets) {
		address, label, _ := strings.Cut(strings.TrimSpace(line), " ")
		address = strings.TrimSuffix(address, "/")
		if strings.HasPrefix(address, "http") && (label == "Debian" || strings.HasSuffix(address, "/debian")) {
			return address
		}
	}
	return ""
}
