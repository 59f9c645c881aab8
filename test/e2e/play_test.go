package e2e

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/operator-assay/assay/test/harness/report"
	"github.com/operator-assay/assay/test/harness/scenario"
	"github.com/operator-assay/assay/test/scenarios"
)

// patience is how long a state may take to come about, with several scenarios at once on a machine of
// two cores, and after the operator's death the 15 s for which its Lease still holds.
func patience() time.Duration {
	if where.Provider == cluster.Existing {
		return 5 * time.Minute // images are pulled, nodes are added
	}
	return 2 * time.Minute
}

// places bounds how many scenarios are played at the same time: about as many as keep two cores busy
// while containers start.
var places = make(chan struct{}, 6)

// play is one scenario that is being played in a namespace of its own.
type play struct {
	scenario.Scenario
	world   *scenario.World
	witness *scenario.Witness
	told    *report.Run
	end     context.CancelFunc
}

// feature makes a scenario one of e2e-framework's features, with an assessment for each step. What
// is done first belongs to the first assessment, because a feature whose setup fails is not torn down.
func feature(s scenario.Scenario) types.Feature {
	p := &play{Scenario: s}
	f := frameworkfeatures.New(s.Name)
	for i, step := range s.Steps {
		f.Assess(step.Name, func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			if i == 0 {
				p.begin(ctx, t)
			}
			p.step(ctx, t, step)
			return ctx
		})
	}
	f.Assess("StatusIsTruthful", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		p.step(ctx, t, scenario.Step{Name: "StatusIsTruthful", Run: func(context.Context, *scenario.World) error {
			return scenarios.StatusIsTruthful(p.witness.History())
		}})
		p.told.Passed()
		return ctx
	})
	f.Teardown(func(ctx context.Context, _ *testing.T, _ *envconf.Config) context.Context {
		p.tearDown(ctx)
		return ctx
	})
	return f.Feature()
}

// begin waits for a place and makes the scenario's world.
func (p *play) begin(ctx context.Context, t *testing.T) {
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		t.FailNow()
	}
	p.told = told.Begin(p.Name)
	watching, end := context.WithCancel(ctx)
	p.end = func() { end(); <-places }
	p.world = &scenario.World{Client: user, Patience: patience()}
	var err error
	if p.world.Namespace, err = newNamespace(ctx, p.Name); err == nil {
		p.witness, err = p.world.Witness(watching, p.Subject, appsv1.SchemeGroupVersion.WithKind("Deployment"),
			appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), corev1.SchemeGroupVersion.WithKind("Pod"))
	}
	if err != nil {
		p.fail(ctx, t, scenario.Outcome{Step: "Namespace", Err: err})
	}
}

// step plays a step, tells of it, and ends the test when it fails.
func (p *play) step(ctx context.Context, t *testing.T, step scenario.Step) {
	outcome := p.Play(ctx, step, p.world)
	if outcome.Err != nil {
		p.fail(ctx, t, outcome)
	}
	p.told.Step(outcome)
}

// fail ends the test, with what explains it unless it was ended from outside.
func (p *play) fail(ctx context.Context, t *testing.T, outcome scenario.Outcome) {
	ended := ctx.Err() != nil
	if ended {
		outcome.Err = errors.New("the run was ended")
	}
	p.told.Step(outcome)
	if !ended {
		p.told.Explain("evidence", collectEvidence(ctx, p.Name, p.world.Namespace))
		p.told.Explain("rerun", fmt.Sprintf("make e2e FOCUS='^%s$' E2E_PROVIDER=%s", p.Name, where.Provider))
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
	if p.world.Namespace == "" || p.told.HasFailed() && keep != "never" {
		return
	}
	namespace := &corev1.Namespace{}
	namespace.Name = p.world.Namespace
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
