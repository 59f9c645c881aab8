package invent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/verdict"
)

// notRecreated is the reason for skipping the deletion of a child that the operator does not recreate.
const notRecreated = "the operator does not create it again"

// judgeDeletion judges a scenario that deletes a child. created is the final state of a run that only created the
// sample. It is not a bug if the child is recreated and only other objects are missing after the deletion.
func judgeDeletion(child explore.Child, created oracle.Snapshot, again explore.Observation) trial {
	before, after := again.States[0], again.States[1]
	isLost := len(statesOf(child, after)) < len(statesOf(child, before))
	if !isLost && len(after) >= len(before) {
		return trial{}
	}
	return trial{why: notRecreated, isBug: isLost && isRestorable(child, created, before)}
}

// isRestorable reports whether an operator should recreate the child after its deletion. It returns false for objects
// that many operators create only once on purpose:
//   - objects without an owner
//   - objects that contain data or record something that has happened
//   - Secrets and ConfigMaps whose values are generated, because a new value would not match the old one
func isRestorable(child explore.Child, created, before oracle.Snapshot) bool {
	states := statesOf(child, before)
	if len(states) == 0 || slices.Contains(createdOnce, child.Kind.GroupKind().String()) {
		return false
	}
	var object unstructured.Unstructured
	if json.Unmarshal([]byte(states[0]), &object.Object) != nil || len(object.GetOwnerReferences()) == 0 {
		return false
	}
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	switch child.Kind.GroupKind().String() {
	case "Pod":
		return phase != "Succeeded" && phase != "Failed"
	case "Secret", "ConfigMap":
		return slices.Equal(states, statesOf(child, created))
	}
	return true
}

// createdOnce lists the kinds of objects that contain data or record something that has happened.
var createdOnce = []string{
	"Event", "Event.events.k8s.io", "Job.batch", "Lease.coordination.k8s.io", "PersistentVolumeClaim",
	"CertificateSigningRequest.certificates.k8s.io", "VolumeSnapshot.snapshot.storage.k8s.io",
}

var number = regexp.MustCompile(` #\d+$`)

func statesOf(child explore.Child, state oracle.Snapshot) []string {
	prefix, suffix, isPattern := strings.Cut(child.Kind.GroupKind().String()+"/"+child.Name, "*")
	var found []string
	for _, key := range slices.Sorted(maps.Keys(state)) {
		name := number.ReplaceAllString(key, "")
		if name == prefix || isPattern && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
			found = append(found, state[key])
		}
	}
	return found
}

// reportLost handles the children that the operator did not recreate. If the operator recreated other children, it
// probably does not watch this one, which is a finding if a second run confirms it. In all other cases, the scenario is
// simply skipped.
func (s subject) reportLost(ctx context.Context, play func(context.Context, candidate) trial, candidates []candidate, tried []trial) {
	restored := ""
	for i, c := range candidates[:len(tried)] {
		if c.child != nil && tried[i].why == "" {
			restored = c.child.Kind.Kind
		}
	}
	for i, t := range tried {
		c, why := candidates[i], notRecreated
		if t.why != notRecreated {
			continue
		}
		if t.isBug && restored != "" {
			isConfirmed := ctx.Err() == nil && play(ctx, c).isBug
			if isConfirmed {
				s.explorer.AddWithoutFault(c.Document.Name, verdict.FromLostChild(c.child.Kind.Kind, c.child.Name, restored))
				continue
			}
			if ctx.Err() != nil {
				why = fmt.Sprintf("%s, although it recreates the %s; the exploration was interrupted before a second run could confirm this", notRecreated, restored)
			}
		}
		s.invented.Left = append(s.invented.Left, fmt.Sprintf("%s: %s", c.Document.Name, why))
	}
}
