package invent

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/verdict"
)

const notRecreated = "the operator does not recreate it"

// deletions returns one candidate for each kind of child. The candidate deletes one child of that kind. deletions skips
// ConfigMaps and Endpoints that are leader election locks.
func (s subject) deletions(observed explore.Observation) []candidate {
	var candidates []candidate
	seen := map[string]bool{}
	for _, child := range observed.Children {
		isLock := func(state string) bool {
			return strings.Contains(state, resourcelock.LeaderElectionRecordAnnotationKey)
		}
		if seen[child.Kind.Kind] || slices.ContainsFunc(child.In(observed.States[0]), isLock) {
			continue
		}
		seen[child.Kind.Kind] = true
		c := s.deletion(child, observed.States[0])
		pattern := oracle.Child{Kind: child.Kind, Name: randomName(child.Name)}
		if pattern != child && len(pattern.In(observed.States[0])) == 1 {
			random := s.deletion(pattern, observed.States[0])
			c.other = &random
		}
		candidates = append(candidates, c)
	}
	return candidates
}

func (s subject) deletion(child oracle.Child, created oracle.Snapshot) candidate {
	remove := deleteStep(child.Kind.GroupVersion().String(), child.Kind.Kind, child.Name)
	document := s.document("delete-"+strings.ToLower(child.Kind.Kind), append(s.created(), remove, converged())...)
	about := fmt.Sprintf("delete the %s %s", child.Kind.Kind, child.Name)
	judge := func(again explore.Observation) trial {
		recreated, isBug := oracle.IsRecreated(child, created, again.States[0], again.States[1])
		if recreated {
			return trial{}
		}
		return trial{why: notRecreated, isBug: isBug}
	}
	return candidate{Scenario: Scenario{Document: document, About: about}, judge: judge, child: &child}
}

// randomWords matches words that look like output of k8s.io/apimachinery/pkg/util/rand.
var (
	randomWords = regexp.MustCompile(`(?:-[bcdfghjklmnpqrstvwxz2456789]{5,10})+(-.*|$)`)
	lastWord    = regexp.MustCompile(`-[^-]+$`)
)

// randomName returns a name pattern with a * for each part of the name that the operator may have generated.
func randomName(name string) string {
	switch {
	case strings.Contains(name, "*"):
		return name
	case randomWords.MatchString(name):
		return randomWords.ReplaceAllString(name, "-*$1")
	}
	return lastWord.ReplaceAllString(name, "-*")
}

// reportLost handles the children that the operator did not recreate. It reports a finding only if a second run
// confirms the loss and the operator recreates children of other kinds. Such an operator probably lacks a watch. The
// second run waits for the child until the step times out, because the operator may recreate it in a periodic resync.
func (s subject) reportLost(ctx context.Context, play func(context.Context, candidate) trial, candidates []candidate, tried []trial) {
	restored := ""
	for i, c := range candidates[:len(tried)] {
		if c.child != nil && tried[i].why == "" {
			restored = c.child.Kind.Kind
		}
	}
	for i, t := range tried {
		c := candidates[i]
		switch {
		case t.why != notRecreated:
		case t.isBug && restored != "" && ctx.Err() == nil && isLost(play(ctx, withWait(c)), c.child):
			s.explorer.AddWithoutFault(c.Document.Name, verdict.FromLostChild(c.child.Kind.Kind, c.child.Name, restored))
		default:
			s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: %s", c.Document.Name, t.why))
		}
	}
}

// withWait returns the candidate with an additional step that waits until the child exists again. It returns the
// candidate unchanged if the name of the new child is unknown.
func withWait(c candidate) candidate {
	if steps := c.Document.Steps; !strings.Contains(c.child.Name, "*") && len(steps) > 0 {
		exists := step{"assert": {"apiVersion": c.child.Kind.GroupVersion().String(), "kind": c.child.Kind.Kind, "metadata": map[string]any{"name": c.child.Name, "deletionTimestamp": nil}}}
		c.Document.Steps = slices.Insert(slices.Clone(steps), len(steps)-1, exists)
	}
	return c
}

// isLost reports whether the child was missing at the end of the run, or during the step that withWait adds.
func isLost(t trial, child *oracle.Child) bool {
	return t.isBug || strings.HasSuffix(t.why, child.Kind.Kind+" "+child.Name+" does not exist")
}
