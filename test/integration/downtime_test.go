package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("An operator that was stopped", func() {
	It("handles all edits and deletions that it missed when it starts again", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		scaled, deleted, healed := newWebServer(namespace, "scaled", 3), newWebServer(namespace, "deleted", 1), newWebServer(namespace, "healed", 1)
		cache := newMemcached(namespace, "cache", 2)
		create(ctx, scaled, deleted, healed, cache)
		for resource, replicas := range map[workloadObject]int32{scaled: 3, deleted: 1, healed: 1, cache: 2} {
			waitFor(ctx, current(resource), beReady(replicas))
		}
		nodePort := healed.Status.NodePort

		stop()
		requests := len(assay.Requests.Requests())

		By("Deleting a resource, whose children are garbage collected")
		Expect(plane.Client.Delete(ctx, deleted)).To(Succeed())
		waitFor(ctx, childrenOf(deleted), BeEmpty())

		By("Editing a resource, creating another, and changing children")
		Expect(plane.Client.Patch(ctx, scaled, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":4}}`)))).To(Succeed())
		Expect(plane.Client.Delete(ctx, serviceOf(ctx, healed))).To(Succeed())
		deployment := deploymentOf(ctx, cache)
		deployment.Spec.Replicas = new(int32(5))
		Expect(plane.Client.Update(ctx, deployment)).To(Succeed())
		late := newMemcached(namespace, "late", 1)
		create(ctx, late)
		Expect(assay.Requests.Requests()).To(HaveLen(requests), "requests of a stopped operator")

		Expect(assay.Start(ctx)).To(Succeed())
		for resource, replicas := range map[workloadObject]int32{scaled: 4, healed: 1, cache: 2, late: 1} {
			waitFor(ctx, current(resource), beReady(replicas))
		}
		Expect(healed.Status.NodePort).To(Equal(nodePort))
		Expect(serviceOf(ctx, healed).Spec.Ports[0].NodePort).To(Equal(nodePort))
	})
})

// childrenOf returns a function that lists the Deployment, ReplicaSets, Pods and Service of a resource.
func childrenOf(resource client.Object) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		var found []string
		for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.PodList{}, &corev1.ServiceList{}} {
			err := plane.Client.List(ctx, list, client.InNamespace(resource.GetNamespace()),
				client.MatchingLabels{"app.kubernetes.io/instance": resource.GetName()})
			if err != nil {
				return nil, err
			}
			items, err := meta.ExtractList(list)
			if err != nil {
				return nil, err
			}
			for _, item := range items {
				found = append(found, item.(client.Object).GetName())
			}
		}
		return found, nil
	}
}
