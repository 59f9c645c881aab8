package images

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// debianMirror returns the value of DEBIAN_MIRROR or, if it is not set, the mirror that the host uses.
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
	return "", errors.New("no Debian mirror found in the apt sources of this host: set DEBIAN_MIRROR")
}

// mirrorIn returns the first Debian mirror in lines of the form "address label".
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
