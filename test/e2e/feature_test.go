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
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/test/scenarios"
)

// feature converts a scenario to a feature of e2e-framework. It has only one assessment, because play reports each step
// itself. slots limits the number of parallel scenarios, unless it is nil.
func feature(s scenario.Scenario, slots *semaphore.Weighted) types.Feature {
	return frameworkfeatures.New(s.Name).Assess("Steps", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		if slots != nil && slots.Acquire(ctx, 1) == nil {
			defer slots.Release(1)
		}
		if ctx.Err() != nil {
			t.SkipNow() // the run was cancelled
		}
		play(ctx, t, s)
		return ctx
	}).Feature()
}

// play runs a scenario in a new namespace and reports each step. If the scenario fails, play collects artifacts and
// reports how to rerun it, unless the whole run was cancelled.
func play(ctx context.Context, t *testing.T, s scenario.Scenario) {
	progress := reporter.Start(s.Name)
	report := func(result scenario.StepResult) {
		if result.Err != nil && ctx.Err() != nil {
			result.Err = errors.New("the run was cancelled")
		}
		progress.Step(result)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var history *record.History
	namespace, err := newNamespace(ctx, s.Name)
	if err == nil {
		history, err = record.NewHistory(watching, k8sClient, namespace, s.Subject, appsv1.SchemeGroupVersion.WithKind("Deployment"),
			appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), corev1.SchemeGroupVersion.WithKind("Pod"))
	}
	if err != nil {
		report(scenario.StepResult{Step: "Namespace", Err: err})
	} else {
		s.Steps = append(slices.Clone(s.Steps), statusIsAccurate(s, history))
		err = s.Run(ctx, &scenario.Env{Client: k8sClient, Namespace: namespace, StepTimeout: stepTimeout()}, report)
	}
	switch {
	case err == nil:
		progress.Passed()
	case ctx.Err() != nil:
		progress.Failed("", "")
	default:
		progress.Failed(collectArtifacts(ctx, s.Name, namespace), fmt.Sprintf("make e2e FOCUS='^%s$' E2E_PROVIDER=%s", s.Name, testCluster.Provider))
	}
	if err != nil {
		t.Fail()
	}
	if namespace != "" && (err == nil || !keepsFailed) {
		deleteNamespace(ctx, namespace)
	}
}

func statusIsAccurate(s scenario.Scenario, history *record.History) scenario.Step {
	return scenario.Step{Name: "StatusIsAccurate", Run: func(ctx context.Context, env *scenario.Env) error {
		return history.WaitFor(ctx, env.Namespace, historyTimeout, func(context.Context) error {
			versions := history.Versions(env.Namespace)
			env.Detailf("%d versions", len(versions))
			if len(versions) == 0 && slices.ContainsFunc(s.Steps, func(s scenario.Step) bool { return s.IsAction }) {
				return errors.New("got no versions in the history, want at least one")
			}
			return scenarios.StatusIsAccurate(versions)
		})
	}}
}

// deleteNamespace starts the deletion of a namespace, but does not wait for it.
func deleteNamespace(ctx context.Context, name string) {
	namespace := &corev1.Namespace{}
	namespace.Name = name
	if err := client.IgnoreNotFound(k8sClient.Delete(context.WithoutCancel(ctx), namespace)); err != nil {
		reporter.Fail(fmt.Errorf("cannot delete namespace %s: %w", name, err))
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
