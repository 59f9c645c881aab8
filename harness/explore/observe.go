package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
)

// Observation is the result of a fault-free run.
type Observation struct {
	// States contains the state at each step that waits for convergence.
	States []oracle.Snapshot
	// Children contains the objects that the operator created and that still exist, in order of creation.
	Children []oracle.Child
	// Refused lists the operator's requests that the API server rejected as forbidden or invalid, for example "create
	// pods, 422: image is required". Each combination of verb, resource and status code is listed once.
	Refused []string
	// Wrote is true if the operator sent a write since the first step began. Events and Leases do not count.
	Wrote bool
	// MissingAPIs lists the errors in the operator's log about APIs that are not installed.
	MissingAPIs []string
	ref         *reference
	run         *recording
}

// Observe runs a scenario once without a fault. It returns an error if the scenario fails or does not converge.
func (e *Explorer) Observe(ctx context.Context, s scenario.Scenario) (Observation, error) {
	e.player.slots <- struct{}{}
	defer func() { <-e.player.slots }()
	if ctx.Err() != nil {
		return Observation{}, context.Cause(ctx)
	}
	ref, run, err := e.learner.playFirst(ctx, s)
	if err != nil {
		return Observation{}, err
	}
	requests, hide := run.injector.Requests.Requests(), redact.New(run.outcome.history, e.Options.Public)
	written := requests.Writes().Filter(func(r record.Request) bool { return r.Step != "" })
	missing := noMatch.FindAllString(hide.Text(strings.ReplaceAll(run.log.text(), `\`, "")), -1)
	return Observation{run.checkpoints, children(e.player.kinds, run), refused(requests, hide), len(written) > 0, sets.List(sets.New(missing...)), ref, run}, nil
}

// noMatch matches errors about a kind or an API group that is not installed.
var noMatch = regexp.MustCompile(`no matches for (kind "[^"]+"|[\w.-]+/\w+)`)

// LearnFrom uses an observation as the first reference run of the named scenario, which saves one run.
func (e *Explorer) LearnFrom(name string, observed Observation) {
	e.learner.observed.Store(name, observed)
}

func refused(requests record.Requests, hide redact.Redactor) []string {
	first := map[string]string{}
	for _, r := range requests.Filter(func(r record.Request) bool {
		return r.Status == http.StatusBadRequest || r.Status == http.StatusForbidden || r.Status == http.StatusUnprocessableEntity
	}) {
		kind := fmt.Sprintf("%s %s, %d", r.Verb, r.Target(), r.Status)
		if _, known := first[kind]; !known {
			first[kind] = strings.TrimSuffix(kind+": "+hide.Text(r.Message), ": ")
		}
	}
	return slices.Sorted(maps.Values(first))
}

func children(kinds kinds, run *recording) []oracle.Child {
	asPattern := strings.NewReplacer("<namespace>", "*", "<uid>", "*", "<hash>", "*")
	var children []oracle.Child
	for _, write := range run.injector.Journal.Writes() {
		kind := kinds.kindOf(write.Target)
		child := oracle.Child{Kind: kind.GroupVersionKind, Name: asPattern.Replace(write.Object)}
		exists := len(child.In(run.outcome.state)) > 0
		if write.Created && exists && strings.Count(child.Name, "*") <= 1 && !slices.Contains(children, child) {
			children = append(children, child)
		}
	}
	return children
}

// Check runs each scenario once without a fault and returns an error that lists the scenarios that fail.
func (e *Explorer) Check(ctx context.Context) error {
	failures := make([]error, len(e.Options.Scenarios))
	var checking sync.WaitGroup
	for i, s := range e.Options.Scenarios {
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
	return fmt.Errorf("%d of %d scenarios fail without any fault:\n%w", len(failed), len(e.Options.Scenarios), errors.Join(failed...))
}
