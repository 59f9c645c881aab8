package verdict

import (
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// differs returns the finding for two snapshots that differ. Each snapshot maps keys to JSON.
func differs(want, got oracle.Snapshot) Finding {
	return FromDifferences("the final state differs from the reference", oracle.Differences(want, got))
}

func TestSymptomOfDifferentState(t *testing.T) {
	type state = oracle.Snapshot
	for want, test := range map[string]struct{ want, got state }{
		"ConfigMap a-* ends up duplicated":                            {state{"ConfigMap/a-*": "{}"}, state{"ConfigMap/a-* #1": "{}", "ConfigMap/a-* #2": "{}"}},
		"Deployment a ends up different: spec.replicas":               {state{"Deployment.apps/a": `{"spec":{"replicas":1}}`}, state{"Deployment.apps/a": `{"spec":{"replicas":2}}`}},
		"Deployment a, Service b end up different":                    {state{"Deployment.apps/a": `{"x":1}`, "Service/b": `{"y":1}`}, state{"Deployment.apps/a": `{"x":2}`, "Service/b": `{"y":2}`}},
		"Job c ends up left over":                                     {state{}, state{"Job.batch/c #2": "{}", "Job.batch/c #3": "{}"}},
		"Job d ends up duplicated":                                    {state{"Job.batch/d #1": `{"x":1}`}, state{"Job.batch/d #1": `{"x":2}`, "Job.batch/d #2": "{}"}},
		"Job h ends up missing":                                       {state{"Job.batch/h #1": "{}", "Job.batch/h #2": `{"x":1}`}, state{"Job.batch/h #2": `{"x":2}`}},
		"Job f ends up duplicated":                                    {state{"Job.batch/f #1": `{"x":1}`, "Job.batch/f #3": "{}"}, state{"Job.batch/f #1": `{"x":2}`, "Job.batch/f #2": "{}"}},
		"Job g ends up duplicated":                                    {state{"Job.batch/g #2": `{"x":1}`}, state{"Job.batch/g #1": "{}", "Job.batch/g #2": `{"x":2}`}},
		"Job e ends up missing":                                       {state{"Job.batch/e #1": `{"x":1}`, "Job.batch/e #2": "{}"}, state{"Job.batch/e #1": `{"x":2}`}},
		"Job k ends up different: x, y":                               {state{"Job.batch/k #1": `{"x":1}`, "Job.batch/k #2": `{"y":1}`}, state{"Job.batch/k #1": `{"x":2}`, "Job.batch/k #2": `{"y":2}`}},
		"Pod a, ReplicaSet b end up missing":                          {state{"Pod/a": "{}", "ReplicaSet.apps/b": "{}"}, state{}},
		"Deployment c ends up missing":                                {state{"Deployment.apps/c": "{}", "ReplicaSet.apps/b": "{}", "Pod/a": "{}"}, state{}},
		"ControllerRevision a-* ends up left over":                    {state{}, state{"ControllerRevision.apps/a-6859c84d69-2": "{}", "ControllerRevision.apps/a-778848f78-13": "{}"}},
		"Job a-6859c84d69-2 ends up missing; Job b ends up left over": {state{"Job.batch/a-6859c84d69-2": "{}"}, state{"Job.batch/b": "{}"}},
	} {
		if got := differs(test.want, test.got).Cause().Symptom(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCauseIgnoresVaryingDetails(t *testing.T) {
	write := func(name string) record.Request {
		return record.Request{Verb: "update", Resource: "secrets", Name: name, Step: oracle.AfterLastStep}
	}
	counts := func(want, times int) Finding {
		return FromCounts([]oracle.Excess{{Change: oracle.Change{Target: "secrets", Object: "web-*"}, Times: times, Reference: want}})
	}
	unstable := func(requests ...record.Request) Finding { return FromUnstable("", oracle.RepeatedAtRest(requests)) }
	for name, pair := range map[string][2]Finding{
		"number of changes":          {counts(1, 2), counts(2, 5)},
		"hash of a left-over object": {differs(nil, oracle.Snapshot{"Secret/a-6859c84d69": "{}"}), differs(nil, oracle.Snapshot{"Secret/a-778848f78": "{}"})},
		"values in a panic":          {FromPanics([]oracle.GoPanic{{Value: "index 5, length 0", Source: "a/b.go:3"}}), FromPanics([]oracle.GoPanic{{Value: "index 7, length 3", Source: "a/b.go:3"}})},
		"duration in an invariant":   {FromInvariant(errors.New("unready for 1.5s\nmore")), FromInvariant(errors.New("unready for 20ms"))},
		"wording of a message":       {{Oracle: Late, Step: "Scale", Message: "Scale took 9s"}, {Oracle: Late, Step: "Scale", Message: "Scale was slow"}},
		"requests sent once":         {unstable(write("a"), write("a"), write("b")), unstable(write("a"), write("a"), write("a"), write("c"))},
	} {
		if one, two := pair[0].Cause(), pair[1].Cause(); one != two {
			t.Errorf("%s: got %+v and %+v, want the same cause", name, one, two)
		}
	}
	for name, pair := range map[string][2]Finding{
		"source line of a panic": {FromPanics([]oracle.GoPanic{{Source: "a/b.go:3"}}), FromPanics([]oracle.GoPanic{{Source: "a/b.go:4"}})},
		"step":                   {{Oracle: Late, Step: "Scale"}, {Oracle: Late, Step: "Create"}},
		"field":                  {differs(oracle.Snapshot{"A/a": `{"x":1}`}, oracle.Snapshot{"A/a": `{"x":2}`}), differs(oracle.Snapshot{"A/a": `{"y":1}`}, oracle.Snapshot{"A/a": `{"y":2}`})},
	} {
		if one, two := pair[0].Cause(), pair[1].Cause(); one == two {
			t.Errorf("%s: got %+v for both findings, want two causes", name, one)
		}
	}
}

func TestSymptoms(t *testing.T) {
	for want, found := range map[string]Finding{
		"panic at a/b.go:3: index …":                              FromPanics([]oracle.GoPanic{{Value: "index 5", Source: "a/b.go:3"}, {Value: "more"}}),
		"apply secrets run/x repeated in a hot loop":              FromLoop(oracle.HotLoop{Verb: "apply", Target: "secrets", Object: "run/x"}),
		"apply secrets run/x repeated without a growing back-off": FromLoop(oracle.HotLoop{Verb: "apply", Target: "secrets", Object: "run/x", Refused: true}),
		"never reached: Converged":                                {Oracle: Converges, Step: "Converged"},
		"Pod a, Job b created too often":                          {Oracle: Counts, Objects: []Object{{Kind: "Pod", Name: "a", Problem: CreatedTooMuch}, {Kind: "Job", Name: "b", Problem: CreatedTooMuch}}},
		"Scale took too long":                                     {Oracle: Late, Step: "Scale"},
		"the state never stabilizes":                              FromUnstable("not idle", nil),
		"update secrets a repeated indefinitely":                  FromUnstable("not idle", record.Requests{{Verb: "update", Resource: "secrets", Name: "a"}}),
		"the status lied for …":                                   FromInvariant(errors.New("the status lied for 3s")),
		"Job a not created again":                                 FromLostChild("Job", "a", "Service"),
	} {
		if got := found.Cause().Symptom(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMessagesNameReason(t *testing.T) {
	g := NewWithT(t)
	stuck := oracle.StuckDeletion{Kind: "Web", Name: "a", Finalizers: []string{"example.com/wait"}}
	g.Expect(FromStuckDeletion(stuck, []string{"patch webs a"}).Message).To(Equal(
		"Web a is never deleted: the operator does not remove the finalizer example.com/wait\nthe API server rejects patch webs a"))
	g.Expect(FromStuckDeletion(stuck, nil).Message).To(HaveSuffix("only the API server is available during an exploration"))
	g.Expect(FromLostChild("Job", "a", "Service").Message).To(Equal(
		"the operator does not recreate the deleted Job a, although it recreates a deleted Service: check that it watches the kind Job"))
}

func TestFindingIsRedacted(t *testing.T) {
	g := NewWithT(t)
	found := Finding{Oracle: Reference, Step: "s", Detail: "s", Message: "s", Objects: []Object{{Name: "s", Fields: []string{"s"}}}}
	hidden := func(string) string { return "x" }
	g.Expect(found.Redact(hidden)).To(Equal(Finding{Oracle: Reference, Step: "x", Detail: "x", Message: "x", Objects: []Object{{Name: "x", Fields: []string{"x"}}}}))
	g.Expect(found.Objects).To(Equal([]Object{{Name: "s", Fields: []string{"s"}}}), "the original is not changed")
}

func TestCauseComesFromMostSpecificOracle(t *testing.T) {
	order := []Oracle{"panics", "invariants", "bounded-retries", "counts", "reference", "agreement", "stable", "converges", "late", "deletions", "recreates"}
	for i, more := range order {
		for _, less := range order[i+1:] {
			findings := []Finding{{Oracle: less, Step: "less"}, {Oracle: more, Step: "more"}}
			for range 2 {
				if got := CauseOf(findings).Step; got != "more" {
					t.Errorf("got the cause of oracle %s, want the cause of %s", less, more)
				}
				slices.Reverse(findings)
			}
		}
	}
}
