package scenarios

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
)

func healService(k TestKind) scenario.Scenario {
	return k.Scenario("heal-service",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.ServiceReachesPods(3),
		k.DeleteService(),
		k.ServiceIsRestored(),
		k.ServiceReachesPods(3),
		k.StatusNamesThePods(),
	)
}

// DeleteService deletes the WebServer's Service directly, without changing the WebServer.
func (k TestKind) DeleteService() scenario.Step {
	return scenario.Step{Name: "DeleteService", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		service, err := k.Service(ctx, env)
		if err != nil {
			return err
		}
		env.Set(keyService, service)
		env.Detailf("%s, node port %d", service.Name, service.Spec.Ports[0].NodePort)
		return env.Client.Delete(ctx, service)
	}}
}

// ServiceIsRestored waits until a new Service has the node port of the deleted one, and the status contains that port.
func (k TestKind) ServiceIsRestored() scenario.Step {
	return compare("ServiceIsRestored", keyService, k.Service, func(ctx context.Context, env *scenario.Env, old, restored *corev1.Service) error {
		if restored.UID == old.UID {
			return errors.New("the deleted Service is still there")
		}
		ws, err := k.get(ctx, env)
		env.Detailf("node port %d", restored.Spec.Ports[0].NodePort)
		return errors.Join(err,
			equal("node port", restored.Spec.Ports[0].NodePort, old.Spec.Ports[0].NodePort),
			equal("status.nodePort", ws.NodePort, old.Spec.Ports[0].NodePort))
	})
}

// ServiceReachesPods waits until the endpoints of the Service include the given number of ready addresses. It does not
// test whether packets arrive, because that requires a cluster with a network.
func (k TestKind) ServiceReachesPods(replicas int) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("ServiceReachesPods(%d)", replicas), Run: func(ctx context.Context, env *scenario.Env) error {
		return env.WaitFor(ctx, func(ctx context.Context) error {
			service, err := k.Service(ctx, env)
			if err != nil {
				return err
			}
			slices := &discoveryv1.EndpointSliceList{}
			if err := env.Client.List(ctx, slices, client.InNamespace(env.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name}); err != nil {
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
			env.Detailf("%d endpoints", ready)
			return equal("ready endpoints", ready, replicas)
		})
	}}
}

// Service reads the Service of a WebServer.
func (k TestKind) Service(ctx context.Context, env *scenario.Env) (*corev1.Service, error) {
	service := &corev1.Service{}
	key := client.ObjectKey{Namespace: env.Namespace, Name: k.Manifest(env).GetName() + "-service"}
	return service, env.Client.Get(ctx, key, service)
}
