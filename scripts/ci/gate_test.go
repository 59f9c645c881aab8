package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTheGateKeepsItsRules(t *testing.T) {
	for _, problem := range readRepository(t).problems() {
		t.Error(problem)
	}
}

const (
	ci      = ".github/workflows/ci.yaml"
	nightly = ".github/workflows/nightly.yaml"
	release = ".github/workflows/release.yaml"
	setUp   = ".github/actions/set-up/action.yaml"
)

// Each rule is broken once in the repository's own text, and must be the one that complains. What is broken is found
// by a regular expression that names no version, so that none has to change here when it does there.
func TestABrokenRuleIsNoticed(t *testing.T) {
	intact := readRepository(t)
	before := intact.problems()
	for name, broken := range map[string]struct{ file, old, new, problem string }{
		"gate misses a job":       {ci, `needs: \[lint, `, "needs: [", "the gate does not need lint"},
		"gate accepts skipped":    {ci, `\^success.*\$`, "^(success|skipped)( (success|skipped))*$", `verdict is true when a job's result is "skipped"`},
		"gate accepts cancelled":  {ci, `\^success.*\$`, "^(success|cancelled)( (success|cancelled))*$", `verdict is true when a job's result is "cancelled"`},
		"gate looks for failures": {ci, `\[\[.*\]\]`, `[[ "$RESULTS" != *failure* ]]`, `verdict is true when a job's result is "cancelled"`},
		"gate asks nobody":        {ci, `\[\[.*\]\]`, "true", `verdict is true when a job's result is "failure"`},
		"gate is skipped":         {ci, `    if: always\(\)\n    runs-on`, "    runs-on", "the gate is skipped when a job fails"},
		"gate has a second step":  {ci, "      - name: every job has passed", "      - run: make lint\n      - name: every job has passed", "no gate of one step"},
		"gate is not required":    {ruleset, `"gate"`, `"lint"`, "the gate must be the one required check"},
		"gate of anybody":         {ruleset, `, "integration_id": \d+`, "", "required check, from GitHub Actions"},

		"action of a tag":             {ci, `actions/checkout@[0-9a-f]{40} # v[\d.]+`, "actions/checkout@v7", "actions/checkout@v7 is not pinned"},
		"action of a short commit":    {setUp, `@[0-9a-f]{40}`, "@b7ad1da", "is not pinned"},
		"action without its version":  {nightly, ` # v[\d.]+`, "", "is not pinned"},
		"action of nobody's business": {ci, "      - run: make lint", "      - uses: nick-fields/retry@3d3c42e5aac5ba805825da76410c181273ba90b1 # v3\n        with: {command: make lint}", "not set-up and one make target"},

		"a job with two targets":          {ci, "- run: make verify", "- run: make verify\n      - run: make vulncheck", "verify is not set-up and one make target"},
		"a target that is none":           {ci, "- run: make verify", "- run: make verified", "make verified, which is no target"},
		"a target that may fail":          {ci, "- run: make verify", "- run: make verify || true", "verify is not set-up and one make target"},
		"a command of its own":            {ci, "- run: make verify", "- run: go vet ./...", "verify is not set-up and one make target"},
		"a job that makes nothing":        {ci, "      - run: make verify\n", "", "verify runs no make target"},
		"a target before the set-up":      {ci, "      - uses: ./.github/actions/set-up\n      - run: make verify", "      - run: make verify", "verify does not begin with checkout and set-up"},
		"evidence of what passed":         {ci, `- if: failure.*`, "- if: always()", "not set-up and one make target"},
		"no evidence of what hangs":       {ci, `- if: failure.*`, "- if: failure()", "not set-up and one make target"},
		"a summary of what passed":        {ci, `if: always\(\)\n        run: make summary`, "run: make summary", "not set-up and one make target"},
		"results that nobody sums up":     {nightly, `      - if: always\(\)\n        run: make summary\n`, "", "sums up: false, keeps evidence: true; after make test-faults both must be true"},
		"results without evidence":        {ci, `      - if: failure.*\n.*upload-artifact@.*\n.*\n.*evidence-faults\n.*\n`, "", "sums up: true, keeps evidence: false"},
		"a summary of nothing":            {ci, "- run: make lint\n", "- run: make lint\n      - if: always()\n        run: make summary\n", "after make lint both must be false"},
		"a step that may fail":            {ci, "- run: make verify", "- run: make verify\n        continue-on-error: true", "continue-on-error not found"},
		"a job that may fail":             {ci, "    timeout-minutes: 40", "    timeout-minutes: 40\n    continue-on-error: true", "continue-on-error not found"},
		"a job that may be skipped":       {ci, "  faults:\n", "  faults:\n    if: github.event_name == 'push'\n", "faults has a condition"},
		"a matrix that ends early":        {ci, "      fail-fast: false\n", "", "ends its other parts"},
		"a suite that is tried again":     {"Makefile", "--randomize-all", "--randomize-all --flake-attempts=2", "retries what has failed"},
		"a job without a time limit":      {ci, "    timeout-minutes: 40\n", "", "test has no timeout"},
		"a machine that changes":          {ci, `ubuntu-[\d.]+`, "ubuntu-latest", "runs on what changes by itself"},
		"a workflow that may write":       {ci, "  contents: read", "  contents: write", "contents: read and no more"},
		"a workflow that says nothing":    {nightly, "permissions:\n  contents: read\n", "", "contents: read and no more"},
		"a job that may write":            {ci, "  faults:\n", "  faults:\n    permissions: {packages: write}\n", "faults has permissions"},
		"a release that may do more":      {release, "      packages: write", "      packages: write\n      actions: write", "publish has permissions"},
		"a release before its provenance": {release, "        run: make release\n", "        run: make release\n      - run: make release-publish\n", `step 7 is """make release-publish"`},
		"a release that stays a draft":    {release, "      - run: make release-publish\n", "", "publish leaves a draft"},
		"a token that stays":              {ci, "          persist-credentials: false\n", "          fetch-depth: 1\n", "leaves its token"},
		"a provider that is guessed":      {ci, "E2E_PROVIDER: kwok", "E2E_PROVIDER: auto", `e2e-kwok names no provider: E2E_PROVIDER is "auto"`},
		"a provider that is not named":    {ci, "      E2E_PROVIDER: kind\n", "", "e2e-kind names no provider"},
		"a nightly without provider":      {nightly, "      E2E_PROVIDER: kwok\n", "", "flake names no provider"},
		"changes that are not looked at":  {ci, "  pull_request:\n", "  pull_request:\n    paths: ['**.go']\n", "pull_request must run it"},
		"a queue that is not judged":      {ci, "  merge_group:\n", "", "merge_group must run it"},
		"a run that cancels another's":    {nightly, `group: .*`, "group: nightly", "no concurrency group of each ref's own"},
		"a superseded run that goes on":   {ci, "cancel-in-progress: true", "cancel-in-progress: false", "must cancel the run"},

		"a version without a node image":   {ci, `\.\d+\]`, ".99]", "but e2e-kind on"},
		"a version that is left out":       {ci, `, v[\d.]+\]`, "]", "not on three minors"},
		"a minor that is left out":         {ci, `v[\d.]+\]`, "v1.2.3]", "not one minor and the two before it"},
		"an image of another digest":       {ci, `sha256:[0-9a-f]{64}`, "sha256:" + strings.Repeat("0", 64), "but " + nodeImages + " has"},
		"a default that is not the newest": {defaultVersion, `DefaultVersion = ".*"`, `DefaultVersion = "1.2.3"`, "is not the default"},
		"a Go without its patches":         {setUp, "check-latest: true", "check-latest: false", "not the newest patch of Go"},
		"a Go of one patch":                {setUp, `go-version: [\d.]+x`, "go-version: 1.26.0", "not the newest patch of Go"},
		"a Go of another minor":            {"go.mod", `\ngo 1\.\d+`, "\ngo 1.99", "not the newest patch of Go 1.99"},
		"a Go that nobody is told of":      {"README.md", `Go 1\.\d+`, "Go", "README.md does not say"},
	} {
		t.Run(name, func(t *testing.T) {
			text := intact[broken.file]
			at := regexp.MustCompile(broken.old).FindStringIndex(text)
			if at == nil {
				t.Fatalf("%s has no %s to break", broken.file, broken.old)
			}
			r := maps.Clone(intact)
			r[broken.file] = text[:at[0]] + broken.new + text[at[1]:]
			problems := r.problems()
			if !slices.ContainsFunc(problems, func(p string) bool {
				return strings.Contains(p, broken.problem) && !slices.Contains(before, p)
			}) {
				t.Errorf("want a problem with %q, got %q", broken.problem, problems)
			}
		})
	}
}
