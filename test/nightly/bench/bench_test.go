package bench

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestBench measures the operator with each number of resources in BENCH_N. It is skipped if BENCH_N is not set.
func TestBench(t *testing.T) {
	if os.Getenv("BENCH_N") == "" {
		t.Skip("run `make bench`, or set BENCH_N to a number of resources")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	if err := errors.Join(os.RemoveAll(artifacts), os.MkdirAll(artifacts, 0o755)); err != nil {
		t.Fatal(err)
	}
	measured := run(ctx, t)
	measured.table(os.Stdout)
	if err := measured.write(filepath.Join(artifacts, "bench.json")); err != nil {
		t.Fatal(err)
	}
	for _, over := range measured.Exceeded {
		t.Error(over)
	}
}

func TestObserver(t *testing.T) {
	var (
		o      *observer
		r      *unstructured.Unstructured
		pod    *corev1.Pod
		status map[string]any
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
		"new generation":    {func() { r.SetGeneration(3) }, true, false},
		"wrong count":       {func() { status["readyReplicas"] = int64(0) }, true, false},
		"not Available":     {func() { delete(status, "conditions") }, true, false},
	} {
		o = newObserver(kinds["memcached"])
		key := resourceKeys(1)[0]
		r, pod = o.kind.resource(key), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-abc-1"}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		r.SetGeneration(2)
		status = map[string]any{"observedGeneration": int64(2), "replicas": int64(1), "readyReplicas": int64(1), "nodes": []any{pod.Name},
			"conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
		r.Object["spec"], r.Object["status"] = map[string]any{"size": int64(1)}, status
		test.change()
		o.on(r, true)
		o.on(pod, true)
		if o.ready[key] != test.ready || o.correct[key] != test.correct {
			t.Errorf("%s: got ready=%t correct=%t, want %t and %t", name, o.ready[key], o.correct[key], test.ready, test.correct)
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

func TestSizesAreSortedAndValidated(t *testing.T) {
	sizes, err := parseSizes("1000,100", "webserver,memcached")
	var got []string
	for _, size := range sizes {
		got = append(got, fmt.Sprint(size.Count, " ", size.Kind))
	}
	if want := "[100 webserver 100 memcached 1000 webserver 1000 memcached]"; fmt.Sprint(got) != want || err != nil {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
	for counts, names := range map[string]string{"100,x": "memcached", "100,0": "memcached", "100": "memcached,other"} {
		if sizes, err := parseSizes(counts, names); err == nil {
			t.Errorf("%s of %s: got %v, want an error", counts, names, sizes)
		}
	}
}

func TestBudgetsAndSlopes(t *testing.T) {
	for _, test := range []struct {
		requests int
		seconds  float64
		exceeded int
	}{{80, 4, 0}, {81, 4, 0}, {82, 4, 1}, {101, 5, 0}, {102, 5, 1}} {
		r := Results{Slopes: map[string]float64{}}
		r.add(Size{Kind: "memcached", Count: 20, Operator: map[string]Phase{phaseIdle: {Resources: 20, Memory: 60 << 20}}})
		r.add(Size{Kind: "memcached", Count: 1044, Operator: map[string]Phase{
			phaseCreate: {Resources: 20, AllCorrect: test.seconds, Requests: map[string]int{"patch deployments": test.requests}},
			phaseIdle:   {Resources: 20, Memory: 70 << 20}}})
		if len(r.Exceeded) != test.exceeded || r.Slopes["memcached"] != 10 {
			t.Errorf("%d requests in %v s: got exceeded %q and %v KiB per resource, want %d and 10",
				test.requests, test.seconds, r.Exceeded, r.Slopes, test.exceeded)
		}
	}
}
