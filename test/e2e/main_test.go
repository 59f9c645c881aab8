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
	told        = report.New(os.Stdout)
	settings    cluster.Options
	artifacts   string
	environment types.Environment
	where       *cluster.Cluster
	user        client.WithWatch // who may do anything: the stories' user
	catalogue   scenarios.Catalogue
	assay       *installation // nil before it is installed and after it was uninstalled
)

func TestMain(m *testing.M) {
	if os.Getenv("E2E_PROVIDER") == "" {
		// Nobody who types go test ./... means to make a cluster.
		fmt.Println("end-to-end tests are left out: `make e2e` runs them, as does E2E_PROVIDER=auto")
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, m)
	if ctx.Err() != nil {
		code = interrupted
	}
	stop()
	os.Exit(code)
}

// run sets up, plays what FOCUS selects, and tears down.
func run(ctx context.Context, m *testing.M) int {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, fmt.Errorf("the run took longer than %s", timeLimit))
	defer cancel()
	if err := prepare(ctx); err != nil {
		told.Fail(err)
		return 1
	}
	environment.
		Setup(step(openCluster), step(provideImages), step(installOperator)).
		Finish(step(tearDown))
	code := environment.Run(m)
	if ctx.Err() != nil {
		told.Fail(fmt.Errorf("the run was ended: %w", context.Cause(ctx)))
	}
	if where == nil {
		return 1 // there is nothing to sum up
	}
	if err := errors.Join(told.Close(), told.WriteJUnit(filepath.Join(artifacts, "junit.xml"), "e2e on "+string(where.Provider))); err != nil {
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

// step makes a step of the setup or the teardown what e2e-framework wants it to be. The framework
// hides the errors of a teardown, so they are told here.
func step(do func(ctx context.Context) error) types.EnvFunc {
	return func(ctx context.Context, _ *envconf.Config) (context.Context, error) {
		err := do(ctx)
		if err != nil && ctx.Err() == nil {
			told.Fail(err)
		}
		return ctx, err
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
	if artifacts, err = filepath.Abs(filepath.Join("../../_artifacts", "e2e-"+string(provider))); err != nil {
		return err
	}
	// Evidence of earlier runs stays; what this one reads or adds up may not be mixed with theirs.
	for _, own := range []string{operatorLogs(), coverageDir()} {
		if err := os.RemoveAll(own); err != nil {
			return err
		}
	}
	if where, err = cluster.Open(ctx, settings); err != nil {
		return err
	}
	state := "ready"
	if where.Attached {
		state = "kept from before, ready"
	}
	told.Phase("cluster", time.Since(began), "%s, %s", where.Version, state)
	user, err = client.NewWithWatch(where.Config, client.Options{Scheme: controller.Scheme()})
	return err
}

// tearDown removes what the run has made, unless it is to be kept.
func tearDown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownLimit)
	defer cancel()
	if where == nil {
		return nil
	}
	began := time.Now()
	keep := keepCluster()
	var errs []error
	if assay != nil {
		if covered() {
			errs = append(errs, assay.Scale(ctx, 0))
		}
		errs = append(errs, assay.Stop())
		if !keep && (where.Attached || where.Provider == cluster.Existing) {
			errs = append(errs, assay.Uninstall(ctx), tidy(ctx))
		}
	}
	errs = append(errs, gatherCoverage(ctx), where.Close(ctx, keep))
	what := "removed"
	if keep || where.Attached {
		what = "kept: export KUBECONFIG=" + where.Kubeconfig
	}
	told.Phase("teardown", time.Since(began), "cluster %s", what)
	return errors.Join(errs...)
}
