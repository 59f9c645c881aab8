package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var errTaken = errors.New("a control plane from the reserve cannot be crashed or compacted: start it without Options.UseReserve")

// Crash simulates a failure of the control plane's machine. It kills kube-apiserver, etcd and kube-controller-manager
// with SIGKILL and stops the fake nodes. The API server's address refuses connections until Restart is called. Crash
// returns an error if the control plane was started by Reserve.
func (cp *ControlPlane) Crash(ctx context.Context) error {
	if cp.servers.isTaken {
		return errTaken
	}
	cp.nodes.stop()
	return cp.servers.kill(ctx)
}

// Restart restarts the components killed by Crash, with the same data, addresses, users and paused namespaces. ctx
// bounds only the startup, not the lifetime of the components.
func (cp *ControlPlane) Restart(ctx context.Context) error {
	for _, start := range []func(context.Context) error{
		cp.servers.start,
		cp.startControllerManager,
		cp.nodes.finishInterruptedDeletions,
		cp.nodes.start,
	} {
		if err := errors.Join(ctx.Err(), start(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// Compact makes etcd discard old versions of objects, as the API server does every five minutes. A client that resumes
// a watch from a discarded version gets 410 Gone. Recent versions stay in the API server's watch cache until the API
// server is restarted. Compact returns an error if the control plane was started by Reserve.
func (cp *ControlPlane) Compact(ctx context.Context) error {
	if cp.servers.isTaken {
		return errTaken
	}
	latest, err := cp.clientset.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	url := cp.servers.envtest.Etcd.URL.JoinPath("v3", "kv", "compaction").String()
	body := fmt.Sprintf(`{"revision": %q, "physical": true}`, latest.ResourceVersion) // a resourceVersion is an etcd revision
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd returned %s for a compaction", response.Status)
	}
	return nil
}
