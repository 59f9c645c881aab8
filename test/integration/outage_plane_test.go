package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/operator/config"
	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/scenarios"
)

// outage is a control plane that the test can kill. It has its own operator.
type outage struct {
	plane    *controlplane.ControlPlane
	history  *record.History
	identity *rest.Config
	operator *operator
}

func newOutage(ctx context.Context) *outage {
	GinkgoHelper()
	o := &outage{}
	var err error
	o.plane, err = controlplane.Start(ctx, controlplane.Options{CRDs: []string{"../../operator/config/crd/bases"}, Scheme: controller.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(o.plane.Stop()).To(Succeed()) })
	lister, err := record.NewResourceLister(o.plane.Config)
	Expect(err).NotTo(HaveOccurred())
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	DeferCleanup(stop)
	o.history, err = lister.History(watching, o.plane.Client)
	Expect(err).NotTo(HaveOccurred())
	o.identity, err = o.plane.User(ctx, "assay-operator", config.Role)
	Expect(err).NotTo(HaveOccurred())
	return o
}

func (o *outage) newOperator() {
	o.operator = newOperator(o.identity)
}

func (o *outage) startOperator(ctx context.Context) {
	GinkgoHelper()
	o.newOperator()
	Expect(o.operator.Start(ctx)).To(Succeed())
	DeferCleanup(o.operator.Stop)
}

// play runs all scenarios in parallel, each in its own namespace, and returns the namespaces by scenario name. It calls
// the function before when all scenarios are ready for their last action, and the function after when all of them have
// performed it. If a scenario fails because its node port has leaked, its namespace is returned as an empty string.
func (o *outage) play(ctx context.Context, before, after func()) map[string]string {
	GinkgoHelper()
	all := scenarios.All()
	var arriving, acting, playing sync.WaitGroup
	arriving.Add(len(all))
	acting.Add(len(all))
	proceed := make(chan struct{})
	wait := func(ctx context.Context) error {
		select {
		case <-proceed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	errs, namespaces := make([]error, len(all)), make([]string, len(all))
	for i, s := range all {
		arrive, act := sync.OnceFunc(arriving.Done), sync.OnceFunc(acting.Done)
		last := len(s.Steps) - 1
		for !s.Steps[last].IsAction {
			last--
		}
		s.Steps = slices.Insert(slices.Clone(s.Steps), last+1, scenario.Step{Name: "Act", Run: func(context.Context, *scenario.Env) error { act(); return nil }})
		s.Steps = slices.Insert(s.Steps, last, scenario.Step{Name: "Arrive", Run: func(ctx context.Context, _ *scenario.Env) error { arrive(); return wait(ctx) }})
		playing.Go(func() {
			defer arrive() // also if the scenario has failed
			defer act()
			namespaces[i], errs[i] = o.playOne(ctx, s)
		})
	}
	arriving.Wait()
	before()
	close(proceed)
	acting.Wait()
	after()
	playing.Wait()
	byName := map[string]string{}
	for i, s := range all {
		byName[s.Name] = namespaces[i]
		if errs[i] != nil {
			keepArtifacts(o.plane, o.operator, namespaces[i])
		}
	}
	Expect(errors.Join(errs...)).To(Succeed())
	return byName
}

// playOne runs a scenario in a new namespace and waits until the namespace is stable.
func (o *outage) playOne(ctx context.Context, s scenario.Scenario) (namespace string, err error) {
	if namespace, err = o.plane.CreateNamespace(ctx, "outage"); err != nil {
		return "", err
	}
	env := &scenario.Env{Client: o.plane.Client, Namespace: namespace, StepTimeout: outageTimeout, History: o.history}
	if err := s.Run(ctx, env, nil); err != nil {
		if scenarios.HasLeakedNodePort(o.history.Objects(namespace)) {
			AddReportEntry("leaked node port", s.Name)
			return "", nil
		}
		return namespace, err
	}
	ending, cancel := context.WithTimeout(ctx, outageTimeout)
	defer cancel()
	var idle, stable error
	var waiting sync.WaitGroup
	waiting.Go(func() { idle = o.operator.Requests.WaitIdle(ending, stableFor, record.InNamespace(namespace)) })
	waiting.Go(func() { stable = o.history.WaitStable(ending, namespace, stableFor) })
	waiting.Wait()
	if err := errors.Join(idle, stable); err != nil {
		return namespace, fmt.Errorf("%s: %w", s.Name, err)
	}
	return namespace, nil
}

func (o *outage) snapshot(namespace string) oracle.Snapshot {
	objects := slices.DeleteFunc(o.history.Objects(namespace), func(object unstructured.Unstructured) bool { return object.GetKind() == "Event" })
	return oracle.NewSnapshot(namespace, objects)
}

// playReference runs all scenarios on the suite's control plane and returns their final states by scenario.
func playReference(ctx context.Context) map[string]oracle.Snapshot {
	GinkgoHelper()
	reference := &outage{plane: plane, history: history, operator: assay}
	states := map[string]oracle.Snapshot{}
	for name, namespace := range reference.play(ctx, func() {}, func() {}) {
		states[name] = reference.snapshot(namespace)
	}
	return states
}

// judge compares final states with the reference states, and checks all statuses and the operator's back-off.
func (o *outage) judge(ctx context.Context, want map[string]oracle.Snapshot, got map[string]string) {
	GinkgoHelper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == "" {
			continue // its node port has leaked
		}
		err := o.history.WaitFor(ctx, got[name], outageTimeout, func(context.Context) error { // the watches of the history may recover later
			if diff := oracle.Diff(want[name], o.snapshot(got[name])); diff != "" {
				return errors.New(diff)
			}
			return nil
		})
		if err = errors.Join(err, scenarios.StatusIsConsistent(o.history.Versions(got[name]))); err != nil {
			keepArtifacts(o.plane, o.operator, got[name])
			Fail(fmt.Sprintf("%s: %s", name, err))
		}
	}
	Expect(oracle.BoundedRetries(o.operator.Requests.Requests())).To(Succeed())
}
