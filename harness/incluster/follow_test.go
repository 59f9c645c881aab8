package incluster

import (
	"context"
	"io"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
)

func TestFollowerStopsIfPodDisappears(t *testing.T) {
	g := NewWithT(t)
	waitForever := func(ctx context.Context, _ string) (io.ReadCloser, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	p := &play{
		cluster: &Cluster{clientset: fake.NewClientset(), logs: waitForever}, job: Job{Shards: []int{1}, Of: 1},
		followers: map[types.UID]context.CancelFunc{}, followed: make(chan followed),
	}
	running := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: "a", Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: "0"}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	g.Expect(p.followPods(t.Context(), state{pods: []corev1.Pod{running}})).To(Succeed())
	g.Consistently(p.followed, 50*time.Millisecond).ShouldNot(Receive())
	g.Expect(p.followPods(t.Context(), state{})).To(Succeed())
	g.Eventually(p.followed).Should(Receive(Equal(followed{shard: 1})))
}
