package scripts

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	uses   = regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(.*)$`)
	pinned = regexp.MustCompile(`^([\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*|\./\.github/actions/[\w-]+)$`)
)

// mayWrite is the one job that may do more than read the repository, and what.
var mayWrite = map[string]map[string]string{
	".github/workflows/release.yaml publish": {"contents": "write", "packages": "write", "id-token": "write", "attestations": "write"},
}

// policyProblems are where a workflow trusts what may change, may do more than it must, or hides a failure. actionlint
// sees to the syntax.
func (r repository) policyProblems() (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for file, text := range r {
		for _, use := range uses.FindAllStringSubmatch(text, -1) {
			ours := file == exploreWorkflow && use[1] == "operator-assay/assay@v0" // a commit cannot name itself
			if (strings.HasPrefix(file, ".github/") || file == assayAction) && !pinned.MatchString(use[1]) && !ours {
				add("%s: %s is not pinned by a commit, with its version in a comment", file, use[1])
			}
		}
		if filepath.Dir(file) != ".github/workflows" {
			continue
		}
		w := r.workflow(file)
		if !maps.Equal(w.Permissions, map[string]string{"contents": "read"}) {
			add("%s: its permissions are not contents: read", file)
		}
		for id, job := range w.Jobs {
			id = file + " " + id
			if len(job.Permissions) > 0 && !maps.Equal(job.Permissions, mayWrite[id]) {
				add("%s has permissions %v", id, job.Permissions)
			}
			if job.TimeoutMinutes == 0 {
				add("%s has no timeout", id)
			}
			if !regexp.MustCompile(`^ubuntu-\d`).MatchString(job.RunsOn) {
				add("%s runs on %s, which changes by itself", id, job.RunsOn)
			}
			if job.If != "" && id != gateFile+" gate" || job.ContinueOnError {
				add("%s may be skipped, or may fail", id)
			}
			if m := job.Strategy; len(m.Matrix.Kubernetes)+len(m.Matrix.Include) > 0 && (m.FailFast == nil || *m.FailFast) {
				add("%s ends its other parts when one fails", id)
			}
			for _, step := range job.Steps {
				if step.ContinueOnError {
					add("%s has a step that may fail", id)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					add("%s leaves its token in the checkout", id)
				}
				if strings.HasPrefix(step.Run, "make e2e") && job.Env["E2E_PROVIDER"] == "" {
					add("%s guesses the provider", id)
				}
			}
		}
	}
	if strings.Contains(r["Makefile"], "flake-attempts") {
		add("the Makefile retries what has failed")
	}
	return problems
}
