package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// foreignFields are strategic merge patches. Each of them adds a field that the operator does not own to a child of a
// WebServer.
var foreignFields = []struct{ what, kind, patch string }{
	{"an annotation of the Deployment", "Deployment", `{"metadata": {"annotations": {"example.com/note": "stays"}}}`},
	{"a finalizer of the Deployment", "Deployment", `{"metadata": {"finalizers": ["example.com/wait"]}}`},
	{"more Pods at once in a rollout", "Deployment", `{"spec": {"strategy": {"rollingUpdate": {"maxSurge": 2}}}}`},
	{"what kubectl rollout restart sets", "Deployment", `{"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}}}}}`},
	{"a sidecar", "Deployment", `{"spec": {"template": {"spec": {"containers": [{"name": "exporter", "image": "exporter:1"}]}}}}`},
	{"an init container", "Deployment", `{"spec": {"template": {"spec": {"initContainers": [{"name": "setup", "image": "setup:1"}]}}}}`},
	{"a variable of our container", "Deployment", ourContainer(`"env": [{"name": "TZ", "value": "UTC"}]`)},
	{"resources of our container", "Deployment", ourContainer(`"resources": {"requests": {"cpu": "10m"}}`)},
	{"a liveness probe of our container", "Deployment", ourContainer(`"livenessProbe": {"tcpSocket": {"port": 80}}`)},
	{"a threshold of our readiness probe", "Deployment", ourContainer(`"readinessProbe": {"failureThreshold": 7}`)},
	{"a port of our container", "Deployment", ourContainer(`"ports": [{"containerPort": 9113}]`)},
	{"an annotation of the Service", "Service", `{"metadata": {"annotations": {"example.com/note": "stays"}}}`},
	{"a port of the Service", "Service", `{"spec": {"ports": [{"name": "metrics", "port": 9113}]}}`},
	{"affinity of the Service", "Service", `{"spec": {"sessionAffinity": "ClientIP"}}`},
}

func ourContainer(fields string) string {
	return fmt.Sprintf(`{"spec": {"template": {"spec": {"containers": [{"name": "webserver", %s}]}}}}`, fields)
}

