package controller

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestAStatusWaitsUntilPodsAreQuietAndNotForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d debouncer
		key := types.NamespacedName{Namespace: "default", Name: "web"}
		expect := func(ready int32, want time.Duration) {
			t.Helper()
			if got := d.delay(key, &workload.Status{ReadyReplicas: ready}, time.Now()); got != want {
				t.Errorf("with %d ready: %s remain, want %s", ready, got, want)
			}
		}

		expect(1, debounceQuiet) // the first change
		time.Sleep(debounceQuiet / 2)
		expect(1, debounceQuiet/2) // the same status again does not prolong it
		expect(2, debounceQuiet)   // another one does
		time.Sleep(debounceQuiet)
		expect(2, 0) // a quiet period is over

		for ready := int32(3); ready < 7; ready++ { // but a burst does not go on for ever
			time.Sleep(debounceQuiet / 2)
			expect(ready, min(debounceQuiet, debounceMax-debounceQuiet*3/2-time.Duration(ready-2)*debounceQuiet/2))
		}

		d.forget(key)
		expect(7, debounceQuiet) // a new burst begins
		time.Sleep(debounceQuiet / 2)
		d.complete(time.Now())
		expect(7, debounceQuiet/2) // which has nothing to do with others that never waited
	})
}

func TestStatusesAreComparedButForTimesAndStayAsTheyAre(t *testing.T) {
	at := func(second int, reason string) *workload.Status {
		conditions := []metav1.Condition{newCondition(workload.Available, true, "A", ""), newCondition(workload.Degraded, false, reason, "")}
		for i := range conditions {
			conditions[i].LastTransitionTime = metav1.Unix(int64(second), 0)
		}
		return &workload.Status{Conditions: conditions}
	}
	early, late := at(1, "B"), at(2, "B")
	if !equalIgnoringTimes(early, late) {
		t.Error("times make a difference")
	}
	for _, status := range []*workload.Status{early, late} {
		if status.Conditions[0].LastTransitionTime.IsZero() {
			t.Error("the comparison has changed what it compares")
		}
	}
	if equalIgnoringTimes(early, at(1, "C")) {
		t.Error("reasons make none")
	}
}

func TestAStatusWaitsWhileItsCrowdCompletes(t *testing.T) {
	for _, others := range []int{1, 10} {
		t.Run(fmt.Sprint(others), func(t *testing.T) { waitsWhileOthersComplete(t, others) })
	}
}

func waitsWhileOthersComplete(t *testing.T, others int) {
	synctest.Test(t, func(t *testing.T) {
		var d debouncer
		crowd := time.Duration(others)
		name := func(i int) types.NamespacedName {
			return types.NamespacedName{Namespace: "default", Name: fmt.Sprint("web-", i)}
		}
		expect := func(when string, want time.Duration) {
			t.Helper()
			if got := d.delay(name(0), &workload.Status{}, time.Now()); got != want {
				t.Errorf("%s: %s remain, want %s", when, got, want)
			}
		}
		for i := range others {
			d.delay(name(i+1), &workload.Status{}, time.Now())
		}
		quiet, longest := debounceQuiet+crowd*debounceQuietEach, debounceMax+crowd*debounceMaxEach
		expect("beside others", quiet)
		time.Sleep(quiet / 2)
		expect("while no other completes", quiet/2)
		d.forget(name(1))
		d.complete(time.Now())
		expect("when another has completed", quiet)
		for passed := quiet; passed < longest; passed += quiet / 2 {
			time.Sleep(quiet / 2)
			d.complete(time.Now())
			expect("while others go on to complete", min(quiet, longest-passed))
		}
	})
}

// TestNoCrowdDelaysAStatusForEver: the wait of a crowd is bounded, however large it is.
func TestNoCrowdDelaysAStatusForEver(t *testing.T) {
	var d debouncer
	now := time.Unix(0, 0)
	for i := range 2 * debounceCrowd {
		d.delay(types.NamespacedName{Name: fmt.Sprint(i)}, &workload.Status{}, now)
	}
	if got, want := d.delay(types.NamespacedName{Name: "last"}, &workload.Status{}, now), debounceQuiet+debounceCrowd*debounceQuietEach; got != want {
		t.Errorf("it waits for %s, want %s", got, want)
	}
}

// TestNamesakesWaitEachForItself: a resource of another namespace changes, and is reported, without delaying this one.
func TestNamesakesWaitEachForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d debouncer
		web, other := types.NamespacedName{Namespace: "a", Name: "web"}, types.NamespacedName{Namespace: "b", Name: "web"}
		quiet := debounceQuiet + debounceQuietEach
		d.delay(other, &workload.Status{}, time.Now())
		d.delay(web, &workload.Status{}, time.Now())
		time.Sleep(quiet / 2)
		d.delay(other, &workload.Status{ReadyReplicas: 1}, time.Now())
		d.forget(other)
		if got := d.delay(web, &workload.Status{}, time.Now()); got != quiet/2 {
			t.Errorf("%s remain, want %s", got, quiet/2)
		}
	})
}
