// Package e2e proves the built operator from outside, as its users meet it: on kind in containers, on
// KWOK as a process, or in a cluster that exists. It plays the catalogue of test/scenarios and what
// only a whole cluster can show. tests_test.go is the list of it all.
//
// Every test is a scenario, and every scenario one of e2e-framework's features, so that FOCUS, the
// report and the evidence are the same for all.
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
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/harness/cluster"
	"github.com/operator-assay/assay/test/harness/report"
	"github.com/operator-assay/assay/test/scenarios"
)

const (
	// timeLimit is for the whole run. What has not ended by then is evaluated and torn down, which a
	// limit of the go command would not do.
	timeLimit = 40 * time.Minute
	// teardownLimit is for what must be done even after the run's context has ended.
	teardownLimit = 3 * time.Minute
	// interrupted is the exit code that shells expect of a program that was interrupted.
	interrupted = 130
)

// What the setup makes, in this order.
var (
	told         = report.New(os.Stdout)
	settings     cluster.Options
	artifactsDir string
	environment  types.Environment
	where        *cluster.Cluster
	user         client.WithWatch // who may do anything: the stories' user
	catalogue    scenarios.Catalogue
	assay        *installation // nil before it is installed and after it was uninstalled
)

func TestMain(m *testing.M) {
	if os.Getenv("E2E_PROVIDER") == "" {
		// Nobody who types go test ./... means to make a cluster.
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

// run sets up, plays what FOCUS selects, tears down and sums up.
func run(ctx context.Context, m *testing.M) int {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, fmt.Errorf("the run took longer than %s", timeLimit))
	defer cancel()
	if err := prepare(ctx); err != nil {
		told.Fail(err)
		return 1
	}
	environment.
		Setup(step(openCluster), step(provideImages), step(installOperator)).
		Finish(func(ctx context.Context, _ *envconf.Config) (context.Context, error) { return ctx, tearDown(ctx) })
	code := environment.Run(m)
	if ctx.Err() != nil {
		told.Fail(fmt.Errorf("the run was ended: %w", context.Cause(ctx)))
	}
	if artifactsDir != "" {
		if err := told.WriteJUnit(filepath.Join(artifactsDir, "junit.xml"), filepath.Base(artifactsDir)); err != nil {
			told.Fail(err)
		}
	}
	if where == nil {
		return 1 // what there is to say has been said
	}
	if err := told.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return code
}

// prepare reads what the user asks for, before anything is made.
func prepare(ctx context.Context) error {
	focus := os.Getenv("FOCUS")
	if _, err := regexp.Compile(focus); err != nil {
		return fmt.Errorf("FOCUS=%s is no regular expression: %w", focus, err)
	}
	if err := readKeep(); err != nil {
		return err
	}
	var err error
	if settings, err = cluster.FromEnvironment(); err != nil {
		return err
	}
	settings.Progress = told

	// What libraries have to say is none of the story.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())

	config := envconf.New().WithParallelTestEnabled()
	if focus != "" {
		config.WithFeatureRegex(focus)
	}
	environment, err = env.NewWithContext(ctx, config)
	return err
}

// step makes a step of the setup what e2e-framework wants it to be, and tells why it failed: the
// framework only logs that.
func step(do func(ctx context.Context) error) types.EnvFunc {
	return func(ctx context.Context, _ *envconf.Config) (_ context.Context, err error) {
		defer func() {
			if panicked := recover(); panicked != nil {
				err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
			}
			if err != nil && ctx.Err() == nil {
				told.Fail(err)
			}
		}()
		return ctx, do(ctx)
	}
}

// openCluster makes the cluster, or goes to the one that is kept.
func openCluster(ctx context.Context) error {
	began := time.Now()
	provider, reason, err := cluster.Choose(ctx, string(settings.Provider))
	if err != nil {
		return err
	}
	fmt.Fprintf(told, "%-10s %s, %s\n", "cluster", provider, reason)
	settings.Provider = provider
	folder := "e2e-" + string(provider)
	if settings.Name != "" && settings.Name != "assay" {
		folder += "-" + settings.Name
	}
	if where, err = cluster.Open(ctx, settings); err != nil {
		return err
	}
	if artifactsDir, err = filepath.Abs(filepath.Join(root, "_artifacts", folder)); err != nil {
		return err
	}
	// Evidence of earlier runs stays; what this one reads or adds up may not be mixed with theirs.
	for _, own := range []string{operatorLogs(), coverageDir(), filepath.Join(artifactsDir, "junit.xml")} {
		if err := os.RemoveAll(own); err != nil {
			return err
		}
	}
	state := "ready"
	if where.Reused {
		state = "was there before"
	}
	told.Phase("cluster", time.Since(began), "%s, %s", where.Version, state)
	if err := findKubectl(ctx); err != nil {
		return err
	}
	user, err = client.NewWithWatch(where.Config, client.Options{Scheme: controller.Scheme()})
	return err
}

// tearDown removes what the run has made, unless it is to be kept, and tells itself what fails.
func tearDown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownLimit)
	defer cancel()
	if where == nil {
		return nil
	}
	began, keeps := time.Now(), keepCluster()
	var errs []error
	if told.HasFailed() {
		errs = append(errs, where.ExportLogs(ctx, filepath.Join(artifactsDir, "cluster")))
	}
	if assay != nil {
		if covered() {
			errs = append(errs, assay.Scale(ctx, 0))
		}
		errs = append(errs, assay.Stop())
		if !keeps && where.Reused {
			errs = append(errs, assay.Uninstall(ctx))
		}
	}
	if user != nil && !keeps && where.Reused {
		errs = append(errs, tidy(ctx))
	}
	errs = append(errs, gatherCoverage(ctx), where.Close(ctx, keeps))
	if err := errors.Join(errs...); err != nil {
		told.Fail(fmt.Errorf("the teardown is not complete: %w", err))
		return err
	}
	what := "cluster removed"
	switch {
	case where.Provider == cluster.Existing:
		what = "cluster left as it was"
	case keeps || where.Reused:
		what = fmt.Sprintf("cluster kept until `make e2e-down`: export KUBECONFIG=%s", where.Kubeconfig)
	}
	told.Phase("teardown", time.Since(began), "%s", what)
	return nil
}
