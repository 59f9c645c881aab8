package faults_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/fault"
)

const (
	// planBudget is the number of plans in a run without ALL=1, which takes about three minutes on two CPUs. At least
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
	selection := explore.Selection{Budget: planBudget, Seed: revision(t), Changed: changedSince(t, os.Getenv("SINCE")), Failed: failedPlans(t)}
	var plans []explore.Plan
	counts := map[string]int{}
	var list strings.Builder
	for _, chosen := range selection.Choose(all) {
		plans = append(plans, chosen.Plan)
		counts[chosen.Reason]++
		fmt.Fprintf(&list, "%-30s %s\n", chosen.Reason, chosen.Plan)
	}
	same := 0
	for _, plan := range all {
		if plan.IsEquivalent {
			same++
		}
	}
	fmt.Printf("%s%d of %d plans, seed %s: %v; %d plans are equivalent to another one; ALL=1 runs all\n", &list, len(plans), len(all), selection.Seed, counts, same)
	return plans
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
