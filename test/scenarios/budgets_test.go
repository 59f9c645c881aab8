package scenarios

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/record"
)

func TestPausesAllowMoreWrites(t *testing.T) {
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
		t.Errorf("got %d pauses of a fast rollout, want 0", pauses)
	}
	for _, kind := range []string{"Pod", "ReplicaSet", "Deployment"} {
		if pauses := Pauses(append(fast, version(kind, 3*reportDelay)), begin); pauses != 1 {
			t.Errorf("got %d pauses before a change of a %s, want 1", pauses, kind)
		}
	}
	var steady []record.ObjectVersion
	for at := time.Duration(0); at <= 2*reportLimit; at += reportLimit / 11 {
		steady = append(steady, version("Pod", at))
	}
	if pauses := Pauses(steady, begin); pauses != 2 {
		t.Errorf("got %d pauses of a steady rollout that takes twice reportLimit, want 2", pauses)
	}
	budget := Budget{From: "Step", Min: 1, Max: 2}
	if budget.Check(3, 0, 1) != nil || budget.Check(3, 0, 0) == nil || budget.Check(0, 0, 1) == nil || budget.Check(1, 1, 1) == nil {
		t.Error("got a wrong result: each pause must allow one more write, but no read and no missing write")
	}
}

func TestCostIgnoresRequestsOfADeletedResource(t *testing.T) {
	read := record.Request{Verb: "get", Group: "apps", Resource: "deployments", Status: http.StatusNotFound, Answered: true}
	late := record.Request{Verb: "update", Resource: "memcacheds", Subresource: "status", Status: http.StatusNotFound, Answered: true}
	accepted, found := late, read
	accepted.Status, found.Status = http.StatusOK, http.StatusOK
	create := record.Request{Verb: "apply", Group: "apps", Resource: "deployments", Status: http.StatusCreated, Answered: true}

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
