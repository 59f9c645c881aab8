package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestStatusUrgency(t *testing.T) {
	set := func(conditionType string, status bool, reason, message string) func(resource) {
		return func(ws resource) {
			meta.SetStatusCondition(&ws.Workload().Conditions, condition(conditionType, status, reason, "%s", message))
		}
	}
	for name, test := range map[string]struct {
		change          func(resource)
		want, important bool
	}{
		"a new Pod":                {func(ws resource) { ws.Workload().Nodes = []string{"web-1"} }, false, false},
		"a rollout's progress":     {set(workload.Progressing, true, workload.ReasonRollingOut, "changed"), false, false},
		"the first ready Pod":      {set(workload.Available, true, workload.ReasonPodsReady, "changed"), false, false},
		"a new spec":               {func(ws resource) { ws.Workload().ObservedGeneration++ }, true, false},
		"no ready Pod":             {set(workload.Available, false, workload.ReasonNoPodReady, "changed"), false, true},
		"a problem":                {set(workload.Degraded, true, workload.ReasonRejected, "changed"), true, true},
		"the end of the rollout":   {set(workload.Progressing, false, workload.ReasonComplete, "changed"), true, false},
		"another Degraded message": {set(workload.Degraded, false, workload.ReasonAsExpected, "changed"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := storedWebServer()
			set(workload.Degraded, false, workload.ReasonAsExpected, "before")(before)
			set(workload.Available, true, workload.ReasonPodsReady, "before")(before)
			after := before.DeepCopy()
			if test.change(after); urgent(before, after) != test.want {
				t.Errorf("got urgent: %t, want %t", !test.want, test.want)
			}
			if important(before, after) != test.important {
				t.Errorf("got important: %t, want %t", !test.important, test.important)
			}
		})
	}
}
