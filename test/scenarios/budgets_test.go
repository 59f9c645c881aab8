package scenarios

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/test/harness/record"
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
	if pauses := Pauses(append(fast, version("Pod", 3*reportDelay)), begin); pauses != 1 {
		t.Errorf("%d pauses, not 1", pauses)
	}
	budget := Budget{From: "Step", Min: 1, Max: 2}
	if budget.Check(3, 0, 1) != nil || budget.Check(3, 0, 0) == nil || budget.Check(0, 0, 1) == nil || budget.Check(1, 1, 1) == nil {
		t.Error("a pause allows a write more, and nothing else")
	}
}
