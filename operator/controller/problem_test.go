package controller

import (
	"testing"
	"time"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestProblemOfAFailedWrite(t *testing.T) {
	itself := &problem{reason: workload.ReasonNotControlled}
	for name, test := range map[string]struct {
		err     error
		failing time.Duration
		reason  string
		waits   bool
	}{
		"a rejection":                {errRejected, 0, workload.ReasonRejected, false},
		"a server error":             {errServer, 0, workload.ReasonRollingOut, true},
		"a server error that lasts":  {errServer, transientFailure + 1, workload.ReasonRejected, false},
		"a conflict":                 {errConflict, 0, workload.ReasonRollingOut, true},
		"a conflict that lasts":      {errConflict, transientFailure + 1, workload.ReasonRejected, false},
		"a problem of another child": {itself, 0, workload.ReasonNotControlled, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := newDeployment()
			if got := problemOf(c, test.err, test.failing); got.reason != test.reason || got.waits != test.waits {
				t.Errorf("got %s, waits %t, want %s, waits %t", got.reason, got.waits, test.reason, test.waits)
			}
		})
	}
}
