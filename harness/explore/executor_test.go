package explore

import "testing"

func TestResultWithoutReferenceIsStale(t *testing.T) {
	x := &executor{learner: &learner{}} // the reference was deleted because the scenario failed on its own control plane
	if got := x.play(t.Context(), Plan{Scenario: "copier/create"}, usual); !got.stale || len(got.Findings) > 0 {
		t.Errorf("got stale %v and findings %v, want stale without findings", got.stale, got.Findings)
	}
}
