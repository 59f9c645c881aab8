package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/operator/controller"
)

func parsed(t *testing.T, arguments ...string) flags {
	t.Helper()
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	f := addFlags(set)
	if err := set.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	return *f
}

// installedPod is the operator's Pod as it is installed.
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
		t.Fatalf("the operator is no container with two probes: %+v", pod)
	}
	return pod
}

// TestTheDeploymentPassesWhatItsPortsSay compares the arguments of the installation with the ports that it declares.
func TestTheDeploymentPassesWhatItsPortsSay(t *testing.T) {
	pod := installedPod(t)
	f := parsed(t, pod.Containers[0].Args...)
	addresses := map[string]string{"metrics": f.metricsAddress, "probes": f.probeAddress}
	for _, port := range pod.Containers[0].Ports {
		if addresses[port.Name] != fmt.Sprintf(":%d", port.ContainerPort) {
			t.Errorf("%s are served at %s, and declared at %d", port.Name, addresses[port.Name], port.ContainerPort)
		}
	}
	if len(pod.Containers[0].Ports) != len(addresses) {
		t.Errorf("declared are %+v", pod.Containers[0].Ports)
	}
	if !f.leaderElect {
		t.Error("two operators would work during an update of the Deployment")
	}
}

// TestTheDeploymentHasTheKubeletWaitForTheLease: work under way may take until the operator's own timeout, and then two
// seconds are left to give up the Lease. One that hangs is gone soon after.
func TestTheDeploymentHasTheKubeletWaitForTheLease(t *testing.T) {
	pod, end := installedPod(t), options(parsed(t)).GracefulShutdownTimeout
	if end == nil || *end < 5*time.Second {
		t.Fatalf("work under way has %v to end", end)
	}
	if patience := pod.TerminationGracePeriodSeconds; patience == nil || time.Duration(*patience)*time.Second != *end+2*time.Second {
		t.Errorf("the kubelet kills the operator after %v seconds, and work under way has %v", ptr.Deref(patience, corev1.DefaultTerminationGracePeriodSeconds), end)
	}
	if lifecycle := pod.Containers[0].Lifecycle; lifecycle != nil && lifecycle.PreStop != nil {
		t.Errorf("of these seconds a hook takes its own: %+v", lifecycle.PreStop)
	}
}

func TestTheOperatorRunsWithoutAnyFlag(t *testing.T) {
	if f := parsed(t); f != (flags{metricsAddress: "0", probeAddress: ":8081", workers: controller.DefaultWorkers}) {
		t.Errorf("the defaults are %+v", f)
	}
	if f := parsed(t, "--leader-election-namespace=ops", "--max-concurrent-reconciles=3"); leaseNamespace(f) != "ops" || f.workers != 3 {
		t.Errorf("the flags are %+v", f)
	}
}

// TestEachFlagSaysWhatItIsFor, as --help prints it.
func TestEachFlagSaysWhatItIsFor(t *testing.T) {
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	addFlags(set)
	var names []string
	set.VisitAll(func(f *flag.Flag) {
		names = append(names, f.Name)
		if len(f.Usage) < len("The address of /healthz.") {
			t.Errorf("--%s is for %q", f.Name, f.Usage)
		}
	})
	if want := []string{"health-probe-bind-address", "leader-elect", "leader-election-namespace", "max-concurrent-reconciles", "metrics-bind-address"}; !slices.Equal(names, want) {
		t.Errorf("the flags are %q", names)
	}
}

