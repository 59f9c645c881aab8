package explore

import (
	"maps"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestDelayedCreateMayRecreateNamedObject(t *testing.T) {
	apply := fault.RequestKey{Verb: "apply", Target: "secrets", Name: "web", Nth: 1}
	post := fault.RequestKey{Verb: "create", Target: "secrets", Name: "-", Nth: 1}
	generated := fault.RequestKey{Verb: "create", Target: "secrets", Name: "-", Nth: 2}
	of := func(object string) oracle.Change { return oracle.Change{Target: "secrets", Object: object} }
	counts := oracle.Counts{of("web"): 1, of("db"): 1, of("key-*"): 1}
	ref := &reference{
		points: points{writes: []fault.Write{{RequestKey: apply, Object: "web"}, {RequestKey: post, Object: "db"}, {RequestKey: generated, Object: "key-*"}}},
		counts: counts,
	}
	for name, test := range map[string]struct {
		faultType fault.Type
		at        fault.RequestKey
		object    string
		blamed    bool
	}{
		"delayed apply":                           {fault.DelayedWrite, apply, "web", false},
		"delayed create":                          {fault.DelayedWrite, post, "db", false},
		"delayed create of a generated name":      {fault.DelayedWrite, generated, "key-*", true},
		"delayed apply of another object":         {fault.DelayedWrite, apply, "db", true},
		"delayed create that the reference lacks": {fault.DelayedWrite, fault.RequestKey{Verb: "create", Target: "secrets", Name: "-", Nth: 9}, "db", true},
		"crash": {fault.CrashAfter, post, "db", true},
	} {
		t.Run(name, func(t *testing.T) {
			got := maps.Clone(counts)
			got[of(test.object)] = 2
			excess := ref.compareCounts(got, []fault.Trigger{{Fault: fault.Fault{Type: test.faultType, At: test.at}}})
			if blamed := len(excess) > 0; blamed != test.blamed {
				t.Errorf("got %v, want an excess: %t", excess, test.blamed)
			}
		})
	}
}

// random returns an expected state in which the names of Secrets vary between runs.
func random() *verdict.Expected {
	e := &verdict.Expected{State: oracle.Snapshot{"Secret/key-1": "{}"}}
	e.Learn(e.State, oracle.Snapshot{"Secret/key-2": "{}"})
	return e
}

func TestWritesAreCountedByObject(t *testing.T) {
	g := NewWithT(t)
	kinds := kinds{{Resource: "secrets"}: {GroupVersionKind: schema.GroupVersionKind{Kind: "Secret"}}}
	write := func(target, object string, created, deleted bool) fault.Write {
		return fault.Write{RequestKey: fault.RequestKey{Target: target}, Object: object, Created: created, Deleted: deleted}
	}
	for where, ref := range map[string]*reference{
		"final state": {states: []*verdict.Expected{{}, {}, random()}},
		"checkpoint":  {states: []*verdict.Expected{{}, random(), {}}},
	} {
		g.Expect(ref.countChanges(kinds, []fault.Write{
			write("secrets", "key-3", true, false), write("secrets", "key-4", true, false), write("secrets", "key-3", false, true),
			write("services", "web", true, false), write("services", "web", false, false), write("services", "web", false, true),
		})).To(Equal(oracle.Counts{
			{Target: "secrets", Object: "<varies>"}: 2, {Deleted: true, Target: "secrets", Object: "<varies>"}: 1,
			{Target: "services", Object: "web"}: 1, {Deleted: true, Target: "services", Object: "web"}: 1,
		}), where)
	}
}

func TestStateIsComparedAtSameCheckpoint(t *testing.T) {
	g := NewWithT(t)
	one, two, three := oracle.Snapshot{"Web/a": `{"v":1}`}, oracle.Snapshot{"Web/a": `{"v":2}`}, oracle.Snapshot{"Web/a": `{"v":3}`}
	ref := &reference{states: []*verdict.Expected{{State: one}, {State: two}, {State: three}}}
	r := &recording{}
	g.Expect(ref.expectedAfter(r).State).To(Equal(three))
	r.outcome.stopped = true
	g.Expect(ref.expectedAfter(r).State).To(Equal(one))
	r.checkpoints = []oracle.Snapshot{one}
	g.Expect(ref.expectedAfter(r).State).To(Equal(two))
}

func TestReferenceKeepsWritesOfAllRuns(t *testing.T) {
	g := NewWithT(t)
	key := func(name string) fault.RequestKey {
		return fault.RequestKey{Verb: "apply", Target: "secrets", Name: name}
	}
	a, b, c := key("a"), key("b"), key("c")
	counts := map[fault.RequestKey]int{a: 3, b: 1, c: 2}
	keepFewer(counts, map[fault.RequestKey]int{a: 1, b: 3})
	g.Expect(counts).To(Equal(map[fault.RequestKey]int{a: 1, b: 1, c: 0}))
	writes := func(keys ...fault.RequestKey) (all []fault.Write) {
		for _, key := range keys {
			all = append(all, fault.Write{RequestKey: key})
		}
		return all
	}
	one := writes(c, b, a)
	g.Expect(inBoth(one, writes(a, c))).To(Equal(writes(a, c)), "sorted")
	g.Expect(one).To(Equal(writes(c, b, a)), "the argument is not modified")
}

func TestFirstTimelinePerFaultTypeIsKept(t *testing.T) {
	g := NewWithT(t)
	j := &judge{options: &Options{}}
	at := func(faultType fault.Type, nth int) fault.Fault {
		return fault.Fault{Type: faultType, At: fault.RequestKey{Nth: nth}}
	}
	for _, plan := range []Plan{
		{Scenario: "a", Fault: at(fault.CrashAfter, 1)}, {Scenario: "b", Fault: at(fault.CrashAfter, 1)},
		{Scenario: "a", Fault: at(fault.Error500, 1)}, {Scenario: "a", Fault: at(fault.CrashAfter, 1), Then: at(fault.CrashAfter, 1)},
	} {
		g.Expect(j.isFirst(plan)).To(BeTrue(), plan.String())
		plan.Fault.At.Nth = 2
		g.Expect(j.isFirst(plan)).To(BeFalse(), plan.String())
	}
	g.Expect(j.invariants(Plan{}, nil)).To(Succeed(), "without invariants")
}
