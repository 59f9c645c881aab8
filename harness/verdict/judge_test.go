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
		loop = append(loop, record.Request{Verb: "patch", Resource: "secrets", Name: "a", Status: 200, Time: start.Add(time.Duration(i) * time.Millisecond)})
	}
	for name, test := range map[string]struct {
		run  Run
		want []Finding
	}{
		"nothing":               {Run{}, nil},
		"panic":                 {Run{Panics: []oracle.GoPanic{{Value: "boom"}}}, []Finding{{Oracle: Panics, Detail: "boom", Message: "boom"}}},
		"failed step":           {Run{FailedStep: "Scale", Failure: errors.New("Scale: timeout")}, []Finding{{Oracle: Converges, Step: "Scale", Message: "Scale: timeout"}}},
		"late":                  {Run{Steps: []oracle.TimedStep{{Name: "A", Took: 2 * time.Second}}, Timely: time.Second}, []Finding{{Oracle: Late, Step: "A", Message: "A took 2s, more than 1s"}}},
		"late before the fault": {Run{Triggered: true, Steps: []oracle.TimedStep{{Name: "A", Took: 2 * time.Second}}, Timely: time.Second}, nil},
		"difference": {Run{Difference: Finding{Oracle: Reference}, Excess: []oracle.Excess{{Change: oracle.Change{Target: "secrets", Object: "a"}, Times: 2, Reference: 1}, {Change: oracle.Change{Deleted: true, Target: "secrets", Object: "a"}, Times: 1}}}, []Finding{{Oracle: Reference}, {
			Oracle: Counts, Message: "created secrets a 2 times, but 1 times in the reference run; deleted secrets a 1 times, but 0 times in the reference run",
			Objects: []Object{{Kind: "secrets", Name: "a", Problem: CreatedTooMuch}, {Kind: "secrets", Name: "a", Problem: DeletedTooMuch}},
		}}},
		"one change too many": {Run{Excess: []oracle.Excess{{Change: oracle.Change{Target: "secrets", Object: "a"}, Times: 2, Reference: 1}}}, []Finding{{
			Oracle: Counts, Message: "created secrets a 2 times, but 1 times in the reference run", Objects: []Object{{Kind: "secrets", Name: "a", Problem: CreatedTooMuch}},
		}}},
		"invariant":                          {Run{Invariant: errors.New("not ready after 3s")}, []Finding{{Oracle: Invariants, Detail: "not ready after …", Message: "not ready after 3s"}}},
		"hot loop":                           {Run{Requests: loop}, []Finding{FromLoop(hotLoop(loop))}},
		"hot loop without a fault":           {Run{Requests: loop, LoopsAnyway: true}, nil},
		"repeated requests during the steps": {Run{Unstable: errors.New("busy"), Requests: record.Requests{{Verb: "patch", Name: "a"}, {Verb: "patch", Name: "a"}}}, []Finding{{Oracle: Stable, Message: "busy"}}},
		"repeated requests after the steps": {Run{Unstable: errors.New("busy"), Requests: record.Requests{
			{Verb: "patch", Resource: "secrets", Name: "a", Step: oracle.AfterLastStep}, {Verb: "patch", Resource: "secrets", Name: "a", Step: oracle.AfterLastStep},
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
