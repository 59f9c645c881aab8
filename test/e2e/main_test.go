// Package e2e tests the built operator in a complete cluster. The operator runs in a container on kind or in an
// existing cluster, and as a process on KWOK. See suite_test.go for the list of scenarios.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/report"
	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/scenarios"
)

const interrupted = 130

// The setup initializes these variables.
var (
	reporter     = report.New(os.Stdout)
	options      cluster.Options
	artifactsDir string
	environment  types.Environment
	testCluster  *cluster.Cluster
	k8sClient    client.WithWatch // has administrator permissions
	clientset    *kubernetes.Clientset
	catalogue    scenarios.Catalog
	runAll       bool          // E2E_ALL=1
	keepsFailed  bool          // E2E_KEEP=failed keeps the cluster if a scenario has failed
	operator     *installation // nil unless it is installed
)

func TestMain(m *testing.M) {
	if os.Getenv("E2E_PROVIDER") == "" {
		// `go test ./...` must not create a cluster.
		fmt.Println("skipping the end-to-end tests: run `make e2e`, or set E2E_PROVIDER=auto")
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), process.EndingSignals()...)
	code := run(ctx, m)
	if ctx.Err() != nil {
		code = interrupted
	}
	stop()
	os.Exit(code)
}

func run(ctx context.Context, m *testing.M) int {
	ctx, cancel := context.WithTimeoutCause(ctx, runTimeout, fmt.Errorf("timeout after %s", runTimeout))
	defer cancel()
	if err := prepare(ctx); err != nil {
		reporter.Fail(err)
		return 1
	}
	environment.
		Setup(step(openCluster), step(provideImages), step(installOperator)).
		Finish(func(ctx context.Context, _ *envconf.Config) (context.Context, error) { return ctx, tearDown(ctx) })
	code := environment.Run(m)
	if ctx.Err() != nil {
		reporter.Fail(fmt.Errorf("the run was cancelled: %w", context.Cause(ctx)))
	}
	if artifactsDir != "" {
		if err := reporter.WriteJUnit(artifactsDir, filepath.Base(artifactsDir)); err != nil {
			reporter.Fail(err)
		}
	}
	if testCluster == nil {
		return 1 // the error was already reported
	}
	if err := reporter.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return code
}

func prepare(ctx context.Context) error {
	focus := os.Getenv("FOCUS")
	if _, err := regexp.Compile(focus); err != nil {
		return fmt.Errorf("FOCUS=%s is not a valid regular expression: %w", focus, err)
	}
	var err error
	if keepsFailed, err = isSet("E2E_KEEP", "failed"); err != nil {
		return err
	}
	if runAll, err = isSet("E2E_ALL", "1"); err != nil {
		return err
	}
	if options, err = cluster.FromEnvironment(); err != nil {
		return err
	}
	options.Progress = reporter

	// Keep library logs out of the report.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())

	config := envconf.New().WithParallelTestEnabled()
	if focus != "" {
		config.WithFeatureRegex("(?i)" + focus)
	}
	environment, err = env.NewWithContext(ctx, config)
	return err
}

// isSet reports whether a variable has the given value. It returns an error for any other non-empty value.
func isSet(variable, value string) (bool, error) {
	switch got := os.Getenv(variable); got {
	case "", value:
		return got != "", nil
	default:
		return false, fmt.Errorf("invalid value %s=%s: set it to %s, or leave it empty", variable, got, value)
	}
}

// step wraps a setup step in an EnvFunc. It reports errors and panics, because the framework only logs them.
func step(do func(ctx context.Context) error) types.EnvFunc {
	return func(ctx context.Context, _ *envconf.Config) (_ context.Context, err error) {
		defer func() {
			if panicked := recover(); panicked != nil {
				err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
			}
			if err != nil && ctx.Err() == nil {
				reporter.Fail(err)
			}
		}()
		return ctx, do(ctx)
	}
}

func openCluster(ctx context.Context) error {
	began := time.Now()
	provider, reason, err := cluster.Choose(ctx, string(options.Provider))
	if err != nil {
		return err
	}
	fmt.Fprintf(reporter, "%-10s %s, %s\n", "cluster", provider, reason)
	options.Provider = provider
	folder := "e2e-" + string(provider)
	if options.Name != "" && options.Name != "assay" {
		folder += "-" + options.Name
	}
	if testCluster, err = cluster.Open(ctx, options); err != nil {
		return err
	}
	if artifactsDir, err = filepath.Abs(filepath.Join(root, "_artifacts", folder)); err != nil {
		return err
	}
	// Keep the artifacts of earlier runs, except for files that could be mistaken for those of this run.
	for _, own := range []string{operatorLogs(), filepath.Join(artifactsDir, "junit.xml")} {
		if err := os.RemoveAll(own); err != nil {
			return err
		}
	}
	state := "ready"
	if testCluster.Reused {
		state = "reused"
	}
	reporter.Phase("cluster", time.Since(began), "%s, %s", testCluster.Version, state)
	if err := findKubectl(ctx); err != nil {
		return err
	}
	if k8sClient, err = client.NewWithWatch(testCluster.Config, client.Options{Scheme: controller.Scheme()}); err != nil {
		return err
	}
	clientset, err = kubernetes.NewForConfig(testCluster.Config)
	return err
}

func tearDown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownTimeout)
	defer cancel()
	if testCluster == nil {
		return nil
	}
	began, keeps := time.Now(), keepCluster()
	var errs []error
	if reporter.HasFailed() {
		errs = append(errs, testCluster.ExportLogs(ctx, filepath.Join(artifactsDir, "cluster")))
	}
	if operator != nil {
		errs = append(errs, operator.Stop())
		if !keeps && testCluster.Reused {
			errs = append(errs, operator.Uninstall(ctx))
		}
	}
	if k8sClient != nil && !keeps && testCluster.Reused {
		errs = append(errs, deleteLeftovers(ctx))
	}
	errs = append(errs, testCluster.Close(ctx, keeps))
	if err := errors.Join(errs...); err != nil {
		reporter.Fail(fmt.Errorf("the teardown failed: %w", err))
		return err
	}
	what := "cluster removed"
	switch {
	case testCluster.Provider == cluster.Existing:
		what = "existing cluster kept"
	case keeps || testCluster.Reused:
		what = fmt.Sprintf("cluster kept until `make e2e-down`: export KUBECONFIG=%s", testCluster.Kubeconfig)
	}
	reporter.Phase("teardown", time.Since(began), "%s", what)
	return nil
}

func keepCluster() bool { return keepsFailed && reporter.HasFailed() }
