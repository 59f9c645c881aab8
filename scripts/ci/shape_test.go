package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The actions that jobs may use. Everything that is done with the code is a make target.
var (
	setUps  = []string{"actions/checkout", "./.github/actions/set-up"}
	uploads = []string{"actions/upload-artifact"}
	// A release's tools are set up by actions, and its provenance is the platform's statement.
	releaseSetUps  = []string{"sigstore/cosign-installer", "docker/login-action", "actions/download-artifact"}
	releaseUploads = []string{"actions/attest"}
)

var (
	makeTarget  = regexp.MustCompile(`^make ([a-z0-9-]+)( [A-Z0-9_]+=[\w.-]+)*$`)
	makeTargets = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// resultless are the targets that leave nothing to sum up, and no evidence.
var resultless = []string{"lint", "verify", "vulncheck"}

// shapeless are jobs that are something else than set-up, one make target, and then, for results and evidence,
// `make summary` always and uploads after a failure or when time is up. A release is published by a target of its own, after its
// provenance.
func (r repository) shapeless(file string, w *workflow) []string {
	before, after := setUps, uploads
	if file == "release.yaml" {
		before, after = slices.Concat(setUps, releaseSetUps), slices.Concat(uploads, releaseUploads)
	}
	var targets []string
	for _, target := range makeTargets.FindAllStringSubmatch(r["Makefile"], -1) {
		targets = append(targets, target[1])
	}
	var problems []string
	for id, job := range w.Jobs {
		if id == "gate" {
			continue // which has no code to run: leaky judges it
		}
		if problem := shapeOf(job, before, after, targets, file == "release.yaml"); problem != "" {
			problems = append(problems, id+" "+problem)
		}
	}
	return problems
}

// shapeOf says what is wrong with a job's shape.
func shapeOf(job *job, before, after, targets []string, release bool) string {
	done := "" // the make target
	summed, kept, published := false, false, false
	for i, s := range job.Steps {
		action, _, _ := strings.Cut(s.Uses, "@")
		switch {
		case s.Uses != "" && s.Run != "":
			return fmt.Sprintf("both uses and runs something in step %d", i+1)
		case done == "" && i < len(setUps) && action != setUps[i]:
			return "does not begin with checkout and set-up"
		case done == "" && s.Uses != "" && slices.Contains(before, action) && s.If == "":
		case done == "" && s.If == "" && makeTarget.MatchString(s.Run):
			done = makeTarget.FindStringSubmatch(s.Run)[1]
			if !slices.Contains(targets, done) {
				return fmt.Sprintf("runs make %s, which is no target", done)
			}
		case done != "" && !summed && s.Run == "make summary" && s.If == "always()":
			summed = true
		case done == "release" && s.Run == "make release-publish" && s.If == "" && i == len(job.Steps)-1:
			published = true
		case done != "" && slices.Contains(after, action) && (release || s.If == "failure() || cancelled()"):
			kept = !release
		default:
			return fmt.Sprintf("is not set-up and one make target: step %d is %q%q, if %q", i+1, s.Uses, s.Run, s.If)
		}
	}
	if done == "" {
		return "runs no make target"
	}
	if left := !release && !slices.Contains(resultless, done); summed != left || kept != left {
		return fmt.Sprintf("sums up: %t, keeps evidence: %t; after make %s both must be %t", summed, kept, done, left)
	}
	if done == "release" && !published {
		return "leaves a draft: make release-publish must be its last step"
	}
	return ""
}
