package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/semaphore"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	frameworkfeatures "sigs.k8s.io/e2e-framework/pkg/features"
	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/test/scenarios"
)

type scenarioRun struct {
	scenario.Scenario
	env     *scenario.Env
	history *record.History
	report  *report.Scenario // nil until the run has started
	stop    func()
}

// feature converts a scenario to a feature of e2e-framework with one assessment per step. The setup is part of the first
// assessment, because the framework does not tear down a feature whose setup fails. If slots is not nil, the feature
// first acquires one of them.
func feature(s scenario.Scenario, slots *semaphore.Weighted) types.Feature {
	r := &scenarioRun{Scenario: s}
	f := frameworkfeatures.New(s.Name)
	for i, step := range append(slices.Clone(s.Steps), scenario.Step{Name: "StatusIsAccurate", Run: r.statusIsAccurate}) {
		f.Assess(step.Name, func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			if i == 0 {
				r.start(ctx, t, slots)
			}
			r.step(ctx, t, step)
			if i == len(s.Steps) {
				r.report.Passed()
			}
			return ctx
		})
	}
	f.Teardown(func(ctx context.Context, _ *testing.T, _ *envconf.Config) context.Context {
		r.tearDown(ctx)
		return ctx
	})
	return f.Feature()
}

func (r *scenarioRun) start(ctx context.Context, t *testing.T, slots *semaphore.Weighted) {
	release := func() {}
	err := ctx.Err()
	if slots != nil {
		err = slots.Acquire(ctx, 1)
		release = func() { slots.Release(1) }
	}
	if err != nil {
		t.SkipNow() // the run was cancelled
	}
	r.report = reporter.Start(r.Name)
	watching, stop := context.WithCancel(ctx)
	r.stop = func() { stop(); release() }
	r.env = &scenario.Env{Client: k8sClient, StepTimeout: stepTimeout()}
	if r.env.Namespace, err = newNamespace(ctx, r.Name); err == nil {
		r.history, err = record.NewHistory(watching, k8sClient, r.env.Namespace, r.Subject, appsv1.SchemeGroupVersion.WithKind("Deployment"),
			appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), corev1.SchemeGroupVersion.WithKind("Pod"))
	}
	if err != nil {
		r.fail(ctx, t, scenario.StepResult{Step: "Namespace", Err: err})
	}
}

func (r *scenarioRun) step(ctx context.Context, t *testing.T, step scenario.Step) {
	if r.report == nil {
		t.SkipNow()
	}
	result := r.RunStep(ctx, step, r.env)
	if result.Err != nil {
		r.fail(ctx, t, result)
	}
	r.report.Step(result)
}

func (r *scenarioRun) statusIsAccurate(ctx context.Context, env *scenario.Env) error {
	return r.history.WaitFor(ctx, r.env.Namespace, historyTimeout, func(context.Context) error {
		history := r.history.Versions(r.env.Namespace)
		env.Detailf("%d versions", len(history))
		if len(history) == 0 && slices.ContainsFunc(r.Steps, func(s scenario.Step) bool { return s.IsAction }) {
			return errors.New("got no versions in the history, want at least one")
		}
		return scenarios.StatusIsAccurate(history)
	})
}

// fail reports a failed step and ends the test. Unless the run was cancelled, it also collects artifacts and reports
// how to rerun the scenario.
func (r *scenarioRun) fail(ctx context.Context, t *testing.T, result scenario.StepResult) {
	cancelled := ctx.Err() != nil
	if cancelled {
		result.Err = errors.New("the run was cancelled")
	}
	r.report.Step(result)
	var artifacts, rerun string
	if !cancelled {
		artifacts = collectArtifacts(ctx, r.Name, r.env.Namespace)
		rerun = fmt.Sprintf("make e2e FOCUS='^%s$' E2E_PROVIDER=%s", r.Name, testCluster.Provider)
	}
	r.report.Failed(artifacts, rerun)
	t.FailNow()
}

// tearDown starts the deletion of the namespace, but does not wait for it.
func (r *scenarioRun) tearDown(ctx context.Context) {
	if r.report == nil {
		return
	}
	r.stop()
	if r.env.Namespace == "" || r.report.HasFailed() && keepMode != "never" {
		return
	}
	namespace := &corev1.Namespace{}
	namespace.Name = r.env.Namespace
	if err := client.IgnoreNotFound(k8sClient.Delete(context.WithoutCancel(ctx), namespace)); err != nil {
		reporter.Fail(fmt.Errorf("cannot delete namespace %s: %w", namespace.Name, err))
	}
}

const namespaceLabel = "operator-assay.github.io/e2e"

// newNamespace creates a namespace that enforces the restricted Pod Security Standard. The namespaces of WebServers
// enforce only the baseline standard, because their image runs as root.
func newNamespace(ctx context.Context, name string) (string, error) {
	level := "restricted"
	if strings.HasPrefix(name, "webserver") {
		level = "baseline"
	}
	namespace := &corev1.Namespace{}
	namespace.GenerateName = "assay-e2e-" + strings.NewReplacer("/", "-").Replace(name) + "-"
	namespace.Labels = map[string]string{namespaceLabel: "", "pod-security.kubernetes.io/enforce": level}
	if err := k8sClient.Create(ctx, namespace); err != nil {
		return "", err
	}
	return namespace.Name, nil
}
