package invent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/project"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

func TestMostRevealingChangesAreKept(t *testing.T) {
	var candidates []candidate
	for i := range maxChanges + 3 {
		candidates = append(candidates, candidate{change: fmt.Sprint(i)})
	}
	trials := make([]trial, len(candidates))
	trials[0] = trial{reacted: "a", refused: true}
	trials[1] = trial{why: noReaction}
	for i := 2; i < len(trials); i++ {
		trials[i] = trial{reacted: "a"}
	}
	last := len(trials) - 1
	trials[last] = trial{reacted: "b"}
	got := slices.Sorted(maps.Keys(subject{}.choose(candidates, trials)))
	if len(got) != maxChanges || slices.Contains(got, 0) || !slices.Contains(got, last) {
		t.Errorf("got changes %v, want %d, which affects another object, and not 0, which is rejected", got, last)
	}
	if got := (subject{}).choose(candidates[:2], trials[:2]); !got[0] || len(got) != 1 {
		t.Errorf("got changes %v, want the rejected change because the limit is not reached", got)
	}
}

func TestCallbackErrorIsReturned(t *testing.T) {
	full := errors.New("no more")
	s := subject{explorer: &explore.Explorer{}, invented: &Invented{}, found: func(Scenario) error { return full }}
	document := scenarioyaml.Document{Name: "note/create", Steps: []step{{"script": {"content": "true"}}}}
	err := s.keep(Scenario{Document: document}, explore.Observation{})
	if rejected, ok := errors.AsType[notTaken](err); !ok || !errors.Is(rejected.error, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

func TestRejectedChangeHasNoValidValue(t *testing.T) {
	const before = "create pods, 422: no image"
	s := subject{prefix: "web", sample: project.Sample{Resource: &unstructured.Unstructured{Object: map[string]any{"kind": "Web", "metadata": map[string]any{"name": "web"}}}}}
	same := []oracle.Snapshot{{"Web/web": "{}", "Pod/web": "{}"}, {"Web/web": "{}", "Pod/web": "{}"}}
	changed := []oracle.Snapshot{same[0], {"Web/web": "{}", "Pod/web": `{"spec":{}}`}}
	for name, test := range map[string]struct {
		states  []oracle.Snapshot
		refused []string
		want    string
	}{
		"no reaction":                {same, nil, noReaction},
		"invalid object":             {same, []string{"apply deployments.apps, 422: spec: Unsupported value: \"example\""}, noValidValue},
		"object of a wrong type":     {same, []string{"update deployments.apps, 400"}, noValidValue},
		"rejected before the change": {same, []string{before + " in run-x7k2p"}, noReaction},
		"missing permission":         {same, []string{`create pods, 403: pods is forbidden: User "op" cannot create resource "pods" in API group ""`}, noReaction},
		"rejection by admission":     {same, []string{"create pods, 403: pods \"web\" is forbidden: no PriorityClass with name example was found"}, noValidValue},
		"rejection and reaction":     {changed, []string{"apply deployments.apps, 422: spec"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.reaction(explore.Observation{Refused: []string{before}}, explore.Observation{States: test.states, Refused: test.refused})
			if got.why != test.want {
				t.Errorf("got %q, want %q", got.why, test.want)
			}
		})
	}
}

func TestMoreUsefulOfTwoValuesIsReported(t *testing.T) {
	trials := map[string]trial{
		"reaction":       {reacted: "Pod/web"},
		"failure":        {why: "fails without any fault"},
		"no reaction":    {why: noReaction},
		"denied":         {why: "spec: Invalid value", denied: true},
		"no valid value": {why: noValidValue},
	}
	for first, want := range map[string][]string{
		"no reaction":    {"failure", "reaction"},
		"denied":         {"denied", "failure", "no reaction", "no valid value", "reaction"},
		"no valid value": {"denied", "failure", "no reaction", "no valid value", "reaction"},
	} {
		var wins []string
		for _, second := range slices.Sorted(maps.Keys(trials)) {
			if trials[second].isMoreUseful(trials[first]) {
				wins = append(wins, second)
			}
		}
		if !slices.Equal(wins, want) {
			t.Errorf("%s: got %q, want %q", first, wins, want)
		}
	}
}

func TestSecretOfSampleOutlivesResource(t *testing.T) {
	object := func(kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "metadata": map[string]any{"name": name}}}
	}
	s := subject{prefix: "database", sample: project.Sample{Resource: object("Database", "main"), Others: []*unstructured.Unstructured{object("Secret", "password")}}}
	var got []string
	for _, c := range s.removals() {
		line := c.Document.Name + ":"
		for _, step := range c.Document.Steps {
			for verb, fields := range step {
				line += fmt.Sprint(" ", verb, fields["kind"])
			}
		}
		got = append(got, strings.ReplaceAll(line, "<nil>", ""))
	}
	const deleted = " applySecret applyDatabase converged deleteDatabase converged"
	if want := []string{"database/delete:" + deleted, "database/recreate:" + deleted + " applyDatabase converged"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMissingChildMayHaveRandomName(t *testing.T) {
	missing := errors.New("web/delete-pod fails without any fault: Delete(Pod web-x7k2p): Pod web-x7k2p not found\nlog")
	for name, test := range map[string]struct {
		child *oracle.Child
		want  string
	}{
		"deletion of a child": {&oracle.Child{Kind: schema.GroupVersionKind{Kind: "Pod"}, Name: "web-x7k2p"}, "the Pod web-x7k2p does not exist in another run: its name may be random, or the operator may not always create it"},
		"other scenario":      {nil, "fails without any fault: Delete(Pod web-x7k2p): Pod web-x7k2p not found"},
	} {
		c := candidate{Scenario: Scenario{Document: scenarioyaml.Document{Name: "web/delete-pod"}}, child: test.child}
		if got := c.failed(missing).why; got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestCandidateForRandomNameIsKept(t *testing.T) {
	document := scenarioyaml.Document{Name: "web/delete-pod", Steps: []step{{"script": {"content": "true"}}}}
	random := candidate{Scenario: Scenario{Document: document, About: "delete the Pod web-*"}}
	named := candidate{Scenario: Scenario{Document: document, About: "delete the Pod web-x7k2p"}, other: &random}
	s := subject{prefix: "web", explorer: &explore.Explorer{}, invented: &Invented{}, found: func(Scenario) error { return nil }}
	play := func(_ context.Context, c candidate) trial { return trial{other: c.other} }
	if err := s.try(t.Context(), play, []candidate{named}); err != nil {
		t.Fatal(err)
	}
	if got := s.invented.Scenarios; len(got) != 1 || got[0].About != random.About {
		t.Errorf("got %v, want only %q", got, random.About)
	}
}

func TestInterruptionListsCandidatesInOrder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var candidates []candidate
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint(i))
		c := candidate{Scenario: Scenario{Document: scenarioyaml.Document{Name: "web/" + names[i]}}}
		c.other = &c
		if i%2 == 1 {
			c.change = "field"
		}
		candidates = append(candidates, c)
	}
	play := func(_ context.Context, c candidate) trial {
		cancel()
		return trial{other: c.other}
	}
	s := subject{prefix: "web", explorer: &explore.Explorer{}, invented: &Invented{}}
	want := []string{"web: " + interrupted + " " + strings.Join(names, ", ")}
	if err := s.try(ctx, play, candidates); err != nil || !slices.Equal(s.invented.Left, want) {
		t.Errorf("got %q (%v), want %q", s.invented.Left, err, want)
	}
}
