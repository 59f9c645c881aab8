package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestWindowWaitsForALullAndNotForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w window
		key := types.NamespacedName{Namespace: "default", Name: "web"}
		expect := func(ready int32, want time.Duration) {
			t.Helper()
			if got := w.remaining(key, &workload.Status{ReadyReplicas: ready}); got != want {
				t.Errorf("with %d ready: %s remain, want %s", ready, got, want)
			}
		}

		expect(1, lull) // the first change opens the window
		time.Sleep(lull / 2)
		expect(1, lull/2) // the same status again does not prolong it
		expect(2, lull)   // another one does
		time.Sleep(lull)
		expect(2, 0) // a lull is over

		for ready := int32(3); ready < 7; ready++ { // but a burst does not go on for ever
			time.Sleep(lull / 2)
			expect(ready, min(lull, burst-lull*3/2-time.Duration(ready-2)*lull/2))
		}

		w.close(key)
		expect(7, lull) // a new burst begins
	})
}