var _ = Describe("A field that another client adds to a child", func() {
	// Each patch has its own WebServer, and all of them are tested in parallel, because waiting for a stable state is
	// slow.
	It("causes no write, and stays after a scale and an upgrade", SpecPriority(1), func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		webs := make([]*webserverv1.WebServer, len(foreignFields))
		children := make([]*unstructured.Unstructured, len(foreignFields))
		theirs := make([]map[string]any, len(foreignFields))
		for i := range foreignFields {
			webs[i] = newWebServer(namespace, fmt.Sprintf("web-%d", i), 1)
			create(ctx, webs[i])
		}
		for i, web := range webs {
			waitFor(ctx, current(web), beReady(1))
			children[i] = childOf(web, foreignFields[i].kind)
		}
		DeferCleanup(func(ctx SpecContext) { // otherwise the finalizer blocks the deletion of its Deployment
			for _, child := range children {
				Expect(client.IgnoreNotFound(plane.Client.Patch(ctx, child, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))))).To(Succeed())
			}
		})

		By("Adding the fields")
		writes := len(childWrites(namespace))
		for i, child := range children {
			Expect(plane.Client.Patch(ctx, child, client.RawPatch(types.StrategicMergePatchType, []byte(foreignFields[i].patch)), otherManager)).To(Succeed(), foreignFields[i].what)
			theirs[i] = otherManagersFields(child, metav1.ManagedFieldsOperationUpdate)
		}
		Expect(assay.Requests.WaitIdle(ctx, stableFor, record.InNamespace(namespace))).To(Succeed())
		Expect(childWrites(namespace)[writes:]).To(BeEmpty())
		for i, child := range children {
			version := child.GetResourceVersion()
			Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(child), child)).To(Succeed())
			if foreignFields[i].kind == "Service" { // the status of a Deployment changes with its Pods
				Expect(child.GetResourceVersion()).To(Equal(version), foreignFields[i].what)
			}
		}

		By("Scaling and upgrading")
		for _, web := range webs {
			edit(ctx, web, func() { web.Spec.Replicas = ptr.To[int32](2) })
			edit(ctx, web, func() { web.Spec.Image = "nginx:1.23.0" })
		}
		for i, web := range webs {
			waitFor(ctx, current(web), beReady(2), foreignFields[i].what)
			deployment := deploymentOf(ctx, web)
			Expect(deployment.Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
			Expect(deployment.Spec.Template.Spec.Containers).To(ContainElement(HaveField("Image", "nginx:1.23.0")))
			Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(children[i]), children[i])).To(Succeed())
			Expect(otherManagersFields(children[i], metav1.ManagedFieldsOperationUpdate)).To(Equal(theirs[i]), foreignFields[i].what)
		}
		for _, write := range childWrites(namespace)[writes:] {
			Expect(write.Resource).To(Equal("deployments"), "got a write of a Service: %s", write)
		}
	})

	It("is not reported as changed if it precedes one of the operator's fields in a list", func(ctx SpecContext) {
		web := serving(ctx, newWebServer(newNamespace(ctx), "web", 1), 1)
		sidecar := `{"spec": {"template": {"spec": {"containers": [{"name": "exporter", "image": "exporter:1"}]}}}}` // this container becomes the first one
		Expect(plane.Client.Patch(ctx, childOf(web, "Deployment"), client.RawPatch(types.StrategicMergePatchType, []byte(sidecar)), otherManager)).To(Succeed())
		edit(ctx, web, func() { web.Spec.Replicas = ptr.To[int32](2) })
		waitFor(ctx, current(web), beReady(2))
		updated := "Normal Updated: Updated Deployment web: spec.replicas: 1 → 2"
		waitFor(ctx, eventsIn(web.Namespace), ContainElement(updated))
		Expect(eventsIn(web.Namespace)(ctx)).NotTo(haveEvent("Normal", "Updated", "containers["))
	})

	It("is named in the status if it duplicates a list element, and does not stop updates", func(ctx SpecContext) {
		web := serving(ctx, newWebServer(newNamespace(ctx), "web", 1), 1)
		const duplicates = `[{"op": "add", "path": "/spec/template/spec/hostAliases", "value": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]}]`
		Expect(plane.Client.Patch(ctx, childOf(web, "Deployment"), client.RawPatch(types.JSONPatchType, []byte(duplicates)), otherManager)).To(Succeed())
		waitFor(ctx, current(web), beDegraded(workload.ReasonContested, "hostAliases: duplicate entries"))
		edit(ctx, web, func() { web.Spec.Replicas = ptr.To[int32](2) })
		waitFor(ctx, current(web), HaveField("Status.ReadyReplicas", BeEquivalentTo(2)))
	})
})

// childOf returns a resource's Deployment or Service. Only the kind, apiVersion, namespace and name are set.
func childOf(owner client.Object, kind string) *unstructured.Unstructured {
	child := &unstructured.Unstructured{}
	child.SetNamespace(owner.GetNamespace())
	child.SetKind(kind)
	switch kind {
	case "Deployment":
		child.SetAPIVersion("apps/v1")
		child.SetName(newDeployment(owner).Name)
	case "Service":
		child.SetAPIVersion("v1")
		child.SetName(newService(owner).Name)
	}
	return child
}

func otherManagersFields(child *unstructured.Unstructured, operation metav1.ManagedFieldsOperationType) map[string]any {
	GinkgoHelper()
	owned, err := ownedFields(child, string(otherManager), operation)
	Expect(err).NotTo(HaveOccurred())
	values := map[string]any{}
	for path, field := range owned {
		values[path] = field.value
	}
	return values
}

func childWrites(namespace string) record.Requests {
	return assay.Requests.Requests(record.InNamespace(namespace), func(r record.Request) bool {
		return r.Resource == "deployments" || r.Resource == "services"
	}).Writes()
}
