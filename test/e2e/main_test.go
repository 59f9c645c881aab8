// Package e2e proves the built operator from outside, as its users meet it: on kind in containers, on
// KWOK as a process, or in a cluster that exists. It runs the catalogue of test/scenarios, but for what
// it leaves to KWOK, and what only a whole cluster can show. suite_test.go lists it all.
//
// Every test is a scenario, and every scenario one of e2e-framework's features, so that FOCUS, the
// report and the artifacts are the same for all.
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
	"slices"
	"strings"
	"syscall"
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
	"github.com/operator-assay/assay/harness/report"
	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/scenarios"
)

// interrupted is the exit code that shells expect of a program that was interrupted.
const interrupted = 130

// What the setup creates, in this order.
var (
	reporter     = report.New(os.Stdout)
	options      cluster.Options
	artifactsDir string
	environment  types.Environment
	testCluster  *cluster.Cluster
	k8sClient    client.WithWatch // the administrator, who is the scenarios' user
	clientset    *kubernetes.Clientset
	catalogue    scenarios.Catalogue
	playAll      bool          // E2E_ALL
	operator     *installation // nil before it is installed and after it was uninstalled
)

func TestMain(m *testing.M) {
	if os.Getenv("E2E_PROVIDER") == "" {
		// `go test ./...` shall not create a cluster.
		fmt.Println("end-to-end tests are left out: `make e2e` runs them, as does E2E_PROVIDER=auto")
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, m)
	if ctx.Err() != nil {
		code = interrupted
	}
	stop()
	os.Exit(code)
}

// run sets up, runs what FOCUS selects, tears down and sums up.
func run(ctx context.Context, m *testing.M) int {
	ctx, cancel := context.WithTimeoutCause(ctx, runTimeout, fmt.Errorf("the run took longer than %s", runTimeout))
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
		reporter.Fail(fmt.Errorf("the run was ended: %w", context.Cause(ctx)))
	}
	if artifactsDir != "" {
		if err := reporter.WriteJUnit(artifactsDir, filepath.Base(artifactsDir)); err != nil {
			reporter.Fail(err)
		}
	}
	if testCluster == nil {
		return 1 // the error has been reported
	}
	if err := reporter.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return code
}

// prepare reads the settings, before anything is created.
func prepare(ctx context.Context) error {
	focus := os.Getenv("FOCUS")
	if _, err := regexp.Compile(focus); err != nil {
		return fmt.Errorf("FOCUS=%s is no regular expression: %w", focus, err)
	}
	if err := readKeepMode(); err != nil {
		return err
	}
	switch all := os.Getenv("E2E_ALL"); all {
	case "", "1":
		playAll = all == "1"
	default:
		return fmt.Errorf("E2E_ALL=%s: it is 1, or empty", all)
	}
	var err error
	if options, err = cluster.FromEnvironment(); err != nil {
		return err
	}
	options.Progress = reporter

	// What libraries log is no part of the report.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())

	config := envconf.New().WithParallelTestEnabled()
	if focus != "" {
		config.WithFeatureRegex(focus)
	}
	environment, err = env.NewWithContext(ctx, config)
	return err
}

// step returns a step of the setup as e2e-framework wants it, and reports its error, which the framework only logs.
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

// openCluster creates the cluster, or reuses the kept one.
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
	// Artifacts of earlier runs stay, except those that this one reads or sums up.
	for _, own := range []string{operatorLogs(), coverageDir(), filepath.Join(artifactsDir, "junit.xml")} {
		if err := os.RemoveAll(own); err != nil {
			return err
		}
	}
	state := "ready"
	if testCluster.Reused {
		state = "was there before"
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

// tearDown removes what the run has created, unless it is to be kept, and reports errors.
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
		if coverageEnabled() {
			errs = append(errs, operator.Scale(ctx, 0))
		}
		errs = append(errs, operator.Stop())
		if !keeps && testCluster.Reused {
			errs = append(errs, operator.Uninstall(ctx))
		}
	}
	if k8sClient != nil && !keeps && testCluster.Reused {
		errs = append(errs, deleteLeftovers(ctx))
	}
	errs = append(errs, gatherCoverage(ctx), testCluster.Close(ctx, keeps))
	if err := errors.Join(errs...); err != nil {
		reporter.Fail(fmt.Errorf("the teardown is not complete: %w", err))
		return err
	}
	what := "cluster removed"
	switch {
	case testCluster.Provider == cluster.Existing:
		what = "cluster left as it was"
	case keeps || testCluster.Reused:
		what = fmt.Sprintf("cluster kept until `make e2e-down`: export KUBECONFIG=%s", testCluster.Kubeconfig)
	}
	reporter.Phase("teardown", time.Since(began), "%s", what)
	return nil
}

// keepMode is E2E_KEEP: whether the cluster that this run has created is kept "never", if a scenario has "failed", or "always".
var keepMode = "never"

func readKeepMode() error {
	words := []string{"never", "failed", "always"}
	if word := os.Getenv("E2E_KEEP"); word != "" {
		keepMode = word
	}
	if !slices.Contains(words, keepMode) {
		return fmt.Errorf("E2E_KEEP=%s: choose one of %s", keepMode, strings.Join(words, ", "))
	}
	return nil
}

// keepCluster decides that at the end of a run.
func keepCluster() bool {
	return keepMode == "always" || keepMode == "failed" && reporter.HasFailed()
}
