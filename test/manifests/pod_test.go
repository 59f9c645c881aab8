package manifests

import (
	"cmp"
	"fmt"
	"os"
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
)

func deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	return theOnly[appsv1.Deployment](t, "Deployment")
}

// The selector of a Deployment is immutable. If it changed, every upgrade would be rejected.
func TestTheDeploymentSelectsItsPodsAsItEverDid(t *testing.T) {
	d := deployment(t)
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	noError(t, err)
	if want := "app.kubernetes.io/name=assay-operator,control-plane=controller-manager"; selector.String() != want {
		t.Errorf("selected are Pods with %s, want %s", selector, want)
	}
	if !selector.Matches(labels.Set(d.Spec.Template.Labels)) {
		t.Errorf("%s does not select its own Pods, which have %v", selector, d.Spec.Template.Labels)
	}
}

func TestTheMetricsServiceLeadsToTheOperator(t *testing.T) {
	service, container := theOnly[corev1.Service](t, "Service"), deployment(t).Spec.Template.Spec.Containers[0]
	if got, want := labels.FormatLabels(service.Spec.Selector), labels.FormatLabels(deployment(t).Spec.Selector.MatchLabels); got != want {
		t.Errorf("the Service has the Pods with %s, the Deployment those with %s", got, want)
	}
	if len(service.Spec.Ports) != 1 {
		t.Fatalf("the Service has the ports %+v", service.Spec.Ports)
	}
	if service.Spec.Type != "" && service.Spec.Type != corev1.ServiceTypeClusterIP || len(service.Spec.ExternalIPs) > 0 {
		t.Errorf("metrics are served outside the cluster, too: %+v", service.Spec)
	}
	port := service.Spec.Ports[0]
	if port.Name != "https" || port.Port != 8443 {
		t.Errorf("scrapers, such as a ServiceMonitor, expect port https, 8443; it is %s, %d", port.Name, port.Port)
	}
	if number := portOf(container, port.TargetPort); number == 0 || !strings.HasSuffix(flagOf(container, "metrics-bind-address"), fmt.Sprintf(":%d", number)) {
		t.Errorf("the Service leads to %s, %d; metrics are served at %s", port.TargetPort.String(), number, flagOf(container, "metrics-bind-address"))
	}
}

// The operator's own tests verify the responses to the probes.
func TestBothProbesAskAPortThatTheContainerHas(t *testing.T) {
	_, container := pod(t)
	for name, probe := range map[string]*corev1.Probe{"liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || portOf(container, probe.HTTPGet.Port) == 0 {
			t.Errorf("the %s probe is %+v; the container has %+v", name, probe, container.Ports)
		}
	}
}

// With the default period of ten seconds, every step of a rollout would be delayed.
func TestTheKubeletNoticesWithinASecondThatTheOperatorIsReady(t *testing.T) {
	_, container := pod(t)
	if probe := container.ReadinessProbe; probe == nil || probe.InitialDelaySeconds > 0 || probe.PeriodSeconds != 1 {
		t.Errorf("the kubelet looks by %+v", probe)
	}
}

// A node can be busy for several seconds, and a new operator would have to fill its caches again.
func TestAnOperatorThatAnswersLateIsNotKilled(t *testing.T) {
	_, container := pod(t)
	probe := container.LivenessProbe
	if probe == nil {
		t.Fatal("the kubelet never notices that it hangs")
	}
	// Apply the API server's defaults.
	period, failures := cmp.Or(probe.PeriodSeconds, 10), cmp.Or(probe.FailureThreshold, 3)
	if patience := period * failures; failures < 2 || patience < 20 || patience > 60 {
		t.Errorf("it is killed after %d failures in %d s", failures, patience)
	}
}

// The image supports several architectures, and nodes can have any labels.
func TestTheOperatorRunsWhereverAPodMay(t *testing.T) {
	template, _ := pod(t)
	spec := template.Spec
	if len(spec.NodeSelector) > 0 || spec.Affinity != nil || spec.NodeName != "" || spec.SchedulerName != "" || spec.PriorityClassName != "" || spec.RuntimeClassName != nil {
		t.Errorf("it needs a node with %v %v, %q, the scheduler %q, the priority class %q and the runtime %v",
			spec.NodeSelector, spec.Affinity, spec.NodeName, spec.SchedulerName, spec.PriorityClassName, spec.RuntimeClassName)
	}
	if len(spec.Tolerations) > 0 {
		t.Errorf("it may run where no Pod shall: %+v", spec.Tolerations)
	}
}

