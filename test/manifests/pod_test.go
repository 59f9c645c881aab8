package manifests

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
)

func deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	return theOnly[appsv1.Deployment](t, "Deployment")
}

// The selector of a Deployment is immutable. If it changed, every upgrade would be rejected.
func TestSelectorIsStable(t *testing.T) {
	d := deployment(t)
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	noError(t, err)
	if want := "app.kubernetes.io/name=assay-operator,control-plane=controller-manager"; selector.String() != want {
		t.Errorf("got selector %s, want %s", selector, want)
	}
	if !selector.Matches(labels.Set(d.Spec.Template.Labels)) {
		t.Errorf("selector %s does not match the labels %v of its own Pods", selector, d.Spec.Template.Labels)
	}
}

func TestMetricsServiceSelectsOperator(t *testing.T) {
	service, container := theOnly[corev1.Service](t, "Service"), deployment(t).Spec.Template.Spec.Containers[0]
	if got, want := labels.FormatLabels(service.Spec.Selector), labels.FormatLabels(deployment(t).Spec.Selector.MatchLabels); got != want {
		t.Errorf("got selector %s of the Service, want %s", got, want)
	}
	if len(service.Spec.Ports) != 1 {
		t.Fatalf("got ports %+v, want one", service.Spec.Ports)
	}
	if service.Spec.Type != "" && service.Spec.Type != corev1.ServiceTypeClusterIP || len(service.Spec.ExternalIPs) > 0 {
		t.Errorf("the Service is available outside of the cluster: %+v", service.Spec)
	}
	port := service.Spec.Ports[0]
	if port.Name != "https" || port.Port != 8443 {
		t.Errorf("got port %s %d, want https 8443, which a ServiceMonitor expects", port.Name, port.Port)
	}
	if number := portOf(container, port.TargetPort); number == 0 || !strings.HasSuffix(flagOf(container, "metrics-bind-address"), fmt.Sprintf(":%d", number)) {
		t.Errorf("target port: got %s (%d), want the port of --metrics-bind-address=%s", port.TargetPort.String(), number, flagOf(container, "metrics-bind-address"))
	}
}

func TestPodMeetsRestrictedStandard(t *testing.T) {
	enforced, errs := api.PolicyToEvaluate(theOnly[corev1.Namespace](t, "Namespace").Labels, api.Policy{})
	if len(errs) > 0 || enforced.Enforce.Level != api.LevelRestricted {
		t.Errorf("got enforced level %s, want restricted: %v", enforced.Enforce.Level, errs)
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	noError(t, err)
	template, container := pod(t)
	if c := container.SecurityContext; c == nil || !ptr.Deref(c.ReadOnlyRootFilesystem, false) { // the standard does not require it
		t.Error("the root file system is writable")
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	if all := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec)); !all.Allowed {
		t.Errorf("the Pod is rejected: %s: %s", all.ForbiddenReason(), all.ForbiddenDetail())
	}
}

// Without GOMEMLIMIT, the heap grows past the limit and the kernel kills the operator.
func TestGoMemoryLimitIsBelowContainerLimit(t *testing.T) {
	_, container := pod(t)
	limit := container.Resources.Limits.Memory()
	for _, env := range container.Env {
		if env.Name != "GOMEMLIMIT" {
			continue
		}
		// Go uses the suffix MiB instead of Mi.
		heap, err := resource.ParseQuantity(strings.TrimSuffix(env.Value, "B"))
		if share := heap.AsApproximateFloat64() / limit.AsApproximateFloat64(); err != nil || share > 0.91 {
			t.Errorf("got GOMEMLIMIT %s with a memory limit of %s, want at most nine tenths: %v", env.Value, limit, err)
		}
		return
	}
	t.Error("GOMEMLIMIT is not set")
}

// portOf returns the number of a container port, or 0 if the container does not declare it.
func portOf(container corev1.Container, port intstr.IntOrString) int32 {
	for _, declared := range container.Ports {
		if declared.Name == port.StrVal || port.Type == intstr.Int && declared.ContainerPort == port.IntVal {
			return declared.ContainerPort
		}
	}
	return 0
}

func flagOf(container corev1.Container, flag string) string {
	for _, argument := range container.Args {
		if value, found := strings.CutPrefix(argument, "--"+flag+"="); found {
			return value
		}
	}
	return ""
}
