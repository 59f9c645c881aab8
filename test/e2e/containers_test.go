package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

func podDeletedByForce(k scenarios.TestKind) scenario.Scenario {
	return k.Scenario("pod-deleted-by-force",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		deletePodByForce(),
		k.OneRememberedPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func deletePodByForce() scenario.Step {
	return scenario.Step{Name: "DeletePodByForce", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		list := &corev1.PodList{}
		if err := env.Client.List(ctx, list, client.InNamespace(env.Namespace)); err != nil {
			return err
		}
		env.Detailf("%s", list.Items[0].Name)
		return env.Client.Delete(ctx, &list.Items[0], client.GracePeriodSeconds(0))
	}}
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

// restrictedPodSecurity checks that the namespaces of the operator and of a Memcached enforce the restricted Pod
// Security Standard. It tries to create a Pod that violates the standard in each of them.
func restrictedPodSecurity() scenario.Scenario {
	k := catalogue.Memcached
	steps := []scenario.Step{
		k.ApplySample(),
		k.PodsAreReady(3),
		privilegedPodIsRejected("in the namespace of Memcached", func(env *scenario.Env) string { return env.Namespace }),
	}
	if !coverageEnabled() {
		steps = append(steps, privilegedPodIsRejected("in the namespace of the operator", func(*scenario.Env) string { return operatorNamespace }))
	}
	return k.Scenario("restricted", steps...)
}

func privilegedPodIsRejected(detail string, namespace func(*scenario.Env) string) scenario.Step {
	return scenario.Step{Name: "PrivilegedPodIsRejected", Run: func(ctx context.Context, env *scenario.Env) error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace(env), Name: "privileged"},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "privileged", Image: "none", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}}}},
		}
		err := env.Client.Create(ctx, pod, client.DryRunAll)
		if err == nil {
			return errors.New("got no error for a privileged Pod, want Forbidden")
		}
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "restricted") {
			return err
		}
		env.Detailf("%s", detail)
		return nil
	}}
}
