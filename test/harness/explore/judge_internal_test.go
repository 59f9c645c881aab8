package explore

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/test/harness/oracle"
)

// TestOnlyADeploymentThatNobodyLooksAtIsForsaken keeps the excuse narrow: a Deployment that its controller
// has seen, or that was made just now, is the operator's to answer for.
func TestOnlyADeploymentThatNobodyLooksAtIsForsaken(t *testing.T) {
	e := &Explorer{Options: Options{Patience: time.Minute}}
	for name, c := range map[string]struct {
		kind     string
		age      time.Duration
		status   map[string]any
		forsaken bool
	}{
		"never looked at":      {"Deployment", time.Hour, map[string]any{"collisionCount": int64(1)}, true},
		"looked at":            {"Deployment", time.Hour, map[string]any{"observedGeneration": int64(1)}, false},
		"made just now":        {"Deployment", time.Second, nil, false},
		"of a kind without it": {"Service", time.Hour, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"kind": c.kind, "status": c.status}}
			object.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-c.age)))
			if got := e.forsaken([]oracle.Version{{Unstructured: object}}); got != c.forsaken {
				t.Errorf("forsaken: %t", got)
			}
		})
	}
}
