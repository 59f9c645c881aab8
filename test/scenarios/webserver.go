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

func healService() scenario.Scenario {
	return webServer.tell("heal-service",
		webServer.ApplySample(),
		webServer.PodsAreReady(3),
		ServiceReachesPods(3),
		DeleteService(),
		ServiceIsRestored(),
		ServiceReachesPods(3),
		webServer.StatusNamesThePods(),
	)
}

// DeleteService deletes the WebServer's Service behind the operator's back.
func DeleteService() scenario.Step {
	return scenario.Step{Name: "DeleteService", Run: func(ctx context.Context, w *scenario.World) error {
		service, err := service(ctx, w)
		if err != nil {
			return err
		}
		w.Remember(theService, service)
		w.Note("%s, node port %d", service.Name, service.Spec.Ports[0].NodePort)
		return w.Client.Delete(ctx, service)
	}}
}

// ServiceIsRestored waits until another Service publishes the same node port, which the status names.
func ServiceIsRestored() scenario.Step {
	return scenario.Step{Name: "ServiceIsRestored", Run: func(ctx context.Context, w *scenario.World) error {
		old, err := scenario.Recall[*corev1.Service](w, theService)
		if err != nil {
			return err
		}
		return w.Await(ctx, func(ctx context.Context) error {
			restored, err := service(ctx, w)
			if err != nil {
				return err
			}
			if restored.UID == old.UID {
				return errors.New("the deleted Service is still there")
			}
			ws, err := webServer.read(ctx, w)
			w.Note("node port %d", restored.Spec.Ports[0].NodePort)
			return errors.Join(err,
				same("node port", restored.Spec.Ports[0].NodePort, old.Spec.Ports[0].NodePort),
				same("status.nodePort", ws.NodePort, old.Spec.Ports[0].NodePort))
		})
	}}
}

// ServiceReachesPods waits until the Service has so many ready endpoints, by the real endpoint
// controller's word; whether packets get there is for clusters with a network to show.
func ServiceReachesPods(replicas int) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("ServiceReachesPods(%d)", replicas), Run: func(ctx context.Context, w *scenario.World) error {
		return w.Await(ctx, func(ctx context.Context) error {
			service, err := service(ctx, w)
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
			w.Note("%d endpoints", ready)
			return same("ready endpoints", ready, replicas)
		})
	}}
}

// service gets the WebServer's Service, which has its name and a suffix.
func service(ctx context.Context, w *scenario.World) (*corev1.Service, error) {
	manifest, err := webServer.manifest(w)
	if err != nil {
		return nil, err
	}
	service := &corev1.Service{}
	key := client.ObjectKey{Namespace: w.Namespace, Name: manifest.GetName() + "-service"}
	return service, w.Client.Get(ctx, key, service)
}