func TestWhatCannotBeStartedSaysWhy(t *testing.T) {
	t.Setenv("KUBECONFIG", "/dev/null")
	t.Setenv("HOME", t.TempDir())
	for want, start := range map[string]struct {
		arguments []string
		flags     flags
	}{
		`unexpected argument "start": the operator takes flags only, see --help`: {[]string{"start"}, flags{workers: 1}},
		"--max-concurrent-reconciles is 0: it must be at least 1":                {nil, flags{}},
		"no cluster to work for: ":                                               {nil, flags{workers: 1}},
	} {
		if err := run(t.Context(), start.flags, start.arguments); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestTheDeploymentsProbesTellReadyFromAlive: the kubelet restarts an operator that is not alive, and one that waits for the
// API server must not be restarted.
func TestTheDeploymentsProbesTellReadyFromAlive(t *testing.T) {
	container, server := installedPod(t).Containers[0], newAPIServer(t)
	server.refuse("/replicasets")
	o := start(t, server, flags{metricsAddress: "0"})
	eventually(t, o.probes+container.LivenessProbe.HTTPGet.Path, http.StatusOK)
	eventually(t, o.probes+container.ReadinessProbe.HTTPGet.Path, http.StatusInternalServerError)
	server.refuse("")
	eventually(t, o.probes+container.ReadinessProbe.HTTPGet.Path, http.StatusOK)
}

// TestAnOperatorEndsThatMayNotReadItsKinds: some are read before it leads, and some from then on.
func TestAnOperatorEndsThatMayNotReadItsKinds(t *testing.T) {
	for _, kind := range []string{"/replicasets", "/deployments"} {
		server := newAPIServer(t)
		server.refuse(kind)
		o := start(t, server, flags{metricsAddress: "0"})
		eventually(t, o.probes+"/healthz", http.StatusOK)
		o.stop()
	}
}

// TestAnOperatorThatDoesNotLeadIsReadyWhenItCouldTakeOver: it can read its kinds, and who leads.
func TestAnOperatorThatDoesNotLeadIsReadyWhenItCouldTakeOver(t *testing.T) {
	server := newAPIServer(t)
	server.refuse("/replicasets")
	o := startStandby(t, server)
	eventually(t, o.probes+"/healthz", http.StatusOK)
	eventually(t, o.probes+"/readyz", http.StatusInternalServerError)
	for _, refused := range []string{"", "/leases/" + controller.Name, ""} {
		server.refuse(refused)
		want := map[bool]int{true: http.StatusOK, false: http.StatusInternalServerError}[refused == ""]
		eventually(t, o.probes+"/readyz", want)
	}
	if o.stop(); server.holder() != "another" || len(server.written) > 0 {
		t.Errorf("the Lease was taken from who has it: %+v", server.written)
	}
}

// TestAnOperatorThatDoesNotLeadFillsItsCaches, so that it can work as soon as it leads, and nobody need ask whether it is ready.
func TestAnOperatorThatDoesNotLeadFillsItsCaches(t *testing.T) {
	server := newAPIServer(t)
	startStandby(t, server)
	poll(t, func() (bool, string) { return server.hasListed(), "not all kinds are listed" })
}

// TestProbesHaveNames, by which `/readyz?verbose` tells what is amiss.
func TestProbesHaveNames(t *testing.T) {
	o := start(t, newAPIServer(t), flags{metricsAddress: "0"})
	for _, name := range []string{"healthz", "readyz"} {
		eventually(t, o.probes+"/"+name+"/"+name, http.StatusOK)
	}
}

// TestALeaderThatStopsGivesUpItsLease has it stop at work, and before it can work.
func TestALeaderThatStopsGivesUpItsLease(t *testing.T) {
	for _, refused := range []string{"", "/deployments"} {
		server := newAPIServer(t)
		server.refuse(refused)
		o := start(t, server, flags{metricsAddress: "0", leaderElect: true, leaderElectionNamespace: "ops"})
		within(t, o.Elected(), "it never leads")
		if server.holder() == "" {
			t.Error("it leads without a Lease")
		}
		if o.stop(); server.holder() != "" {
			t.Errorf("refused %q: the next one has to wait for the Lease of %q to expire", refused, server.holder())
		}
	}
}

func TestMetricsAreForThoseWhomRBACAllows(t *testing.T) {
	address := freeAddress(t)
	start(t, newAPIServer(t), flags{metricsAddress: address})
	eventually(t, "https://"+address+"/metrics", http.StatusOK)
	for token, want := range map[string]int{"": http.StatusUnauthorized, "stranger": http.StatusForbidden, "scraper": http.StatusOK} {
		if code, body := status(t, "https://"+address+"/metrics", token); code != want {
			t.Errorf("%s is answered %d: %s", token, code, body)
		}
	}
	if code, _ := status(t, "http://"+address+"/metrics", "scraper"); code == http.StatusOK {
		t.Error("metrics are served without TLS")
	}
	for _, name := range []string{"webserver", "memcached"} {
		line := fmt.Sprintf("controller_runtime_max_concurrent_reconciles{controller=%q} 3", name)
		poll(t, func() (bool, string) {
			_, metrics := status(t, "https://"+address+"/metrics", "scraper")
			return strings.Contains(metrics, line), "without " + line
		})
	}
}

// TestAnOperatorIsAliveWhileTheAPIServerIsAway: the kubelet would restart it, and all caches would have to be filled again.
func TestAnOperatorIsAliveWhileTheAPIServerIsAway(t *testing.T) {
	server := newAPIServer(t)
	o := start(t, server, flags{metricsAddress: "0"})
	eventually(t, o.probes+"/readyz", http.StatusOK)
	server.goAway()
	if code, body := status(t, o.probes+"/healthz", ""); code != http.StatusOK {
		t.Errorf("/healthz answers %d: %s", code, body)
	}
}

// TestAnotherLeadsWithinSecondsWhenALeaderHasCrashed: its Lease has to expire.
func TestAnotherLeadsWithinSecondsWhenALeaderHasCrashed(t *testing.T) {
	server := newAPIServer(t)
	o := start(t, server, flags{metricsAddress: "0", leaderElect: true, leaderElectionNamespace: "ops"})
	within(t, o.Elected(), "it never leads")
	if seconds := ptr.Deref(server.lastLease().Spec.LeaseDurationSeconds, 0); seconds < 10 || seconds > 20 {
		t.Errorf("a Lease lasts for %d s", seconds)
	}
}

// TestTheInstallationServesNothingButProbesAndMetrics: what else there is, such as profiles, nobody would have protected.
func TestTheInstallationServesNothingButProbesAndMetrics(t *testing.T) {
	o := options(parsed(t, installedPod(t).Containers[0].Args...))
	if o.PprofBindAddress != "" || len(o.Metrics.ExtraHandlers) > 0 {
		t.Errorf("profiles are served at %q, and beside the metrics %v", o.PprofBindAddress, o.Metrics.ExtraHandlers)
	}
}

// TestTheInstallationReconcilesManyResourcesAtATime: with one worker, each waits for all before it.
func TestTheInstallationReconcilesManyResourcesAtATime(t *testing.T) {
	if workers := parsed(t, installedPod(t).Containers[0].Args...).workers; workers != controller.DefaultWorkers {
		t.Errorf("it has %d workers", workers)
	}
}
