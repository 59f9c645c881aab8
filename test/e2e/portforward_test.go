package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// portForward forwards a local port to a Pod, like kubectl port-forward, until ctx is done.
func portForward(ctx context.Context, namespace, pod string, port int) (address string, err error) {
	transport, upgrader, err := spdy.RoundTripperFor(testCluster.Config)
	if err != nil {
		return "", err
	}
	url := clientset.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	ready := make(chan struct{})
	forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, ctx.Done(), ready, io.Discard, io.Discard)
	if err != nil {
		return "", err
	}
	failed := make(chan error, 1)
	go func() { failed <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-failed:
		return "", fmt.Errorf("cannot forward port %d of Pod %s: %w", port, pod, err)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0].Local), nil
}
