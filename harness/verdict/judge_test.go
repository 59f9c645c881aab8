package verdict

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

func TestJudge(t *testing.T) {
	var loop record.Requests
	start := time.Unix(0, 0)
	for i := range 1000 {
		loop = append(loop, record.Request{Verb: "patch", Resource: "secrets", Name: "a", Status: 200, Answered: true, Time: start.Add(time.Duration(i) * time.Millisecond)})
	}
	late := func(step string) *Finding { return &Finding{Oracle: Late, Step: step} }
	for name, test := range map[string]struct {
		run  Run
		want []Finding
	}{
		"nothing":                            {Run{}, nil},
		"panic":                              {Run{Panics: []oracle.GoPanic{{Value: "boom"}}}, []Finding{{Oracle: Panics, Detail: "boom", Message: "boom"}}},
		"failed step":                        {Run{FailedStep: "Scale", Failure: errors.New("Scale: timeout")}, []Finding{{Oracle: Converges, Step: "Scale", Message: "Scale: timeout"}}},
		"late after":                         {Run{Triggered: true, LateBefore: late("A"), Late: late("B")}, []Finding{*late("B")}},
		"late before":                        {Run{LateBefore: late("A"), Late: late("B")}, []Finding{*late("A")}},
		"on time after":                      {Run{Triggered: true, LateBefore: late("A")}, nil},
		"difference":                         {Run{Difference: Finding{Oracle: Reference}, Changes: Finding{Oracle: Counts}}, []Finding{{Oracle: Reference}, {Oracle: Counts}}},
		"invariant":                          {Run{Invariant: errors.New("not ready after 3s")}, []Finding{{Oracle: Invariants, Detail: "not ready after …", Message: "not ready after 3s"}}},
		"hot loop":                           {Run{Requests: loop}, []Finding{FromLoop(hotLoop(loop))}},
		"hot loop without a fault":           {Run{Requests: loop, LoopsAnyway: true}, nil},
		"repeated requests during the steps": {Run{Unstable: errors.New("busy"), Requests: record.Requests{{Verb: "patch", Name: "a"}, {Verb: "patch", Name: "a"}}}, []Finding{{Oracle: Stable, Message: "busy"}}},
		"repeated requests after the steps": {Run{Unstable: errors.New("busy"), Requests: record.Requests{
			{Verb: "patch", Resource: "secrets", Name: "a", Step: AfterLastStep}, {Verb: "patch", Resource: "secrets", Name: "a", Step: AfterLastStep},
		}}, []Finding{{Oracle: Stable, Message: "busy", Objects: []Object{{Kind: "patch secrets", Name: "a", Problem: NeverAtRest}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Judge(test.run)).To(Equal(test.want))
		})
	}
}

func hotLoop(requests record.Requests) oracle.HotLoop {
	loop, _ := errors.AsType[oracle.HotLoop](oracle.BoundedRetries(requests))
	return loop
}
