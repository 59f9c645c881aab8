package scripts

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func (r repository) problems() []string {
	return slices.Concat(r.gateProblems(), r.targetProblems(), r.policyProblems(), r.versionProblems())
}

func TestTheRepositoryKeepsItsRules(t *testing.T) {
	for _, problem := range readRepository(t).problems() {
		t.Error(problem)
	}
}

// Each rule is broken once in the repository's own text, which regular expressions find that name no version.
func TestABrokenRuleIsNoticed(t *testing.T) {
	const nightly, release = ".github/workflows/nightly.yaml", ".github/workflows/release.yaml"
	intact := readRepository(t)
	for name, broken := range map[string]struct{ file, old, new, problem string }{
		"the gate misses a job":          {gateFile, `needs: \[lint, `, "needs: [", "the gate does not need lint"},
		"the gate accepts skipped":       {gateFile, `\^success.*\$`, "^(success|skipped)( (success|skipped))*$", `result is "skipped"`},
		"the gate looks for failures":    {gateFile, `\[\[.*\]\]`, `[[ "$RESULTS" != *failure* ]]`, `result is "cancelled"`},
		"the gate is skipped":            {gateFile, `    if: always\(\)\n    runs-on`, "    runs-on", "the gate is skipped"},
		"the gate is not required":       {ruleset, `"gate"`, `"lint"`, "is not the required check"},
		"a target that is none":          {gateFile, "make verify", "make verified", `"verified" is no target`},
		"a target that may fail":         {gateFile, "make verify", "make verify || true", "is not make with targets"},
		"a target that is not run here":  {localGate, "part make lint", "make lint", ".ci/run"},
		"a target that is run here only": {gateFile, "run: make test-faults", "run: make test", ".ci/run"},
		"another provider":               {gateFile, "E2E_PROVIDER: kwok", "E2E_PROVIDER: auto", "e2e on auto"},
		"no provider":                    {gateFile, "      E2E_PROVIDER: kind\n", "", "e2e-kind guesses the provider"},
		"an action of a tag":             {gateFile, `actions/checkout@[0-9a-f]{40} # v[\d.]+`, "actions/checkout@v7", "actions/checkout@v7 is not pinned"},
		"an action without its version":  {setUp, ` # v[\d.]+\n`, "\n", "is not pinned"},
		"an action that others use":      {assayAction, `actions/cache@[0-9a-f]{40} # v[\d.]+`, "actions/cache@v6", "actions/cache@v6 is not pinned"},
		"our action at a branch":         {exploreWorkflow, `operator-assay/assay@v0`, "operator-assay/assay@main", "assay@main is not pinned"},
		"a workflow that may write":      {nightly, "contents: read", "contents: write", "are not contents: read"},
		"a job that may write":           {release, "packages: write", "packages: write\n      actions: write", "publish has permissions"},
		"a job without a time limit":     {gateFile, "    timeout-minutes: 40\n", "", "test has no timeout"},
		"a machine that changes":         {gateFile, `ubuntu-[\d.]+`, "ubuntu-latest", "which changes by itself"},
		"a job that may be skipped":      {gateFile, "  faults:\n", "  faults:\n    if: github.event_name == 'push'\n", "faults may be skipped"},
		"a step that may fail":           {gateFile, "- run: make verify", "- run: make verify\n        continue-on-error: true", "step that may fail"},
		"a matrix that ends early":       {gateFile, "      fail-fast: false\n", "", "ends its other parts"},
		"a token that stays":             {gateFile, "persist-credentials: false", "fetch-depth: 1", "leaves its token"},
		"a suite that is tried again":    {"Makefile", "--randomize-all", "--randomize-all --flake-attempts=2", "retries"},
		"a version without a node image": {gateFile, `\.\d+\]`, ".99]", "but e2e-kind on"},
		"an image of another digest":     {gateFile, `sha256:[0-9a-f]{64}`, "sha256:" + strings.Repeat("0", 64), nodeImages + " has"},
		"a minor that is left out":       {gateFile, `v[\d.]+\]`, "v1.2.3]", "are not one minor"},
		"another default":                {"harness/binaries/version.go", `DefaultVersion = ".*"`, `DefaultVersion = "1.2.3"`, "DefaultVersion"},
		"another Go":                     {"go.mod", `\ngo 1\.\d+`, "\ngo 1.99", `README.md does not have "Go 1.99"`},
		"another kind":                   {"go.mod", `kind v\d+\.\d+`, "kind v1.99", "kindVersion"},
		"another user":                   {"operator/Dockerfile", `USER .*`, "USER 1:1", "--image-user=1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			text := intact[broken.file]
			at := regexp.MustCompile(broken.old).FindStringIndex(text)
			if at == nil {
				t.Fatalf("%s has no %s to break", broken.file, broken.old)
			}
			r := maps.Clone(intact)
			r[broken.file] = text[:at[0]] + broken.new + text[at[1]:]
			if problems := r.problems(); !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, broken.problem) }) {
				t.Errorf("want a problem with %q, got %q", broken.problem, problems)
			}
		})
	}
}
