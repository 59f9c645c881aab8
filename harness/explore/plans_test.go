package explore

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

func learnedExplorer(seed uint64, scenarios ...string) *Explorer {
	e := &Explorer{Options: Options{Seed: seed}}
	e.learner = learner{options: &e.Options, printf: e.printf, references: map[string]*reference{}, varying: sets.New[string]()}
	e.planner = &planner{&e.Options, &e.learner}
	for _, name := range scenarios {
		e.Options.Scenarios = append(e.Options.Scenarios, scenario.Scenario{Name: name})
		ref := &reference{states: []*verdict.Expected{{}}, points: points{reference: fault.Reference{Actions: 3, Watches: []fault.Watch{{Target: "configmaps", Actions: []int{1, 3}, Deletions: []int{1}}, {Target: "secrets", Actions: []int{1, 2}, Deletions: []int{2}}}}}}
		for nth := range 20 {
			ref.points.reference.Writes = append(ref.points.reference.Writes, fault.RequestKey{Verb: "apply", Target: "secrets", Name: "web", Nth: nth + 1})
			ref.points.reference.Reads = append(ref.points.reference.Reads, fault.RequestKey{Verb: "get", Target: "configmaps", Name: "web", Nth: nth + 1})
		}
		e.learner.references[name] = ref
	}
	return e
}

// watchFault returns a watch fault that starts at the given action.
func watchFault(of fault.Type, target string, action int) fault.Fault {
	return fault.Fault{Type: of, At: fault.RequestKey{Verb: "watch", Target: target, Name: "-", Nth: action}}
}

func plansOf(e *Explorer, categories ...fault.Category) []string {
	var plans []string
	for _, category := range categories {
		for _, plan := range e.planner.plans(category) {
			plans = append(plans, plan.String())
		}
	}
	return plans
}

func (e *Explorer) allPlans() (all []Plan) {
	for _, category := range fault.Categories {
		all = append(all, e.planner.plans(category)...)
	}
	return all
}

func TestSeedSelectsPlans(t *testing.T) {
	g := NewWithT(t)
	all := plansOf(learnedExplorer(1, "a", "b"), fault.Categories...)
	g.Expect(plansOf(learnedExplorer(1, "a", "b"), fault.Categories...)).To(Equal(all))
	g.Expect(slices.Compact(slices.Sorted(slices.Values(all)))).To(HaveLen(len(all)), "without duplicates")
	g.Expect(plansOf(learnedExplorer(2, "a", "b"), fault.Errors)).NotTo(Equal(plansOf(learnedExplorer(1, "a", "b"), fault.Errors)))
	g.Expect(plansOf(learnedExplorer(2, "a", "b"), fault.Staleness)).NotTo(Equal(plansOf(learnedExplorer(1, "a", "b"), fault.Staleness)))
	for _, whole := range []fault.Category{fault.Crashes, fault.LeaderChanges, fault.TimeTravels, fault.Latency} {
		g.Expect(plansOf(learnedExplorer(2, "a", "b"), whole)).To(Equal(plansOf(learnedExplorer(1, "a", "b"), whole)))
	}

	ofA := slices.DeleteFunc(slices.Clone(all), func(plan string) bool { return !strings.HasPrefix(plan, "a ") })
	g.Expect(plansOf(learnedExplorer(1, "a"), fault.Categories...)).To(Equal(ofA), "another scenario does not change the plans")
	g.Expect(plansOf(learnedExplorer(1, "a", "b"), fault.Staleness)).To(Equal(slices.DeleteFunc(all, func(plan string) bool {
		return !strings.Contains(plan, " watch ") || strings.Contains(plan, " time-travel")
	})),
		"another category does not change the plans")
}

