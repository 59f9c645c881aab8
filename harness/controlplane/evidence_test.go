package controlplane_test

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/artifacts"
	"github.com/operator-assay/assay/harness/record"
)

var _ = Describe("Evidence", func() {
	It("is collected after the context has ended", func(ctx SpecContext) {
		var recorder record.Recorder
		recorded := rest.CopyConfig(cp.Config)
		recorded.Wrap(recorder.Wrap)
		namespace := newNamespace(ctx)
		web := deployment(namespace, "web", 2)
		Expect(clientOf(recorded).Create(ctx, web)).To(Succeed())
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "key"}}
		secret.StringData = map[string]string{"password": "hunter2"}
		secret.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "hunter2"}
		Expect(cp.Client.Create(ctx, secret)).To(Succeed())
		Eventually(readyReplicas(ctx, web)).Should(BeEquivalentTo(2))
		reasons := func() ([]string, error) { // controllers write Events after they act
			var events corev1.EventList
			err := cp.Client.List(ctx, &events, client.InNamespace(namespace))
			var reasons []string
			for _, event := range events.Items {
				reasons = append(reasons, event.Reason)
			}
			return reasons, err
		}
		Eventually(reasons).Should(ContainElements("ScalingReplicaSet", "SuccessfulCreate"))

		collector := &artifacts.Collector{
			Dir:      GinkgoT().TempDir(),
			Config:   cp.Config,
			Recorder: &recorder,
			Logs: map[string]artifacts.Log{
				"kube-apiserver.log": artifacts.File(filepath.Join(cp.LogsDir, "kube-apiserver.log")),
			},
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		dir, err := collector.Collect(ended, "it fails", namespace)
		Expect(err).NotTo(HaveOccurred())

		text := func(name string) string {
			GinkgoHelper()
			content, err := os.ReadFile(filepath.Join(dir, name))
			Expect(err).NotTo(HaveOccurred())
			return string(content)
		}
		Expect(text("objects/deployment.apps-web.yaml")).To(And(
			ContainSubstring("replicas: 2"), Not(ContainSubstring("managedFields"))))
		Expect(text("objects/namespace-" + namespace + ".yaml")).To(ContainSubstring("phase: Active"))
		Expect(text("objects/secret-key.yaml")).To(And(
			ContainSubstring("password: (redacted)"), Not(ContainSubstring("hunter2"))))
		Expect(text("events.txt")).To(MatchRegexp(
			`Normal  ScalingReplicaSet Deployment/web: Scaled up .* \(1 times\)\n(.*\n)*.*SuccessfulCreate`))
		Expect(text("requests.log")).To(And(
			ContainSubstring("create  deployments.apps  1"), ContainSubstring("create deployments.apps "+namespace)))
		Expect(text("kube-apiserver.log")).NotTo(BeEmpty())
		Expect(filepath.Glob(filepath.Join(dir, "objects", "pod-web-*.yaml"))).To(HaveLen(2))
		Expect(filepath.Join(dir, "errors.txt")).NotTo(BeAnExistingFile())
	})
})
