package scenarios

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/record"
)

func TestASlowRolloutMayBeReported(t *testing.T) {
	begin := time.Now()
	version := func(kind string, at time.Duration) record.ObjectVersion {
		object := &unstructured.Unstructured{}
		object.SetKind(kind)
		return record.ObjectVersion{Unstructured: object, Time: begin.Add(at)}
	}
	fast := []record.ObjectVersion{
		version("Pod", -time.Hour), version("Pod", reportDelay/2), version("Pod", reportDelay), version("WebServer", 10*reportDelay),
	}
	if pauses := Pauses(fast, begin); pauses != 0 {
		t.Errorf("%d pauses of a fast rollout, which the resource's own changes prolong", pauses)
	}
	for _, kind := range []string{"Pod", "ReplicaSet", "Deployment"} {
		if pauses := Pauses(append(fast, version(kind, 3*reportDelay)), begin); pauses != 1 {
			t.Errorf("%d pauses before a %s changes, not 1", pauses, kind)
		}
	}
	var steady []record.ObjectVersion
	for at := time.Duration(0); at <= 2*reportLimit; at += reportLimit / 11 {
		steady = append(steady, version("Pod", at))
	}
	if pauses := Pauses(steady, begin); pauses != 2 {
		t.Errorf("%d pauses of a rollout without any that takes twice as long as a status may be held back, not 2", pauses)
	}
	budget := Budget{From: "Step", Min: 1, Max: 2}
	if budget.Check(3, 0, 1) != nil || budget.Check(3, 0, 0) == nil || budget.Check(0, 0, 1) == nil || budget.Check(1, 1, 1) == nil {
		t.Error("a pause allows a write more, and nothing else")
	}
}

func TestAClaimOfAResourceThatIsGoneAndWhatItMissedCostNothing(t *testing.T) {
	read := record.Request{Verb: "get", Group: "apps", Resource: "deployments", Status: http.StatusNotFound, Answered: true}
	claim := record.Request{Verb: "update", Resource: "memcacheds", Subresource: "status", Status: http.StatusNotFound, Answered: true}
	accepted, found := claim, read
	accepted.Status, found.Status = http.StatusOK, http.StatusOK
	create := record.Request{Verb: "apply", Group: "apps", Resource: "deployments", Status: http.StatusCreated, Answered: true}

	for _, test := range []struct {
		name          string
		requests      record.Requests
		writes, reads int
	}{
		{"the watch of the resource is late", record.Requests{read, read, claim}, 0, 0},
		{"it is late twice", record.Requests{read, claim, read, claim}, 0, 0},
		{"it is claimed again and again", slices.Repeat(record.Requests{read, claim}, maxLate+1), 1, 1},
		{"a child is healed", record.Requests{read, accepted, create}, 2, 1},
		{"a child is created although the resource is gone", record.Requests{read, claim, create}, 1, 0},
		{"a child is read that is there", record.Requests{found, claim}, 0, 1},
		{"a child is read once more, for nothing", record.Requests{read, claim, read}, 0, 1},
		{"a child's deletion finds nothing", record.Requests{{Verb: "delete", Resource: "services", Status: http.StatusNotFound}}, 1, 0},
	} {
		if writes, reads := Cost(test.requests); writes != test.writes || reads != test.reads {
			t.Errorf("%s: %d writes and %d reads, not %d and %d", test.name, writes, reads, test.writes, test.reads)
		}
	}
}
