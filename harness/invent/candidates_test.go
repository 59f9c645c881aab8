package invent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

func TestTheChangesThatShowMostAreKept(t *testing.T) {
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
		t.Errorf("kept are %v: not 0, which is refused, and %d, which changes another object", got, last)
	}
	if got := (subject{}).choose(candidates[:2], trials[:2]); !got[0] || len(got) != 1 {
		t.Errorf("where there is room, a change that is refused is kept: %v", got)
	}
}

func TestAnErrorOfTheCallbackIsReturned(t *testing.T) {
	full := errors.New("no more")
	s := subject{explorer: &explore.Explorer{}, invented: &Invented{}, found: func(Scenario) error { return full }}
	document := scenarioyaml.Document{Name: "note/create", Steps: []step{{"script": {"content": "true"}}}}
	err := s.keep(Scenario{Document: document}, explore.Observation{})
	if rejected, ok := errors.AsType[notTaken](err); !ok || !errors.Is(rejected.error, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}
