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
	budget := Budget{From: "Step", Min: 1, Max: 2, Slow: 1}
	for took, want := range map[time.Duration]int{
		0: 2, reportDelay: 2, reportDelay + 1: 3, progressDelay - 1: 3, progressDelay: 4, 2 * progressDelay: 5,
	} {
		for _, kind := range []string{"Pod", "ReplicaSet", "Deployment"} {
			if got := Took([]record.ObjectVersion{version(kind, took), version("Pod", -time.Hour), version("WebServer", time.Hour)}, begin); got != took {
				t.Errorf("the last change of a %s: got %s, want %s", kind, got, took)
			}
		}
		if budget.Check(want, 0, took) != nil || budget.Check(want+1, 0, took) == nil || budget.Check(want, 1, took) == nil || budget.Check(0, 0, took) == nil {
			t.Errorf("%s: got a wrong result, want 1 to %d writes and 0 reads", took, want)
		}
	}
}

func TestCostIgnoresRequestsOfADeletedResource(t *testing.T) {
	read := record.Request{Verb: "get", Group: "apps", Resource: "deployments", Status: http.StatusNotFound}
	late := record.Request{Verb: "update", Resource: "memcacheds", Subresource: "status", Status: http.StatusNotFound}
	accepted, found := late, read
	accepted.Status, found.Status = http.StatusOK, http.StatusOK
	create := record.Request{Verb: "apply", Group: "apps", Resource: "deployments", Status: http.StatusCreated}

	for _, test := range []struct {
		name          string
		requests      record.Requests
		writes, reads int
	}{
		{"the watch is late", record.Requests{read, read, late}, 0, 0},
		{"the watch is late twice", record.Requests{read, late, read, late}, 0, 0},
		{"the status of the deleted resource is written in a loop", slices.Repeat(record.Requests{read, late}, maxLate+1), 1, 1},
		{"a child is created again", record.Requests{read, accepted, create}, 2, 1},
		{"a child of the deleted resource is created", record.Requests{read, late, create}, 1, 0},
		{"an existing child is read", record.Requests{found, late}, 0, 1},
		{"a missing child is read again", record.Requests{read, late, read}, 0, 1},
		{"a missing child is deleted", record.Requests{{Verb: "delete", Resource: "services", Status: http.StatusNotFound}}, 1, 0},
	} {
		if writes, reads := Cost(test.requests); writes != test.writes || reads != test.reads {
			t.Errorf("%s: got %d writes and %d reads, want %d and %d", test.name, writes, reads, test.writes, test.reads)
		}
	}
}
