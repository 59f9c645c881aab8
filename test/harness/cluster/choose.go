package cluster

import (
	"context"
	"fmt"
	"strings"
)

// Provider is what a cluster is created by.
type Provider string

const (
	// Auto stands for Kind where a Docker engine answers, and for KWOK elsewhere.
	Auto Provider = "auto"
	// Kind creates nodes that are containers of a Docker engine.
	Kind Provider = "kind"
	// KWOK creates nodes that simulate the Pods scheduled to them. It needs no Docker engine.
	KWOK Provider = "kwok"
	// Existing is a cluster that the user has already.
	Existing Provider = "existing"
)

// Choose returns Kind, KWOK or Existing. wanted is a Provider; an empty one means Auto. The reason continues a line
// that begins with the choice: "because a Docker engine answers". Kind without a Docker engine is an error.
func Choose(ctx context.Context, wanted string) (chosen Provider, reason string, err error) {
	const asked = "as " + providerVariable + " says"
	switch Provider(wanted) {
	case "", Auto:
		if err := engineAnswers(ctx); err != nil {
			return KWOK, fmt.Sprintf("because no Docker engine answers: %s", err), ctx.Err()
		}
		return Kind, "because a Docker engine answers", nil
	case Kind:
		if err := engineAnswers(ctx); err != nil {
			return "", "", fmt.Errorf("%s=kind needs a Docker engine, and none answers: %w: %s, or set %[1]s=kwok",
				providerVariable, err, engineAdvice(err))
		}
		return Kind, asked, nil
	case KWOK, Existing:
		return Provider(wanted), asked, nil
	}
	return "", "", fmt.Errorf("%s=%s is no provider: set auto, kind, kwok or existing", providerVariable, wanted)
}

// engineAdvice says what a user can do about an engine that does not answer.
func engineAdvice(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "permission denied"):
		return "run as a member of the group that owns its socket, mostly `docker`"
	case strings.Contains(text, "is not installed"):
		return "install it"
	default:
		return "start it"
	}
}