func TestTheNamespaceEnforcesTheRestrictedStandardAndThePodSatisfiesIt(t *testing.T) {
	enforced, errs := api.PolicyToEvaluate(theOnly[corev1.Namespace](t, "Namespace").Labels, api.Policy{})
	if len(errs) > 0 || enforced.Enforce.Level != api.LevelRestricted {
		t.Errorf("enforced is %s: %v", enforced.Enforce.Level, errs)
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	noError(t, err)
	template, _ := pod(t)
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	if all := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec)); !all.Allowed {
		t.Errorf("refused for %s: %s", all.ForbiddenReason(), all.ForbiddenDetail())
	}
}

// If a different build tool creates an image without a numeric user, the container fails to start as non-root.
func TestThePodRunsAsTheUserOfTheImage(t *testing.T) {
	dockerfile, err := os.ReadFile("../../operator/Dockerfile")
	noError(t, err)
	template, _ := pod(t)
	context := template.Spec.SecurityContext
	if context == nil || context.RunAsUser == nil {
		t.Fatal("the Pod has no user of its own")
	}
	if user := fmt.Sprintf("\nUSER %d:", *context.RunAsUser); !strings.Contains(string(dockerfile), user) {
		t.Errorf("the Dockerfile has no %q", user)
	}
}

func TestTheOperatorCannotWriteItsOwnFileSystem(t *testing.T) {
	_, container := pod(t)
	if context := container.SecurityContext; context == nil || context.ReadOnlyRootFilesystem == nil || !*context.ReadOnlyRootFilesystem {
		t.Error("who breaks into the operator can change its program")
	}
}

// With the tag latest, the image would always be pulled. It could then not be loaded onto the nodes of a cluster
// without a registry.
func TestAnImageThatIsOnTheNodeIsNotPulled(t *testing.T) {
	_, container := pod(t)
	if container.ImagePullPolicy != corev1.PullIfNotPresent {
		t.Errorf("the image is pulled %q", container.ImagePullPolicy)
	}
}

// Users refer to the container by name in their kustomizations and in kubectl logs.
func TestPatchesFindTheContainer(t *testing.T) {
	if _, container := pod(t); container.Name != "manager" {
		t.Errorf("the container is called %s", container.Name)
	}
}

// Without GOMEMLIMIT, the heap grows past the limit and the kernel kills the operator.
func TestGoMemoryLimitIsBelowTheContainersLimit(t *testing.T) {
	_, container := pod(t)
	limit := container.Resources.Limits.Memory()
	for _, env := range container.Env {
		if env.Name != "GOMEMLIMIT" {
			continue
		}
		// Go uses the suffix MiB instead of Mi.
		heap, err := resource.ParseQuantity(strings.TrimSuffix(env.Value, "B"))
		if share := heap.AsApproximateFloat64() / limit.AsApproximateFloat64(); err != nil || share < 0.89 || share > 0.91 {
			t.Errorf("GOMEMLIMIT is %s, not nine tenths of %s: %v", env.Value, limit, err)
		}
		return
	}
	t.Error("got no GOMEMLIMIT")
}

// The operator requests what it needs when it is mostly idle, and has no CPU limit.
func TestTheOperatorFitsOntoAFullNode(t *testing.T) {
	_, container := pod(t)
	requests, limits := container.Resources.Requests, container.Resources.Limits
	if cpu := requests.Cpu(); cpu.IsZero() || cpu.MilliValue() > 50 {
		t.Errorf("it requests %s of CPU", cpu)
	}
	if memory := requests.Memory(); memory.IsZero() || memory.Cmp(*limits.Memory()) > 0 {
		t.Errorf("it requests %s of memory, with a limit of %s", memory, limits.Memory())
	}
	if cpu, limited := limits[corev1.ResourceCPU]; limited {
		t.Errorf("it is throttled at %s of CPU", cpu.String())
	}
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

// flagOf returns the value of a flag in a container's arguments.
func flagOf(container corev1.Container, flag string) string {
	for _, argument := range container.Args {
		if value, found := strings.CutPrefix(argument, "--"+flag+"="); found {
			return value
		}
	}
	return ""
}
