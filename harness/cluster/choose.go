package cluster

import (
	"context"
	"fmt"

	"github.com/operator-assay/assay/harness/images"
)

// Provider is where a cluster comes from.
type Provider string

const (
	// Auto stands for Kind where a Docker engine answers, and for KWOK elsewhere.
	Auto Provider = "auto"
	// Kind has nodes that are containers of a Docker engine.
	Kind Provider = "kind"
	// KWOK simulates nodes: Pods become ready, and no container runs. It needs no Docker engine.
	KWOK Provider = "kwok"
	// Existing is a cluster that was not created here.
	Existing Provider = "existing"
)

// Choose returns Kind, KWOK or Existing. wanted is a Provider; an empty one means Auto. The reason continues a line that
// begins with the provider: "because a Docker engine answers". Kind without a Docker engine is an error.
func Choose(ctx context.Context, wanted string) (chosen Provider, reason string, err error) {
	const asked = "as asked for"
	switch Provider(wanted) {
	case "", Auto:
		if _, err := images.Connect(ctx, nil); err != nil {
			return KWOK, fmt.Sprintf("because %s", err), ctx.Err()
		}
		return Kind, "because a Docker engine answers", nil
	case Kind:
		if _, err := images.Connect(ctx, nil); err != nil {
			return "", "", fmt.Errorf("kind needs a Docker engine, but %w; or set %s to kwok", err, providerOption)
		}
		return Kind, asked, nil
	case KWOK, Existing:
		return Provider(wanted), asked, nil
	}
	return "", "", optionErrorf("%s is %s: set auto, kind, kwok or existing", providerOption, wanted)
}
