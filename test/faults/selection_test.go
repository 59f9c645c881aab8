package faults_test

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/fault"
)

const (
	// planBudget is the number of plans that run unless ALL=1 is set. They take about three minutes on two CPUs. At least
	// 374 plans are needed to cover every scenario and every fault type.
	planBudget = 450
	// gatePairs and gateWalks are the numbers of fault pairs and random walks in a run without ALL=1. allPairs and
	// allWalks are the numbers with ALL=1.
	gatePairs, allPairs = 10, 80
	gateWalks, allWalks = 6, 24
)

// playsAll reports whether the suite runs everything rather than a subset. The nightly and release runs set ALL=1.
func playsAll() bool { return os.Getenv("ALL") != "" }

var failedPlansFile = filepath.Join(artifactsDir, "failed-plans")

// selectPlans returns the plans for a run without ALL=1, and prints why each plan was selected.
func selectPlans(t *testing.T, all []explore.Planned) []explore.Plan {
	t.Helper()
	s := selection{budget: planBudget, seed: revision(t), changed: changedSince(t, os.Getenv("SINCE")), failed: failedPlans(t)}
	reasons := s.choose(all)
	var plans []explore.Plan
	counts, same := map[string]int{}, 0
	var list strings.Builder
	for _, plan := range all {
		if plan.IsEquivalent {
			same++
		}
		if reason := reasons[plan.Plan]; reason != "" {
			plans = append(plans, plan.Plan)
			counts[reason]++
			fmt.Fprintf(&list, "%-30s %s\n", reason, plan.Plan)
		}
	}
	fmt.Printf("%s%d of %d plans, seed %s: %v; %d plans are equivalent to another one; ALL=1 runs all\n", &list, len(plans), len(all), s.seed, counts, same)
	return plans
}

// selection selects a limited number of plans. The selection is deterministic.
type selection struct {
	// budget is the number of plans to select. It is exceeded only to include the plans that failed last time and at
	// least one plan for every fault type in every scenario.
	budget int
	// seed breaks ties between plans of the same priority.
	seed string
	// changed reports whether a plan's scenario or fault type has changed.
	changed func(explore.Plan) bool
	// failed contains the plans that failed last time, in the format of Plan.String.
	failed []string
}

// Reasons for selecting a plan, in order of priority.
const (
	failedLastTime = "failed last time"
	everyType      = "covers scenario and fault type"
	hasChanged     = "scenario or fault changed"
	filling        = "selected by the seed"
)

// choose returns the reason for each selected plan.
func (s selection) choose(all []explore.Planned) map[explore.Plan]string {
	shuffled := slices.Clone(all)
	slices.SortFunc(shuffled, func(a, b explore.Planned) int { return cmp.Compare(s.rank(a.Plan), s.rank(b.Plan)) })
	reasons, covered := map[explore.Plan]string{}, map[explore.Plan]bool{}
	for _, plan := range shuffled {
		combination := explore.Plan{Scenario: plan.Scenario, Fault: fault.Fault{Type: plan.Fault.Type}}
		switch {
		case slices.Contains(s.failed, plan.String()):
			reasons[plan.Plan] = failedLastTime
		case !covered[combination]:
			reasons[plan.Plan] = everyType
		}
		covered[combination] = true
	}
	for _, reason := range []string{hasChanged, filling} {
		for _, plan := range shuffled {
			if len(reasons) < s.budget && reasons[plan.Plan] == "" && !plan.IsEquivalent && (reason == filling || s.changed(plan.Plan)) {
				reasons[plan.Plan] = reason
			}
		}
	}
	return reasons
}

// rank returns a sort key. Plans that failed last time come first, and the order of the others depends on the seed.
func (s selection) rank(plan explore.Plan) uint64 {
	if slices.Contains(s.failed, plan.String()) {
		return 0
	}
	hash := fnv.New64a()
	fmt.Fprint(hash, s.seed, strconv.Quote(plan.String()))
	return hash.Sum64()
}

// revision returns the current commit, which is the seed of the selection.
func revision(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "no commit"
	}
	return strings.TrimSpace(string(out))
}

// changedSince returns a function that reports whether the scenario or the fault of a plan has changed since a git
// revision. If since is empty, no plan has changed.
func changedSince(t *testing.T, since string) func(explore.Plan) bool {
	t.Helper()
	if since == "" {
		return func(explore.Plan) bool { return false }
	}
	scenarios := diff(t, since, "--function-context", "../scenarios") // each scenario is a separate function
	faults := diff(t, since, "--unified=1000", "../../harness/fault") // each fault type is a separate file
	return func(plan explore.Plan) bool { return mentions(scenarios, faults, plan) }
}

