package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/process"
	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// TestBench measures the operator with each number of resources in BENCH_N. It is skipped if BENCH_N is not set.
func TestBench(t *testing.T) {
	if os.Getenv("BENCH_N") == "" {
		t.Skip("run `make bench`, or set BENCH_N to a number of resources")
	}
	ctx, stop := signal.NotifyContext(t.Context(), process.EndingSignals()...)
	defer stop()
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	if err := errors.Join(os.RemoveAll(artifacts), os.MkdirAll(artifacts, 0o755)); err != nil {
		t.Fatal(err)
	}
	measured := run(ctx, t)
	measured.table(os.Stdout)
	text, err := json.MarshalIndent(measured, "", "  ")
	if err = errors.Join(err, os.WriteFile(filepath.Join(artifacts, "bench.json"), text, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, over := range measured.Exceeded {
		t.Error(over)
	}
}

func TestObserver(t *testing.T) {
	var (
		o   *observer
		m   *memcachedv1alpha1.Memcached
		pod *corev1.Pod
	)
	for name, test := range map[string]struct {
		change         func()
		ready, correct bool
	}{
		"everything agrees": {func() {}, true, true},
		"Pod not ready":     {func() { pod.Status.Conditions = nil }, false, false},
		"Pod terminating":   {func() { pod.DeletionTimestamp = new(metav1.Now()) }, false, false},
		"other Pod":         {func() { pod.Name += "2" }, true, false},
		"too few Pods":      {func() { o.expect(2) }, false, false},
		"new generation":    {func() { m.Generation = 3 }, true, false},
		"wrong count":       {func() { m.Status.ReadyReplicas = 0 }, true, false},
		"not Available":     {func() { m.Status.Conditions = nil }, true, false},
	} {
		key := resourceKeys(1)[0]
		o, m, pod = newObserver(), memcached(key), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-abc-1"}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		m.Generation, m.Spec.Size = 2, 1
		m.Status.Status = workload.Status{ObservedGeneration: 2, Replicas: 1, ReadyReplicas: 1, Nodes: []string{pod.Name},
			Conditions: []metav1.Condition{{Type: workload.Available, Status: metav1.ConditionTrue}}}
		test.change()
		o.onChange(m, true)
		o.onChange(pod, true)
		if o.ready.Has(key) != test.ready || o.correct.Has(key) != test.correct {
			t.Errorf("%s: got ready=%t correct=%t, want %t and %t", name, o.ready.Has(key), o.correct.Has(key), test.ready, test.correct)
		}
	}
}

func TestAuditLogReadsOnlyNewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := auditLog{path: filepath.Join(t.TempDir(), "audit.log")}
		line := `{"verb":"patch","objectRef":{"resource":"memcacheds","subresource":"status"},"responseStatus":{"code":409}}` + "\n"
		if err := os.WriteFile(l.path, []byte(line+line[:20]), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"map[patch memcacheds/status 409:1]", "map[]"} {
			if requests, err := l.untilIdle(); err != nil || fmt.Sprint(count(requests)) != want {
				t.Errorf("got %v, %v, want %s", count(requests), err, want)
			}
		}
	})
}

func TestBudgetsAndSlopes(t *testing.T) {
	for _, test := range []struct {
		requests int
		seconds  float64
		exceeded int
	}{{80, 4, 0}, {81, 4, 0}, {82, 4, 1}, {101, 5, 0}, {102, 5, 1}} {
		create := Phase{Resources: 20, AllCorrect: test.seconds, Requests: map[string]int{"patch deployments": test.requests}}
		r := Results{Sizes: []Size{
			{Count: 20, Operator: map[string]Phase{phaseIdle: {Resources: 20, Memory: 60 << 20}}},
			{Count: 1044, Operator: map[string]Phase{phaseCreate: create, phaseIdle: {Resources: 20, Memory: 70 << 20}}}}}
		if r.judge(); len(r.Exceeded) != test.exceeded || r.Slope != 10 {
			t.Errorf("%d requests in %v s: got exceeded %q and %v KiB per resource, want %d and 10", test.requests, test.seconds, r.Exceeded, r.Slope, test.exceeded)
		}
	}
}
