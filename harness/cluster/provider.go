package cluster

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"

	"github.com/operator-assay/assay/harness/images"
)

// Provider selects how a cluster is provided.
type Provider string

const (
	// Auto selects Kind if a Docker engine is available on this machine, and KWOK otherwise.
	Auto Provider = "auto"
	// Kind runs each node as a Docker container.
	Kind Provider = "kind"
	// KWOK simulates the nodes. Pods become ready, but no containers run. It does not need a Docker engine.
	KWOK Provider = "kwok"
	// Existing uses a cluster that this package has not created.
	Existing Provider = "existing"
)

// Choose resolves the requested Provider to Kind, KWOK or Existing. An empty string means Auto. The returned reason can
// be appended to a message about the provider, for example "because a Docker engine is available". Choose returns an
// error if Kind is requested but no Docker engine is available.
func Choose(ctx context.Context, wanted string) (chosen Provider, reason string, err error) {
	const asked = "as requested"
	switch Provider(wanted) {
	case "", Auto:
		if _, err := images.Connect(ctx, nil); err != nil {
			return KWOK, fmt.Sprintf("because %s", err), ctx.Err()
		}
		if host := os.Getenv("DOCKER_HOST"); isRemote(host) {
			return KWOK, fmt.Sprintf("because DOCKER_HOST is %s, and the nodes of kind may not be reachable from this machine; set %s to kind to use it anyway", host, providerOption), nil
		}
		return Kind, "because a Docker engine is available", nil
	case Kind:
		if _, err := images.Connect(ctx, nil); err != nil {
			return "", "", fmt.Errorf("kind needs a Docker engine: %w; or set %s to kwok", err, providerOption)
		}
		return Kind, asked, nil
	case KWOK, Existing:
		return Provider(wanted), asked, nil
	}
	return "", "", optionErrorf("invalid %s %q: use auto, kind, kwok or existing", providerOption, wanted)
}

// isRemote reports whether a Docker engine may run on another machine.
func isRemote(host string) bool {
	address, err := url.Parse(host)
	return err == nil && (address.Scheme == "tcp" || address.Scheme == "ssh") &&
		address.Hostname() != "localhost" && !net.ParseIP(address.Hostname()).IsLoopback()
}
