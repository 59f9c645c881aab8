package faults_test

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/operator-assay/assay/operator/api/workload"
)

// testRecovery scales a resource beyond a Pod quota, corrects the spec, and compares the result with a fresh resource.
func (tt *transitionTest) testRecovery(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.Kind, func(t *testing.T) {
			namespace, good := tt.newNamespace(t), s.specs[0]
			tt.checkAll(t, s, namespace, good)
			quota := createQuota(t, tt.history, namespace, "4", corev1.ResourcePods)
			bad := maps.Clone(good)
			bad[s.Replicas] = int64(6)
			generation, err := tt.apply(t.Context(), s, namespace, bad)
			noError(t, err)
			noError(t, tt.waitForReasons(t.Context(), s, namespace, generation, "", workload.ReasonPodCreationFailed))
			noError(t, tt.applyAndWait(t.Context(), s, namespace, good))
			noError(t, plane.Client.Delete(t.Context(), quota)) // the quota must not limit the fresh resource
			tt.checkAll(t, s, namespace, good)
		})
	}
}

// testInvalidSpecs applies all invalid specs derived from the schema to an existing resource and to a new one.
func (tt *transitionTest) testInvalidSpecs(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.Kind, func(t *testing.T) {
			usual, nothing := tt.newNamespace(t), tt.newNamespace(t)
			tt.checkAll(t, s, usual, s.specs[0])
			tt.waitStable(t, 10*stableFor, usual, nothing) // other controllers still create objects, such as the ConfigMap with the root CA
			resource := tt.latest(s, usual)
			before := tt.versions(usual, nothing)

			bad := s.schema(t).Invalid(s.specs[0])
			if len(bad) == 0 {
				t.Errorf("got no invalid specs from %v", s.specs[0])
			}
			for _, b := range bad {
				resource.Object["spec"] = b.Spec
				if err := plane.Client.Update(t.Context(), resource.DeepCopy()); !errors.IsInvalid(err) {
					t.Errorf("update with %s: got error %v, want Invalid", b.Why, err)
				}
				if err := plane.Client.Create(t.Context(), s.subjectWith(nothing, b.Spec)); !errors.IsInvalid(err) {
					t.Errorf("create with %s: got error %v, want Invalid", b.Why, err)
				}
			}
			t.Logf("%d invalid specs", len(bad))

			tt.waitStable(t, stableFor, usual, nothing)
			if after := tt.versions(usual, nothing); after != before {
				t.Errorf("got %d changes in the namespaces, want none", after-before)
			}
		})
	}
}

func (tt *transitionTest) waitStable(t *testing.T, window time.Duration, namespaces ...string) {
	t.Helper()
	for _, namespace := range namespaces {
		if err := tt.history.WaitStable(t.Context(), namespace, window); err != nil {
			t.Error(err)
		}
	}
}

// versions returns the number of recorded object versions in the namespaces. It ignores Endpoints and EndpointSlices,
// which their controllers may write up to a second after all other objects.
func (tt *transitionTest) versions(namespaces ...string) int {
	count := 0
	for _, namespace := range namespaces {
		for _, version := range tt.history.Versions(namespace) {
			if kind := version.GetKind(); kind != "Endpoints" && kind != "EndpointSlice" {
				count++
			}
		}
	}
	return count
}
