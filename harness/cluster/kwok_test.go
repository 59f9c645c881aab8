package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/wait"
)

// timeout is long enough for an overloaded machine.
const timeout = 10 * time.Minute

func open(t *testing.T, options Options) *Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	began := time.Now()
	options.Progress = t.Output()
	c, err := Open(ctx, options)
	noError(t, err)
	t.Logf("%s %s after %s", c.Provider, c.Version, time.Since(began))
	return c
}

func closeCluster(t *testing.T, c *Cluster, keep bool) {
	t.Helper()
	if err := c.Close(context.WithoutCancel(t.Context()), keep); err != nil {
		t.Error(err)
	}
}

func web(replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.com/web:v1"}}},
			},
		},
	}
}

// tokenClient returns a client that uses a token of the default ServiceAccount.
func tokenClient(t *testing.T, c *Cluster, admin kubernetes.Interface) kubernetes.Interface {
	t.Helper()
	token, err := admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	noError(t, err)
	config := rest.AnonymousClientConfig(c.Config)
	config.BearerToken = token.Status.Token
	client, err := kubernetes.NewForConfig(config)
	noError(t, err)
	return client
}

const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: ["system:serviceaccount:default:default"]}
- {level: None}
`

// withoutRoute is an environment variable that is set when TestKWOK runs in a network namespace.
const withoutRoute = "ASSAY_TEST_WITHOUT_ROUTE"

// TestKWOK starts three clusters at the same time and tests the first one. The second one replaces a cluster that was
// kept and whose provider is Existing. All paths contain spaces. If possible, the test runs without a network.
func TestKWOK(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	offline := []string{"unshare", "-Urn", "sh", "-c", `ip link set lo up && exec "$@"`, "sh"}
	if os.Getenv(withoutRoute) == "" && exec.CommandContext(t.Context(), offline[0], append(offline[1:], "true")...).Run() == nil {
		ensureBinaries(t) // may need the network
		command := exec.CommandContext(t.Context(), offline[0], append(offline[1:], os.Args[0], "-test.run=^TestKWOK$", "-test.v")...)
		command.Env = append(os.Environ(), withoutRoute+"=1", "ETCD_INITIAL_CLUSTER=other=http://127.0.0.1:1")
		command.Stdout, command.Stderr = t.Output(), t.Output()
		noError(t, command.Run())
		return
	}
	clusters := ownWithBinaries(t)
	defer expectNothing(t, clusters)
	folder := filepath.Join(t.TempDir(), "a [folder] with spaces")
	replaced := &stateDir{dir: filepath.Join(clusters, "second")}
	noError(t, os.Mkdir(folder, 0o755))
	noError(t, os.Symlink(os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join(folder, "binaries")))
	noError(t, replaced.write(state{Options: Options{Provider: Existing}, Kept: true}))
	t.Chdir(folder)
	t.Setenv("KUBEBUILDER_ASSETS", "binaries")
	options := Options{Provider: KWOK, PodsPerNode: 200, AuditPolicy: auditPolicy}
	var others errgroup.Group
	defer func() { _ = others.Wait() }()
	for _, name := range []string{"second", "third"} { // three clusters start at once
		others.Go(func() error {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			other, err := Open(ctx, Options{Provider: KWOK, Name: name})
			if err != nil {
				return err
			}
			return other.Close(ctx, false)
		})
	}
	c := open(t, options)
	if err := others.Wait(); err != nil {
		t.Error(err)
	}
	if c.Provider != KWOK || c.Name != "assay" || c.Reused || !strings.HasPrefix(c.Version, "v1.") {
		t.Errorf("got cluster %+v, want a new kwok cluster named assay", c)
	}
	useKWOK(t, c, clusters)
	keepKWOK(t, c, options, clusters)
}

func useKWOK(t *testing.T, c *Cluster, clusters string) {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	admin, err := kubernetes.NewForConfig(c.Config)
	noError(t, err)
	t.Run("two nodes run Deployments", func(t *testing.T) {
		nodes, err := admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil || len(nodes.Items) != 2 {
			t.Fatalf("got nodes %v (error %v), want 2 nodes", nodes.Items, err)
		}
		if room := nodes.Items[0].Status.Allocatable.Pods().Value(); room != 200 {
			t.Errorf("allocatable Pods: got %d, want 200", room)
		}
		if _, err := admin.AppsV1().Deployments("default").Create(ctx, web(20), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		err = wait.For(ctx, timeout, wait.Poll(50*time.Millisecond), func(ctx context.Context) error {
			return checkAvailable(ctx, admin, "default", "web")
		})
		noError(t, err)
	})
	t.Run("requests are authorized", func(t *testing.T) {
		account := tokenClient(t, c, admin)
		if _, err := account.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("list without a role: got %v, want Forbidden", err)
		}
	})
	t.Run("audit log follows the policy", func(t *testing.T) {
		noted, err := os.ReadFile(c.AuditLog)
		noError(t, err)
		for line := range strings.Lines(string(noted)) {
			if !strings.Contains(line, `"username":"system:serviceaccount:default:default"`) {
				t.Errorf("unexpected line in the audit log: %s", line)
			}
		}
		if !strings.Contains(string(noted), `"verb":"list"`) || !strings.Contains(string(noted), `"code":403`) {
			t.Errorf("the audit log has no forbidden list request: %s", noted)
		}
	})
	t.Run("DiscoverKinds restarts the controllers", func(t *testing.T) {
		program := filepath.Join(clusters, "assay", ".kwok", "clusters", "assay", "bin", "kube-controller-manager")
		before, err := processesOf(ctx, program)
		if err != nil || len(before) != 1 {
			t.Fatalf("got processes %v (error %v), want one", before, err)
		}
		noError(t, c.DiscoverKinds(ctx))
		if after, err := processesOf(ctx, program); err != nil || len(after) != 1 || after[0] == before[0] {
			t.Fatalf("got processes %v (error %v), want one other than %v", after, err, before)
		}
		noError(t, admin.AppsV1().Deployments("default").Delete(ctx, "web", metav1.DeleteOptions{}))
		err = wait.For(ctx, timeout, wait.Poll(50*time.Millisecond), func(ctx context.Context) error {
			left, err := admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			if err == nil && len(left.Items) > 0 {
				err = fmt.Errorf("got %d remaining Pods, want 0", len(left.Items))
			}
			return err
		})
		noError(t, err)
	})
	t.Run("images cannot be loaded", func(t *testing.T) {
		expectRefusal(t, c.Load(ctx, "x.tar"), "only be loaded into a kind cluster")
	})
	t.Run("logs are exported", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "cluster")
		noError(t, c.ExportLogs(ctx, dir))
		for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok-controller"} {
			if _, err := os.Stat(filepath.Join(dir, name+".log")); err != nil {
				t.Error(err)
			}
		}
	})
}

func keepKWOK(t *testing.T, first *Cluster, options Options, clusters string) {
	expectRefusal(t, Delete(t.Context(), Options{}), "another run uses cluster")
	closeCluster(t, first, true)
	second := open(t, options)
	if !second.Reused || second.Config.Host != first.Config.Host {
		t.Errorf("got cluster %+v, want the kept cluster", second)
	}
	closeCluster(t, second, false)
	if _, err := os.Stat(second.Kubeconfig); err != nil {
		t.Errorf("Close without keep removed a kept cluster: %v", err)
	}

	more := options
	more.Nodes = 3
	_, err := Open(t.Context(), more)
	expectRefusal(t, err, `the kept cluster "assay" has a different configuration (Nodes: got 2, want 3)`, "assay cluster down", nameOption)

	// Kill the processes, as a reboot would, so that Open replaces the cluster. Interrupt Open while it does so.
	noError(t, killProcessesOf(t.Context(), clusters))
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		defer interrupt()
		_ = wait.For(ctx, timeout, wait.Poll(time.Millisecond), func(ctx context.Context) error {
			if running, err := processesOf(ctx, clusters); err != nil || len(running) < 2 {
				return fmt.Errorf("got running processes %v (error %w), want more", running, err)
			}
			return nil
		})
	}()
	if _, err := Open(ctx, options); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted Open: got error %v, want context.Canceled", err)
	}
	expectNothing(t, clusters)
	if err := Delete(t.Context(), options); err != nil {
		t.Errorf("Delete of a missing cluster: %v", err)
	}
}

// TestKilledRunIsReplaced writes the files that a run leaves behind if it is killed while it uses or removes a cluster.
func TestKilledRunIsReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	for name, hasState := range map[string]bool{"while it uses the cluster": true, "while it removes the cluster": false} {
		t.Run(name, func(t *testing.T) {
			clusters := own(t)
			fakes := t.TempDir()
			for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "kwokctl"} {
				noError(t, os.WriteFile(filepath.Join(fakes, name), []byte("#!/bin/sh\necho a new cluster; exit 1\n"), 0o755))
			}
			t.Setenv("KUBEBUILDER_ASSETS", fakes)
			t.Setenv("KWOK_ASSETS", fakes)
			k := &kwok{stateDir: &stateDir{dir: filepath.Join(clusters, "mine")}}
			err := errors.Join(os.MkdirAll(k.workDir(), 0o700), os.WriteFile(k.kwokctl(), nil, 0o600))
			if hasState {
				err = errors.Join(err, k.stateDir.write(state{Options: Options{Provider: KWOK}}))
			}
			noError(t, err)
			_, err = Open(t.Context(), Options{Provider: KWOK, Name: "mine"})
			expectRefusal(t, err, "kwok did not start: exit status 1: a new cluster")
			expectNothing(t, clusters)
		})
	}
}

func TestDeadComponentIsNamedWithItsLastError(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	clusters := ownWithBinaries(t)
	assets := t.TempDir()
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		noError(t, os.Symlink(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), name), filepath.Join(assets, name)))
	}
	etcd := "#!/bin/sh\ntest \"$1\" = --version && echo etcd Version: 3.7.0 && exit\n" +
		"echo '{\"level\":\"fatal\",\"msg\":\"no luck\"}'; echo bye; exit 1\n"
	noError(t, os.WriteFile(filepath.Join(assets, "etcd"), []byte(etcd), 0o755))
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	_, err := Open(t.Context(), Options{Provider: KWOK})
	expectRefusal(t, err, "etcd died", "no luck")
	expectNothing(t, clusters)
}

func TestControllerManagerIsRestarted(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	k := &kwok{stateDir: &stateDir{dir: t.TempDir()}}
	started := filepath.Join(t.TempDir(), "started")
	for path, content := range map[string]string{
		k.kwokctl():                  "#!/bin/sh\necho $* >>'" + started + "'\necho 0 >'" + k.pidFile(controllerManager) + "'\n",
		k.pidFile(controllerManager): "0",
		filepath.Join(k.logsDir(), controllerManager+".log"): `E1127 controllermanager.go:100] "Error" err="failed to wait for apiserver being healthy"`,
	} {
		noError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o755)))
	}
	ctx, stop := k.whileRunning(t.Context())
	defer stop()
	select {
	case <-ctx.Done():
	case <-time.After(timeout):
		t.Fatal("got no error about the controller-manager, which always exits")
	}
	content, err := os.ReadFile(started)
	if err != nil || strings.Count(string(content), "start cluster ") != maxManagerRestarts {
		t.Errorf("got the kwokctl commands %q, %v, want %d times start cluster", content, err, maxManagerRestarts)
	}
	if cause := context.Cause(ctx); !strings.Contains(cause.Error(), "failed to wait for apiserver being healthy") {
		t.Errorf("got %v, want the last error of the log", cause)
	}
}
