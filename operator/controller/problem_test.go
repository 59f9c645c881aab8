package controller

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestProblemOfAFailedWrite(t *testing.T) {
	known := &problem{reason: workload.ReasonNotControlled}
	for name, test := range map[string]struct {
		err     error
		failing time.Duration
		reason  string
		waits   bool
	}{
		"a rejection":               {errRejected, 0, workload.ReasonRejected, false},
		"an invalid object":         {errInvalid, 0, workload.ReasonRejected, false},
		"a server error":            {errServer, 0, workload.ReasonRollingOut, true},
		"a server error that lasts": {errServer, transientFailure + 1, workload.ReasonRejected, false},
		"a conflict":                {errConflict, 0, workload.ReasonRollingOut, true},
		"a conflict that lasts":     {errConflict, transientFailure + 1, workload.ReasonRejected, false},
		"a known problem":           {known, 0, workload.ReasonNotControlled, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := newDeployment()
			if got := problemOf(c, test.err, test.failing); got.reason != test.reason || got.waits != test.waits {
				t.Errorf("got %s, waits %t, want %s, waits %t", got.reason, got.waits, test.reason, test.waits)
			}
		})
	}
}

var errInvalid = apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "web", nil)

// Deleting the child helps only if another client has added fields that conflict with the desired fields.
func TestRejectionAdvisesDeletion(t *testing.T) {
	_, c := newDeployment()
	const advice = "delete the Deployment"
	if got := problemOf(c, errInvalid, 0).message; strings.Contains(got, advice) {
		t.Errorf("a Deployment that does not exist: got %q", got)
	}
	c.object.SetUID("web-child")
	if got := problemOf(c, errInvalid, 0).message; !strings.Contains(got, advice) || !strings.Contains(got, errInvalid.Error()) {
		t.Errorf("an invalid Deployment: got %q, want %q and %q", got, errInvalid, advice)
	}
	for _, err := range []error{errRejected, errServer} {
		if got := problemOf(c, err, transientFailure+1).message; strings.Contains(got, advice) || !strings.Contains(got, err.Error()) {
			t.Errorf("got %q, want %q without %q", got, err, advice)
		}
	}
}
