package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
)

// Observation is what a scenario leads to without a fault.
type Observation struct {
	// States are those in which the scenario's steps waited for convergence.
	States []oracle.Snapshot
	// Children are the objects that the operator created and that are still there, in the order of their creation.
	Children []Child
	// Refused are the operator's requests that the API server found forbidden or invalid, each kind of them once, with the first
	// message: "create pods, 422: image is required".
	Refused []string
	first   observedRun
}

// Child is an object that the operator created.
type Child struct {
	Kind schema.GroupVersionKind
	// Name has a * in place of what differs from run to run.
	Name string
}

// AddScenario adds one to Options.Scenarios.
func (e *Explorer) AddScenario(s scenario.Scenario) error {
	if err := e.validateNamespaced(s); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Scenarios = append(e.Scenarios, s)
	return nil
}

// Observe plays a scenario once without a fault. It returns an error if the scenario fails or never converges.
func (e *Explorer) Observe(ctx context.Context, s scenario.Scenario) (Observation, error) {
	e.slots <- struct{}{}
	defer func() { <-e.slots }()
	if ctx.Err() != nil {
		return Observation{}, context.Cause(ctx)
	}
	ref := &reference{}
	run, err := e.runWithoutFault(ctx, s, ref)
	if err != nil {
		return Observation{}, err
	}
	return Observation{run.checkpoints, e.children(run), refused(run.injector.Requests.Requests()), observedRun{ref, run}}, nil
}

// LearnFrom has the reference of the scenario of a name begin with what was observed of it, so that it takes a run less.
func (e *Explorer) LearnFrom(name string, observed Observation) {
	e.observed.Store(name, observed.first)
}

// observedRun is a run without a fault that a reference can begin with.
type observedRun struct {
	ref *reference
	run *baseline
}

// takeObserved returns a reference that is to be learnt, and its first run if the scenario was observed as it is learnt.
func (e *Explorer) takeObserved(name string) (*reference, *baseline) {
	known, _ := e.observed.LoadAndDelete(name)
	was, is := known.(observedRun)
	if !is || was.run.at.alone != e.places.needed.Load() {
		return &reference{}, nil
	}
	return was.ref, was.run
}

// refused describes the requests that the API server found forbidden or invalid, each kind of them once.
func refused(requests record.Requests) []string {
	first := map[string]string{}
	for _, r := range requests.Filter(func(r record.Request) bool {
		return r.Status == http.StatusForbidden || r.Status == http.StatusUnprocessableEntity
	}) {
		kind := fmt.Sprintf("%s %s, %d", r.Verb, r.Target(), r.Status)
		if _, known := first[kind]; known {
			continue
		}
		if first[kind] = kind; r.Message != "" {
			first[kind] += ": " + r.Message
		}
	}
	return slices.Sorted(maps.Values(first))
}

// children finds the objects that the operator created in a run.
func (e *Explorer) children(run *baseline) []Child {
	var children []Child
	for _, write := range run.injector.Writes() {
		if !write.Created {
			continue
		}
		kind, known := e.kinds[schema.ParseGroupResource(write.Target)]
		name := asPattern(write.Object)
		if !known || strings.Count(name, "*") > 1 {
			continue
		}
		child := Child{Kind: kind.WithVersion(versionOf(run.history, kind, name)), Name: name}
		if child.Kind.Version != "" && !slices.Contains(children, child) {
			children = append(children, child)
		}
	}
	return children
}

// asPattern replaces what a recorded name has in place of what differs.
func asPattern(name string) string {
	return strings.NewReplacer("<namespace>", "*", "<uid>", "*", "<hash>", "*").Replace(name)
}

// versionOf returns the API version of the last object in a history that has the kind and the name; empty if there is
// none, or if it was deleted.
func versionOf(history []record.ObjectVersion, kind schema.GroupKind, pattern string) string {
	prefix, suffix, isPattern := strings.Cut(pattern, "*")
	for _, version := range slices.Backward(history) {
		name := version.GetName()
		matches := name == pattern || isPattern && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix)
		if version.GroupVersionKind().GroupKind() == kind && matches {
			if version.Deleted {
				return ""
			}
			return version.GroupVersionKind().Version
		}
	}
	return ""
}

// Check plays each scenario once without a fault, and returns why each of those fails that does.
func (e *Explorer) Check(ctx context.Context) error {
	failures := make([]error, len(e.Scenarios))
	var checking sync.WaitGroup
	for i, s := range e.Scenarios {
		checking.Go(func() { _, failures[i] = e.Observe(ctx, s) })
	}
	checking.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed := slices.DeleteFunc(slices.Clone(failures), func(err error) bool { return err == nil })
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d scenarios fail without any fault:\n%w", len(failed), len(e.Scenarios), errors.Join(failed...))
}
