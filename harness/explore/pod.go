package explore

import (
	"context"
	"io"
	"net"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/pod"
)

// Pod is an operator that is a program of its own, in any language, and runs as in its Pod, in the namespace of each run.
// Where its ServiceAccount's folder and variables say that the API server is, there is a proxy, which injects the faults. A
// crash is a kill -9 of the program and its children.
func Pod(container func(namespace string) pod.Container) Operator {
	return func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error {
		serve := func(api net.Listener) (func(), error) { return fault.Serve(api, config) }
		return pod.Run(ctx, container(namespace), serve, log)
	}
}