func mentions(scenarios, faults string, plan explore.Plan) bool {
	_, name, _ := strings.Cut(plan.Scenario, "/")
	return strings.Contains(scenarios, fmt.Sprintf("%q", name)) || strings.Contains(faults, fmt.Sprintf("%q", plan.Fault.Name()))
}

func diff(t *testing.T, since, context, folder string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "diff", context, since, "--", folder+"/*.go", ":(exclude)"+folder+"/*_test.go").Output()
	if err != nil {
		t.Fatalf("git diff %s: %v: set SINCE to a revision, or unset it", since, err)
	}
	return string(out)
}

func failedPlans(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(failedPlansFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var plans []string
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		plans = append(plans, lines.Text())
	}
	return plans
}

func keepFailedPlans(t *testing.T, all []explore.Result) {
	t.Helper()
	var failed strings.Builder
	for _, result := range all {
		if !result.Passed() {
			fmt.Fprintln(&failed, result.Plan)
		}
	}
	noError(t, os.MkdirAll(artifactsDir, 0o755))
	noError(t, os.WriteFile(failedPlansFile, []byte(failed.String()), 0o644))
}

func TestMentions(t *testing.T) {
	const scenarios = `+	return k.Scenario("create",`
	const faults = `	CrashBefore = register(crash{"crash-before"})`
	for text, want := range map[string]bool{
		"webserver/create stale watch pods - 1":                true,
		"webserver/create-twice stale watch pods - 1":          false,
		"webserver/delete crash-before apply services web 1":   true,
		"webserver/delete connection-reset apply services w 1": false,
	} {
		name, at, _ := strings.Cut(text, " ")
		parsed, err := fault.Parse(at)
		noError(t, err)
		if got := mentions(scenarios, faults, explore.Plan{Scenario: name, Fault: parsed}); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

// recorded returns 20 plans for each fault type in two scenarios. All crashes before a write except the first are
// equivalent to a crash after the previous write.
func recorded() (all []explore.Planned) {
	for _, name := range []string{"a", "b"} {
		for _, of := range fault.Types() {
			for nth := 1; nth <= 20; nth++ {
				at := fault.RequestKey{Verb: "apply", Target: "secrets", Name: "web", Nth: nth}
				plan := explore.Plan{Scenario: name, Fault: fault.Fault{Type: of, At: at}}
				all = append(all, explore.Planned{Plan: plan, IsEquivalent: of == fault.CrashBefore && nth > 1})
			}
		}
	}
	return all
}

func unchanged(explore.Plan) bool { return false }

func TestSelectionIsTheSameForTheSameSeed(t *testing.T) {
	g, all := NewWithT(t), recorded()
	choose := func(seed string) map[explore.Plan]string {
		return selection{budget: 60, seed: seed, changed: unchanged}.choose(all)
	}
	chosen := choose("commit")
	g.Expect(chosen).To(HaveLen(60))
	g.Expect(choose("other")).NotTo(Equal(chosen))
	slices.Reverse(all)
	g.Expect(choose("commit")).To(Equal(chosen))
}

func TestSelectionCoversPlansByPriority(t *testing.T) {
	g, all := NewWithT(t), recorded()
	covered := map[string]bool{}
	for plan := range (selection{budget: 1, changed: unchanged}).choose(all) {
		combination := plan.Scenario + " " + plan.Fault.Name()
		g.Expect(covered[combination]).To(BeFalse(), "%s is selected twice, although the budget is exceeded", combination)
		covered[combination] = true
	}
	g.Expect(covered).To(HaveLen(2 * len(fault.Types())))

	const failed = "b delayed-write apply secrets web 7"
	ofLostResponse := func(plan explore.Plan) bool { return plan.Scenario == "a" && plan.Fault.Type == fault.LostResponse }
	changed := 0
	for plan, reason := range (selection{budget: 300, seed: "commit", failed: []string{failed, "a gone"}, changed: ofLostResponse}).choose(all) {
		if ofLostResponse(plan) {
			changed++
		}
		if isFailed := plan.String() == failed; isFailed != (reason == failedLastTime) {
			t.Errorf("%s: got reason %q", plan, reason)
		}
	}
	g.Expect(changed).To(Equal(20), "all changed plans are selected")

	for plan, reason := range (selection{budget: len(all), changed: unchanged}).choose(all) {
		isEquivalent := plan.Fault.Type == fault.CrashBefore && plan.Fault.At.Nth > 1
		g.Expect(isEquivalent && reason != everyType).To(BeFalse(), plan.String())
	}
}
