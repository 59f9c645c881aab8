package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"
)

func parsed(t *testing.T, arguments ...string) ctrl.Options {
	t.Helper()
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	options, undescribed := addFlags(set), ""
	set.VisitAll(func(f *flag.Flag) { undescribed += map[bool]string{true: " --" + f.Name}[min(f.Name, f.Usage) == ""] })
	if err := set.Parse(arguments); err != nil || undescribed != "" {
		t.Fatalf("got %v, and flags without a name or a description:%s", err, undescribed)
	}
	return *options
}

func installedPod(t *testing.T) corev1.PodSpec {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("config", "manager", "manager.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict(text, deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template.Spec
	if len(pod.Containers) != 1 || pod.Containers[0].LivenessProbe == nil || pod.Containers[0].ReadinessProbe == nil {
		t.Fatalf("got Pod %+v, want one container with two probes", pod)
	}
	return pod
}

func TestDeploymentServesItsDeclaredPorts(t *testing.T) {
	pod := installedPod(t)
	f := parsed(t, pod.Containers[0].Args...)
	addresses := map[string]string{"metrics": f.Metrics.BindAddress, "probes": f.HealthProbeBindAddress}
	for _, port := range pod.Containers[0].Ports {
		if addresses[port.Name] != fmt.Sprintf(":%d", port.ContainerPort) {
			t.Errorf("port %s: got address %s, want :%d", port.Name, addresses[port.Name], port.ContainerPort)
		}
	}
	if len(pod.Containers[0].Ports) != len(addresses) {
		t.Errorf("got ports %+v, want a port for metrics and one for probes", pod.Containers[0].Ports)
	}
	if !f.LeaderElection {
		t.Error("got no leader election, although two replicas run during an update of the Deployment")
	}
}

// The manager waits up to 30 s for running reconciles, and then releases the Lease.
func TestGracePeriodExceedsShutdownTimeout(t *testing.T) {
	if got := parsed(t).GracefulShutdownTimeout; got != nil {
		t.Errorf("got a shutdown timeout of %s, want the default of 30 s", got)
	}
	pod := installedPod(t)
	if patience := ptr.Deref(pod.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds); patience <= 30 {
		t.Errorf("got a grace period of %d s, want more than 30 s", patience)
	}
	if lifecycle := pod.Containers[0].Lifecycle; lifecycle != nil && lifecycle.PreStop != nil {
		t.Errorf("got hook %+v, which shortens the grace period", lifecycle.PreStop)
	}
}

func TestFlagDefaults(t *testing.T) {
	if o := parsed(t); o.Metrics.BindAddress != "0" || o.HealthProbeBindAddress != ":8081" || o.LeaderElection || !o.LeaderElectionReleaseOnCancel {
		t.Errorf("got defaults %+v", o)
	}
}

func TestRunReportsErrors(t *testing.T) {
	t.Setenv("KUBECONFIG", "/dev/null")
	t.Setenv("HOME", t.TempDir())
	for want, arguments := range map[string][]string{
		`unexpected argument "start": the operator takes flags only, see --help`: {"start"},
		"cannot load a kubeconfig or the in-cluster configuration: ":             nil,
	} {
		if err := run(t.Context(), parsed(t), arguments); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
