package scenarios

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/record"
)

func TestBudgetDependsOnTheDuration(t *testing.T) {
	begin := time.Now()
	version := func(kind string, at time.Duration) record.ObjectVersion {
		object := &unstructured.Unstructured{}
		object.SetKind(kind)
		return record.ObjectVersion{Unstructured: object, Time: begin.Add(at)}
	}
	budget := Budget{From: "Step", Writes: 2, Slow: 1}
	for took, want := range map[time.Duration]int{
		0: 2, reportDelay: 2, reportDelay + 1: 3, progressDelay - 1: 3, progressDelay: 4, 2 * progressDelay: 5,
	} {
		for _, kind := range []string{"Pod", "ReplicaSet", "Deployment"} {
			if got := Took([]record.ObjectVersion{version(kind, took), version("Pod", -time.Hour), version("WebServer", time.Hour)}, begin); got != took {
				t.Errorf("the last change of a %s: got %s, want %s", kind, got, took)
			}
		}
		if got := budget.Most(took); got != want {
			t.Errorf("%s: got at most %d writes, want %d", took, got, want)
		}
	}
}

func TestBudgetIgnoresRequestsOfADeletedResource(t *testing.T) {
	missing := record.Request{Verb: "get", Group: "apps", Resource: "deployments", Status: http.StatusNotFound}
	late := record.Request{Verb: "update", Resource: "memcacheds", Subresource: "status", Status: http.StatusNotFound}
	accepted, found := late, missing
	accepted.Status, found.Status = http.StatusOK, http.StatusOK
	for _, test := range []struct {
		name     string
		writes   int
		requests record.Requests
		within   bool
	}{
		{"the deleted resource is updated", 0, record.Requests{missing, late}, true},
		{"an existing resource is updated", 0, record.Requests{accepted}, false},
		{"an existing child is read", 0, record.Requests{found}, false},
		{"the status of the deleted resource is updated in a loop", 0, slices.Repeat(record.Requests{late}, maxLate+1), false},
		{"a deleted child is read in a loop", 0, slices.Repeat(record.Requests{missing}, maxLate+1), false},
		{"a missing child is deleted", 0, record.Requests{{Verb: "delete", Resource: "services", Status: http.StatusNotFound}}, false},
		{"the allowed write", 1, record.Requests{accepted}, true},
		{"no write", 1, nil, false},
		{"another write", 1, record.Requests{accepted, late}, false},
		{"a read of a child that is still missing", 1, record.Requests{missing, accepted}, false},
	} {
		if err := (Budget{Writes: test.writes}).Check(test.requests, 0); (err == nil) != test.within {
			t.Errorf("%s: got %v, want within the budget: %t", test.name, err, test.within)
		}
	}
}
