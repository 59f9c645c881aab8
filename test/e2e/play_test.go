package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	frameworkfeatures "sigs.k8s.io/e2e-framework/pkg/features"
	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/test/harness/cluster"
	"github.com/operator-assay/assay/test/harness/record"
	"github.com/operator-assay/assay/test/harness/report"
	"github.com/operator-assay/assay/test/harness/scenario"
	"github.com/operator-assay/assay/test/scenarios"
)

// patience is how long a state may take to come about. It covers, on a machine of two cores with
// several scenarios at once, the 15 s for which a dead operator's Lease holds, and the time until the
// garbage collector of a new cluster finds the kinds.
func patience() time.Duration {
	switch where.Provider {
	case cluster.KWOK:
		return 90 * time.Second
	case cluster.Existing:
		return 5 * time.Minute // images are pulled, nodes are added
	default:
		return 2 * time.Minute
	}
}

// places are for scenarios that are played at the same time; nil has no bounds.
type places chan struct{}

func (p places) take(ctx context.Context) (leave func(), err error) {
	if p == nil {
		return func() {}, ctx.Err()
	}
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// play is one scenario that is being played in a namespace of its own.
type play struct {
	scenario.Scenario
	env     *scenario.Env
	history *record.History
	told    *report.Run // nil before the play has begun
	end     func()
}

// feature makes a scenario one of e2e-framework's features, with an assessment for each step. What
// is done first belongs to the first assessment, because a feature whose setup fails is not torn down.
// Whatever becomes of it, ended is called.
func feature(s scenario.Scenario, places places, ended func()) types.Feature {
	p := &play{Scenario: s}
	f := frameworkfeatures.New(s.Name)
	for i, step := range append(slices.Clone(s.Steps), scenario.Step{Name: "StatusIsAccurate", Run: p.statusIsAccurate}) {
		f.Assess(step.Name, func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			if i == 0 {
				p.begin(ctx, t, places)
			}
			p.step(ctx, t, step)
			if i == len(s.Steps) {
				p.told.Passed()
			}
			return ctx
		})
	}
	f.Teardown(func(ctx context.Context, _ *testing.T, _ *envconf.Config) context.Context {
		ended()
		p.tearDown(ctx)
		return ctx
	})
	return f.Feature()
}

// begin waits for a place and makes the scenario's world.
func (p *play) begin(ctx context.Context, t *testing.T, places places) {
	leave, err := places.take(ctx)
	if err != nil {
		t.SkipNow() // the run has ended before this one began
	}
	p.told = told.Start(p.Name)
	watching, stop := context.WithCancel(ctx)
	p.end = func() { stop(); leave() }
	p.env = &scenario.Env{Client: user, StepTimeout: patience()}
	if p.env.Namespace, err = newNamespace(ctx, p.Name); err == nil {
		p.history, err = record.NewHistory(watching, user, p.env.Namespace, p.Subject, appsv1.SchemeGroupVersion.WithKind("Deployment"),
			appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), corev1.SchemeGroupVersion.WithKind("Pod"))
	}
	if err != nil {
		p.fail(ctx, t, scenario.StepResult{Step: "Namespace", Err: err})
	}
}

// step plays a step, tells of it, and ends the test when it fails.
func (p *play) step(ctx context.Context, t *testing.T, step scenario.Step) {
	if p.told == nil {
		t.SkipNow()
	}
	// Steps bound their own waiting; this is for what hangs.
	bounded, cancel := context.WithTimeoutCause(ctx, 3*patience(), errors.New("the step hangs"))
	defer cancel()
	result := p.RunStep(bounded, step, p.env)
	if result.Err != nil {
		p.fail(ctx, t, result)
	}
	p.told.Step(result)
}

// statusIsAccurate judges what the witness has seen. Its watches are not in step with one another, so a
// status may be there before the Pod that it speaks of.
func (p *play) statusIsAccurate(ctx context.Context, env *scenario.Env) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return eventually(ctx, func(context.Context) error {
		history := p.history.Versions(p.env.Namespace)
		env.Detailf("%d versions", len(history))
		if len(history) == 0 && slices.ContainsFunc(p.Steps, func(s scenario.Step) bool { return s.IsAction }) {
			return errors.New("the witness has seen nothing")
		}
		return scenarios.StatusIsAccurate(history)
	})
}

// fail ends the test, with what explains it unless it was ended from outside.
func (p *play) fail(ctx context.Context, t *testing.T, result scenario.StepResult) {
	ended := ctx.Err() != nil
	if ended {
		result.Err = errors.New("the run was ended")
	}
	p.told.Step(result)
	if !ended {
		p.told.AddDetail("evidence", collectEvidence(ctx, p.Name, p.env.Namespace))
		p.told.AddDetail("rerun", fmt.Sprintf("make e2e FOCUS='^%s$' E2E_PROVIDER=%s", p.Name, where.Provider))
	}
	p.told.Failed()
	t.FailNow()
}

// tearDown begins the namespace's deletion. That takes seconds, and nobody waits for it but the
// uninstallation.
func (p *play) tearDown(ctx context.Context) {
	if p.told == nil {
		return // it never began
	}
	p.end()
	if p.env.Namespace == "" || p.told.HasFailed() && keep != "never" {
		return
	}
	namespace := &corev1.Namespace{}
	namespace.Name = p.env.Namespace
	if err := client.IgnoreNotFound(user.Delete(context.WithoutCancel(ctx), namespace)); err != nil {
		told.Fail(fmt.Errorf("cannot delete namespace %s: %w", namespace.Name, err))
	}
}

// namespaceLabel marks the namespaces of this suite.
const namespaceLabel = "operator-assay.github.io/e2e"

// newNamespace makes a namespace. All but those of WebServers, whose image runs as root, enforce the
// restricted Pod Security Standard.
func newNamespace(ctx context.Context, name string) (string, error) {
	level := "restricted"
	if strings.HasPrefix(name, "webserver") {
		level = "baseline"
	}
	namespace := &corev1.Namespace{}
	namespace.GenerateName = "assay-e2e-" + strings.NewReplacer("/", "-").Replace(name) + "-"
	namespace.Labels = map[string]string{namespaceLabel: "", "pod-security.kubernetes.io/enforce": level}
	if err := user.Create(ctx, namespace); err != nil {
		return "", err
	}
	return namespace.Name, nil
}
