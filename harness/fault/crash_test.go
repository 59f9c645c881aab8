package fault

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDelayedWriteArrivesOnRelease(t *testing.T) {
	t.Parallel()
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "delayed-write update configmaps one 1")
	set(t, namespace, "one", "A")
	deposed, instance := newInstance(t, injector)
	g.Expect(injector.Pending()).NotTo(BeClosed())
	g.Expect(injector.Release()).To(BeFalse(), "nothing is pending yet")

	soonCanceled, cancel := context.WithCancel(ctx)
	_, err := deposed.CoreV1().ConfigMaps(namespace).Update(soonCanceled, configMap("one", "late"), metav1.UpdateOptions{})
	cancel()
	g.Expect(err).To(MatchError(errDisconnected))
	g.Expect(instance.Crashed()).To(BeClosed())
	g.Expect(injector.Pending()).To(BeClosed())

	next, _ := newInstance(t, injector)
	one, err := next.CoreV1().ConfigMaps(namespace).Update(ctx, configMap("one", "next"), metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one.Data["value"]).To(Equal("next"))

	g.Expect(injector.Release()).To(BeTrue())
	one, err = admin.CoreV1().ConfigMaps(namespace).Get(ctx, "one", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one.Data["value"]).To(Equal("late"), "the write has reached the API server when Release returns")
	g.Expect(injector.Release()).To(BeFalse())
	g.Expect(injector.Writes()).To(HaveLen(2))
}

func TestCrashEndsWatches(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "crash-after create configmaps - 1")
	client, _ := newInstance(t, injector)
	watch, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	defer watch.Stop()
	g.Expect(create(ctx, client, namespace, "first")).To(MatchError(errDisconnected))
	g.Eventually(func() bool { // earlier events may still arrive
		_, open := <-watch.ResultChan()
		return open
	}).Should(BeFalse())
}

// TestNoWritesAfterCrash crashes the operator while many goroutines are writing, so that some requests are in flight.
func TestNoWritesAfterCrash(t *testing.T) {
	for _, faultType := range []Type{CrashBefore, CrashAfter} {
		t.Run(faultType.Name(), func(t *testing.T) {
			t.Parallel()
			g, ctx := NewWithT(t), t.Context()
			namespace, injector := newRun(t, faultType.Name()+" create configmaps - 50")
			client, instance := newInstance(t, injector)
			var writing sync.WaitGroup
			var mu sync.Mutex
			var done []string
			for i := range 16 {
				writing.Go(func() {
					for j := 0; ; j++ {
						name := fmt.Sprintf("%02d-%04d", i, j)
						if err := create(ctx, client, namespace, name); err != nil {
							g.Expect(err).To(MatchError(errDisconnected))
							return
						}
						mu.Lock()
						done = append(done, name)
						mu.Unlock()
					}
				})
			}
			<-instance.Crashed()
			atDeath := configMapNames(t, namespace)
			writing.Wait()
			g.Expect(configMapNames(t, namespace)).To(Equal(atDeath))

			slices.Sort(done)
			g.Expect(atDeath).To(ContainElements(done))
			g.Expect(len(atDeath)).To(BeNumerically(">=", map[Type]int{CrashBefore: 49, CrashAfter: 50}[faultType]))
			g.Expect(injector.Writes()).To(HaveLen(len(atDeath)))
		})
	}
}

func TestEndIsNotACrash(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	client, instance := newInstance(t, injector)
	g.Expect(create(ctx, client, namespace, "first")).To(Succeed())
	instance.End()
	instance.End()
	g.Expect(create(ctx, client, namespace, "second")).To(MatchError(errDisconnected))
	g.Expect(instance.Crashed()).NotTo(BeClosed(), "End must not count as a crash")
}