func TestPlannedFaults(t *testing.T) {
	g := NewWithT(t)
	count := func(category fault.Category) int { return len(learnedExplorer(1, "a").planner.plans(category)) }
	g.Expect(count(fault.Crashes)).To(Equal(3 * 20))
	g.Expect(count(fault.LeaderChanges)).To(Equal(20))
	g.Expect(count(fault.Errors)).To(And(BeNumerically(">=", 10+2*20-2), BeNumerically("<=", 10+2*20)), "409 and 500 at every write")
	g.Expect(count(fault.Staleness)).To(Equal(4 * 2))
	g.Expect(plansOf(learnedExplorer(1, "a"), fault.TimeTravels)).To(Equal([]string{
		"a time-travel watch configmaps - 1", "a time-travel watch configmaps - 3",
		"a time-travel watch secrets - 1", "a time-travel watch secrets - 2",
		"a time-travel watch * - 1",
		"a time-travel-deleting watch configmaps - 1",
		"a time-travel-far watch * - 1", "a time-travel-far watch * - 2",
	}))
	g.Expect(count(fault.Latency)).To(Equal(2))
	for seed := range uint64(20) {
		for _, plan := range learnedExplorer(seed, "a").planner.plans(fault.Errors) {
			if plan.Fault.Type == fault.Error409 || plan.Fault.Type == fault.ErrorBurst409 {
				g.Expect(plan.Fault.At.Verb).To(Equal("apply"), "reads do not conflict")
			}
		}
		for _, plan := range learnedExplorer(seed, "a").planner.plans(fault.Staleness) {
			last := map[string]int{"configmaps": 3, "secrets": 2}[plan.Fault.At.Target]
			if plan.Fault.Type == fault.StaleAcross {
				last = 2 // a fault that spans two actions cannot start at the last one
			}
			g.Expect(plan.Fault.At.Nth).To(And(BeNumerically(">=", 1), BeNumerically("<=", last)), "an action that is followed by a change")
		}
	}
}

func TestReplacementNeedsSubject(t *testing.T) {
	g := NewWithT(t)
	e := learnedExplorer(1, "a", "b")
	e.learner.references["a"].points.reference.Actions, e.learner.references["b"].points.reference.Actions = 1, 1
	e.Options.Scenarios[1].Subject = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	g.Expect(e.planner.plans(fault.Replacements)).To(And(HaveLen(20), HaveEach(HaveField("Scenario", "b"))))
}

func TestWatchFaultsPrecedeChanges(t *testing.T) {
	g := NewWithT(t)
	named := func(group, name string) kind { return kind{schema.GroupVersionKind{Group: group, Kind: name}, false} }
	k := kinds{
		{Resource: "secrets"}: named("", "Secret"), {Resource: "services"}: named("", "Service"), {Resource: "serviceaccounts"}: named("", "ServiceAccount"),
		{Group: "networking.k8s.io", Resource: "networkpolicies"}: named("networking.k8s.io", "NetworkPolicy"),
	}
	var history []record.ObjectVersion
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "Secret"},
		{Version: "v1", Kind: "Service"},
		{Version: "v1", Kind: "Service"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	} {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		history = append(history, record.ObjectVersion{Unstructured: object})
	}
	starts := []int{1, 2, 3}
	for target, actions := range map[string][]int{
		"secrets": nil, "services": {1, 2}, "serviceaccounts": nil, "networkpolicies.networking.k8s.io": {3}, "unknown": nil,
	} {
		g.Expect(k.actionsWith(target, starts, history, isAny)).To(Equal(actions), target)
	}
}

func TestPlanRoundTrips(t *testing.T) {
	g := NewWithT(t)
	e := learnedExplorer(1, "a", "b")
	var texts []string
	for _, plan := range e.allPlans() {
		g.Expect(Parse(" "+plan.String()+"\n", e.Options.Scenarios)).To(Equal([]Plan{plan}))
		texts = append(texts, plan.String())
	}
	g.Expect(Parse(strings.Join(texts, "; "), e.Options.Scenarios)).To(Equal(e.allPlans()))
	for text, complaint := range map[string]string{
		"":                                      `plan "": there is no scenario ""`,
		"c slow-reads":                          `plan "c slow-reads": there is no scenario "c"`,
		"a slow-reads;":                         `plan "": there is no scenario ""`,
		"a":                                     `invalid plan "a"`,
		"a explode":                             `plan "a explode": fault of scenario "a": unknown fault "explode"`,
		"a connection-reset get configmaps web": `plan "a connection-reset get configmaps web": fault of scenario "a": fault "connection-reset get configmaps web": the request must have`,
	} {
		_, err := Parse(text, e.Options.Scenarios)
		g.Expect(err).To(MatchError(HavePrefix(complaint)))
		g.Expect(err.Error()).NotTo(ContainSubstring("\n"))
	}
}
