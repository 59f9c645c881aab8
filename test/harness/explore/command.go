package explore

import (
	"context"
	"io"
	"net"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/pod"
)

// Command is an operator that is a program of its own, in any language. Its environment variable KUBECONFIG names a
// file that points to a proxy, which injects the faults; in its arguments {kubeconfig} stands for that file. A crash
// is a kill -9 of the program and its children.
func Command(path string, arguments ...string) Operator {
	return Pod(func(namespace string) pod.Container {
		return pod.Container{Path: path, Arguments: arguments, Namespace: namespace, Kubeconfig: true}
	})
}

// Pod is an operator that runs as in its Pod, in the namespace of each run. The proxy is where its ServiceAccount's
// folder and variables say that the API server is.
func Pod(container func(namespace string) pod.Container) Operator {
	return func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error {
		serve := func(api net.Listener) (func(), error) { return faultinject.Serve(api, config) }
		return pod.Run(ctx, container(namespace), serve, log)
	}
}
