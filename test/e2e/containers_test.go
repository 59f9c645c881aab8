package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/scenarios"
)

// unpullable is an image that cannot be pulled, because the domain .invalid never resolves.
const unpullable = "registry.invalid/none:1"

// badImageFromTheStart checks that a resource that is created with a bad image recovers after the image is corrected.
func badImageFromTheStart(k scenarios.TestKind) scenario.Scenario {
	return k.Scenario("bad-image",
		k.ApplySampleWith(unpullable),
		k.ConditionIs(workload.Degraded, metav1.ConditionTrue, workload.ReasonPodsFailing),
		k.ConditionIs(workload.Available, metav1.ConditionFalse, workload.ReasonNoPodReady),
		k.ApplySample(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

// badUpgrade checks that the old Pods survive a failed upgrade and the rollback.
func badUpgrade(k scenarios.TestKind) scenario.Scenario {
	return k.Scenario("bad-upgrade",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.ApplySampleWith(unpullable),
		k.ConditionIs(workload.Degraded, metav1.ConditionTrue, workload.ReasonPodsFailing),
		k.ConditionIs(workload.Available, metav1.ConditionTrue, workload.ReasonPodsReady),
		k.RememberedPodsStay(),
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberedPodsStay(),
		k.StatusNamesThePods(),
	)
}

func valuesAreKept() scenario.Scenario {
	k := catalogue.Memcached
	return k.Scenario("values-are-kept",
		k.ApplySample(),
		k.PodsAreReady(3),
		scenario.Step{Name: "ValuesAreReadBack", Run: func(ctx context.Context, env *scenario.Env) error {
			list := &corev1.PodList{}
			if err := env.Client.List(ctx, list, client.InNamespace(env.Namespace)); err != nil {
				return err
			}
			for _, pod := range list.Items {
				if err := setAndGet(ctx, pod); err != nil {
					return fmt.Errorf("memcached in Pod %s: %w", pod.Name, err)
				}
			}
			env.Detailf("from %d Pods", len(list.Items))
			return nil
		}},
	)
}

func setAndGet(ctx context.Context, pod corev1.Pod) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	address, err := portForward(ctx, pod.Namespace, pod.Name, 11211)
	if err != nil {
		return err
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := fmt.Fprintf(connection, "set key 0 0 %d\r\n%s\r\nget key\r\nquit\r\n", len(pod.Name), pod.Name); err != nil {
		return err
	}
	response, err := io.ReadAll(bufio.NewReader(connection))
	if want := fmt.Sprintf("STORED\r\nVALUE key 0 %d\r\n%s\r\nEND\r\n", len(pod.Name), pod.Name); err == nil && string(response) != want {
		return fmt.Errorf("got %q, want %q", response, want)
	}
	return err
}
