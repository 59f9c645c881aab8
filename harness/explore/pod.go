package explore

import (
	"context"
	"io"
	"net"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/pod"
)

// Pod returns an Operator that runs an external program, written in any language, as it would run in its Pod. The
// environment variables and the ServiceAccount files point the program to a proxy, which injects the faults. A crash
// kills the program and its children with SIGKILL.
func Pod(container func(namespace string) pod.Container) Operator {
	return func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error {
		serve := func(api net.Listener) (func(), error) { return fault.Serve(api, config) }
		return pod.Run(ctx, container(namespace), serve, log)
	}
}
