package fault

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

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
