package scenarios

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// The stories that only a WebServer has.

func healService(k Kind) scenario.Scenario {
	return k.Tell("heal-service",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.ServiceReachesPods(3),
		k.DeleteService(),
		k.ServiceIsRestored(),
		k.ServiceReachesPods(3),
		k.StatusNamesThePods(),
	)
}

// DeleteService deletes the WebServer's Service behind the operator's back.
func (k Kind) DeleteService() scenario.Step {
	return scenario.Step{Name: "DeleteService", IsAction: true, Run: func(ctx context.Context, w *scenario.Env) error {
		service, err := k.service(ctx, w)
		if err != nil {
			return err
		}
		w.Set(theService, service)
		w.Detailf("%s, node port %d", service.Name, service.Spec.Ports[0].NodePort)
		return w.Client.Delete(ctx, service)
	}}
}

// ServiceIsRestored waits until another Service publishes the same node port, which the status names.
func (k Kind) ServiceIsRestored() scenario.Step {
	return scenario.Step{Name: "ServiceIsRestored", Run: func(ctx context.Context, w *scenario.Env) error {
		old, err := scenario.Get[*corev1.Service](w, theService)
		if err != nil {
			return err
		}
		return w.WaitFor(ctx, func(ctx context.Context) error {
			restored, err := k.service(ctx, w)
			if err != nil {
				return err
			}
			if restored.UID == old.UID {
				return errors.New("the deleted Service is still there")
			}
			ws, err := k.read(ctx, w)
			w.Detailf("node port %d", restored.Spec.Ports[0].NodePort)
			return errors.Join(err,
				same("node port", restored.Spec.Ports[0].NodePort, old.Spec.Ports[0].NodePort),
				same("status.nodePort", ws.NodePort, old.Spec.Ports[0].NodePort))
		})
	}}
}

// ServiceReachesPods waits until the Service has so many ready endpoints, by the real endpoint
// controller's word; whether packets get there is for clusters with a network to show.
func (k Kind) ServiceReachesPods(replicas int) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("ServiceReachesPods(%d)", replicas), Run: func(ctx context.Context, w *scenario.Env) error {
		return w.WaitFor(ctx, func(ctx context.Context) error {
			service, err := k.service(ctx, w)
			if err != nil {
				return err
			}
			slices := &discoveryv1.EndpointSliceList{}
			if err := w.Client.List(ctx, slices, client.InNamespace(w.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name}); err != nil {
				return err
			}
			ready := 0
			for _, slice := range slices.Items {
				for _, endpoint := range slice.Endpoints {
					if ptr.Deref(endpoint.Conditions.Ready, false) {
						ready++
					}
				}
			}
			w.Detailf("%d endpoints", ready)
			return same("ready endpoints", ready, replicas)
		})
	}}
}

// service gets the WebServer's Service, which has its name and a suffix.
func (k Kind) service(ctx context.Context, w *scenario.Env) (*corev1.Service, error) {
	manifest, err := k.Manifest(w)
	if err != nil {
		return nil, err
	}
	service := &corev1.Service{}
	key := client.ObjectKey{Namespace: w.Namespace, Name: manifest.GetName() + "-service"}
	return service, w.Client.Get(ctx, key, service)
}
