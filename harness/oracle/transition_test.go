package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
)

// fakeOperator manages one ConfigMap per namespace. If remembers is true, the operator has a bug: the ConfigMap
// contains the sum of all sizes that were ever applied.
type fakeOperator struct {
	TransitionOracle
	mu         sync.Mutex
	namespaces int
	sums       map[string]int64
}

func newFakeOperator(t *testing.T, remembers bool) *fakeOperator {
	history, err := record.NewHistory(t.Context(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	p := &fakeOperator{sums: map[string]int64{}}
	p.TransitionOracle = TransitionOracle{
		History:   history,
		StableFor: time.Second,
		Namespace: func(context.Context) (string, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.namespaces++
			return fmt.Sprintf("fresh-%d", p.namespaces), nil
		},
		Apply: func(_ context.Context, namespace string, spec map[string]any) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			size, possible := spec["size"].(int64)
			if !possible {
				return errors.New("invalid spec")
			}
			if remembers {
				size += p.sums[namespace]
			}
			p.sums[namespace] = size
			history.Record(record.ObjectVersion{Unstructured: configMap(namespace, size, len(p.sums))})
			return nil
		},
	}
	return p
}

func configMap(namespace string, sum int64, version int) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"sum": sum}}}
	object.SetAPIVersion("v1")
	object.SetKind("ConfigMap")
	object.SetNamespace(namespace)
	object.SetName("sum")
	object.SetUID(types.UID("uid of " + namespace))
	object.SetResourceVersion(fmt.Sprint(version))
	return object
}

func size(size int64) map[string]any { return map[string]any{"size": size} }

func TestCheckPassesEqualStates(t *testing.T) {
	g := NewWithT(t)
	p := newFakeOperator(t, false)
	p.StableFor = time.Millisecond
	var playing sync.WaitGroup
	for i := range 10 {
		playing.Go(func() {
			for _, spec := range []map[string]any{size(1), size(2), size(1)} {
				g.Expect(p.Check(t.Context(), fmt.Sprintf("changed-%d", i), spec)).To(Succeed())
			}
		})
	}
	playing.Wait()
	g.Expect(p.namespaces).To(Equal(2), "one namespace per spec")
}

func TestCheckFindsLeftoversOfEarlierSpec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		p := newFakeOperator(t, true)
		begin := time.Now()
		g.Expect(p.Check(t.Context(), "changed", size(1))).To(Succeed())
		g.Expect(time.Since(begin)).To(Equal(2*time.Second), "equal states need no second wait")
		begin = time.Now()
		err := p.Check(t.Context(), "changed", size(2))
		g.Expect(time.Since(begin)).To(Equal(22*time.Second), "a difference is confirmed after ten times StableFor in both namespaces")
		g.Expect(err).To(MatchError(And(
			HavePrefix("namespace changed differs from namespace fresh-2, which has a new resource with the same spec"),
			ContainSubstring("-  sum: 2\n+  sum: 3\n"))))
	})
}

// TestCheckToleratesSlowCluster changes the state again after it has been unchanged for StableFor.
func TestCheckToleratesSlowCluster(t *testing.T) {
	for namespace, end := range map[string]int64{"changed": 2, "fresh-2": 3} {
		t.Run(namespace, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				p := newFakeOperator(t, true)
				g.Expect(p.Check(t.Context(), "changed", size(1))).To(Succeed())
				go func() {
					time.Sleep(5 * time.Second)
					p.History.Record(record.ObjectVersion{Unstructured: configMap(namespace, 9, 8)})
					time.Sleep(8 * time.Second)
					p.History.Record(record.ObjectVersion{Unstructured: configMap(namespace, end, 9)})
				}()
				g.Expect(p.Check(t.Context(), "changed", size(2))).To(Succeed())
			})
		})
	}
}

func TestCheckReportsUnstableResource(t *testing.T) {
	for since, within := range map[time.Duration]string{500 * time.Millisecond: "1s", 3 * time.Second: "10s"} {
		t.Run(within, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				p := newFakeOperator(t, true)
				g.Expect(p.Check(t.Context(), "changed", size(1))).To(Succeed())
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var changing sync.WaitGroup
				defer changing.Wait()
				changing.Go(func() {
					time.Sleep(since)
					for version := 9; ctx.Err() == nil; version++ {
						p.History.Record(record.ObjectVersion{Unstructured: configMap("changed", 9, version)})
						time.Sleep(500 * time.Millisecond)
					}
				})
				g.Expect(p.Check(ctx, "changed", size(2))).To(MatchError("namespace changed changed within " + within + ", most recently ConfigMap sum: context deadline exceeded"))
			})
		})
	}
}

func TestCheckReportsFailingSpec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		p := newFakeOperator(t, false)
		g.Expect(p.Check(t.Context(), "changed", map[string]any{})).To(MatchError("creating the reference resource: in namespace fresh-1: invalid spec"))

		g.Expect(p.Check(t.Context(), "changed", size(1))).To(Succeed())
		p.Apply = func(context.Context, string, map[string]any) error { return errors.New("rejected spec") }
		g.Expect(p.Check(t.Context(), "changed", size(1))).To(MatchError("in namespace changed: rejected spec"))

		p.Namespace = func(context.Context) (string, error) { return "", errors.New("no namespace") }
		g.Expect(p.Check(t.Context(), "changed", size(2))).To(MatchError("creating the reference resource: no namespace"))
	})
}
