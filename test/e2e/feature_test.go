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

// scenarioRun is one run of a scenario, in a namespace of its own.
type scenarioRun struct {
	scenario.Scenario
	env     *scenario.Env
	history *record.History
	report  *report.Run // nil before the run has started
	stop    func()
}

// feature returns a scenario as a feature of e2e-framework, with an assessment for each step. The setup is part of the first
// assessment, because a feature whose setup fails is not torn down. It waits for one of slots, unless they are nil. ended is
// called in any case.
func feature(s scenario.Scenario, slots *semaphore.Weighted, ended func()) types.Feature {
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
		ended()
		r.tearDown(ctx)
		return ctx
	})
	return f.Feature()
}

// start waits for a slot and makes the scenario's environment.
func (r *scenarioRun) start(ctx context.Context, t *testing.T, slots *semaphore.Weighted) {
	release := func() {}
	err := ctx.Err()
	if slots != nil {
		err = slots.Acquire(ctx, 1)
		release = func() { slots.Release(1) }
	}
	if err != nil {
		t.SkipNow() // the suite has ended before this one began
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

// step runs a step, reports it, and ends the test when it fails.
func (r *scenarioRun) step(ctx context.Context, t *testing.T, step scenario.Step) {
	if r.report == nil {
		t.SkipNow()
	}
	bounded, cancel := context.WithTimeoutCause(ctx, hangTimeout(), errors.New("the step hangs"))
	defer cancel()
	result := r.RunStep(bounded, step, r.env)
	if result.Err != nil {
		r.fail(ctx, t, result)
	}
	r.report.Step(result)
}

// statusIsAccurate judges every version that the history has.
func (r *scenarioRun) statusIsAccurate(ctx context.Context, env *scenario.Env) error {
	return r.history.WaitFor(ctx, r.env.Namespace, historyTimeout, func(context.Context) error {
		history := r.history.Versions(r.env.Namespace)
		env.Detailf("%d versions", len(history))
		if len(history) == 0 && slices.ContainsFunc(r.Steps, func(s scenario.Step) bool { return s.IsAction }) {
			return errors.New("the history is empty")
		}
		return scenarios.StatusIsAccurate(history)
	})
}

// fail ends the test, and reports the artifacts and how to run it again, unless the whole run was ended.
func (r *scenarioRun) fail(ctx context.Context, t *testing.T, result scenario.StepResult) {
	ended := ctx.Err() != nil
	if ended {
		result.Err = errors.New("the run was ended")
	}
	r.report.Step(result)
	var artifacts, rerun string
	if !ended {
		artifacts = collectArtifacts(ctx, r.Name, r.env.Namespace)
		rerun = fmt.Sprintf("make e2e FOCUS='^%s$' E2E_PROVIDER=%s", r.Name, testCluster.Provider)
	}
	r.report.Failed(artifacts, rerun)
	t.FailNow()
}

// tearDown starts the deletion of the namespace, which takes seconds. Only the uninstallation waits for it.
func (r *scenarioRun) tearDown(ctx context.Context) {
	if r.report == nil {
		return // it never started
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

// namespaceLabel marks the namespaces of this suite.
const namespaceLabel = "operator-assay.github.io/e2e"

// newNamespace creates a namespace. All but those of WebServers, whose image runs as root, enforce the
// restricted Pod Security Standard.
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
