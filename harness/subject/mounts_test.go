package subject

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/project"
)

const mountsSecret = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec:
  template:
    spec:
      containers:
      - name: manager
        volumeMounts:
        - {name: certificate, mountPath: /certs}
        - {name: certificate, mountPath: /etc/ca.crt, subPath: ca.crt}
      volumes: [{name: certificate, secret: {secretName: certificate}}]
---
{apiVersion: v1, kind: Secret, metadata: {name: certificate, namespace: system}, stringData: {ca.crt: of the manifests}}
`

// TestMountedSecretIsUpdated updates a Secret that two managers mount. A manager in another namespace is not affected.
func TestMountedSecretIsUpdated(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	file := filepath.Join(t.TempDir(), "install.yaml")
	companions := strings.ReplaceAll(strings.Replace(mountsSecret, "metadata: {name: manager", "metadata: {name: webhook", 1), "/certs", "/companion")
	companions, _, _ = strings.Cut(companions, "---")
	g.Expect(os.WriteFile(file, []byte(mountsSecret+"---"+companions), 0o644)).To(Succeed())
	install := readInstall(t, file, "", "webhook")

	secret := func(text string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "run-1", Name: "certificate"}, Data: map[string][]byte{"ca.crt": []byte(text)}}
	}
	clientset := fake.NewClientset(secret("initial"))
	m := newMounts(ctx, clientset)
	t.Cleanup(m.close)

	remounted := make(chan string, 10)
	prepareManager := func(namespace string, manager *project.Manager) pod.Container {
		c := pod.Container{Path: "/bin/manager", Namespace: namespace}
		m.follow(&c, manager)
		return c
	}
	prepare := func(namespace string) pod.Container { return prepareManager(namespace, install.Manager) }
	start := func(c pod.Container) pod.Container {
		c.Remount(func(folder string, files pod.Files) error {
			remounted <- c.Namespace + " " + folder + " " + string(files["ca.crt"])
			return nil
		})
		return c
	}
	other, c, next := start(prepare("run-2")), start(prepare("run-1")), prepare("run-1")
	start(prepareManager("run-1", install.Companions[0]))
	g.Expect(string(other.Mounts["/certs"]["ca.crt"])).To(Equal("of the manifests"))
	g.Expect(string(c.Mounts["/certs"]["ca.crt"])).To(Equal("initial"))
	g.Expect(string(c.Files["/etc/ca.crt"])).To(Equal("initial"))
	g.Expect(remounted).NotTo(Receive(), "no object has changed")

	_, err := clientset.CoreV1().Secrets("run-1").Update(ctx, secret("new"), metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	var changed []string
	for range 2 {
		var one string
		g.Eventually(remounted).WithTimeout(time.Minute).Should(Receive(&one))
		changed = append(changed, one)
	}
	g.Expect(changed).To(ConsistOf("run-1 /certs new", "run-1 /companion new"))
	g.Expect(remounted).NotTo(Receive())
	start(next)
	g.Expect(remounted).To(Receive(Equal("run-1 /certs new")), "the Secret changes before the process starts")
	g.Expect(string(prepare("run-1").Mounts["/certs"]["ca.crt"])).To(Equal("new"), "after a restart")
}
