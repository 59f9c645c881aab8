package controlplane_test

import (
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/process"
)

const roles = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create, get, list]
- apiGroups: [example.com]
  resources: [widgets]
  verbs: [get]
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: manager
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: manager-role
  namespace: of-the-role
rules:
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [list]
`

var _ = Describe("A user", func() {
	It("can verify the API server's certificate with Python", func(ctx SpecContext) {
		if err := exec.CommandContext(ctx, "python3", "-c", "import ssl").Run(); err != nil {
			Skip("needs Python: " + err.Error())
		}
		ca := filepath.Join(GinkgoT().TempDir(), "ca.crt")
		Expect(os.WriteFile(ca, cp.Config.CAData, 0o600)).To(Succeed())
		const script = `import ssl, sys, urllib.request
tls = ssl.create_default_context(cafile=sys.argv[1])
tls.verify_flags |= ssl.VERIFY_X509_STRICT # the default since Python 3.13
print(urllib.request.urlopen(sys.argv[2] + "/readyz", context=tls).read())`
		command := exec.CommandContext(ctx, "python3", "-c", script, ca, cp.Config.Host)
		command.Env = process.NoProxy(os.Environ())
		output, err := command.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
	})

	It("has only the permissions of its roles", func(ctx SpecContext) {
		config, err := cp.User(ctx, "limited", []byte(roles))
		Expect(err).NotTo(HaveOccurred())
		user := clientOf(config)
		namespace := newNamespace(ctx)

		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "granted"}}
		Expect(user.Create(ctx, object)).To(Succeed())
		Expect(user.Delete(ctx, object)).To(Satisfy(apierrors.IsForbidden))
		leases := &coordinationv1.LeaseList{}
		Expect(user.List(ctx, leases, client.InNamespace("of-the-role"))).To(Succeed())
		Expect(user.List(ctx, leases, client.InNamespace(namespace))).To(Satisfy(apierrors.IsForbidden))
	})

	It("needs permission to update finalizers for blockOwnerDeletion", func(ctx SpecContext) {
		config, err := cp.User(ctx, "no-finalizers", []byte(roles))
		Expect(err).NotTo(HaveOccurred())
		owner := widget(newNamespace(ctx), "owner")
		Expect(cp.Client.Create(ctx, owner)).To(Succeed())
		owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace:       owner.GetNamespace(),
			Name:            "owned",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())},
		}}
		Expect(clientOf(config).Create(ctx, owned)).To(MatchError(ContainSubstring("cannot set blockOwnerDeletion")))

		owned.OwnerReferences[0].BlockOwnerDeletion = new(false)
		Expect(clientOf(config).Create(ctx, owned)).To(Succeed())
	})

	It("is rejected without valid roles", func(ctx SpecContext) {
		_, err := cp.User(ctx, "unbound", []byte("{kind: RoleBinding, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: unbound}}"))
		Expect(err).To(MatchError("roles of user unbound: the manifests contain no ClusterRole or Role"))
		_, err = cp.User(ctx, "malformed", []byte("kind: [ClusterRole"))
		Expect(err).To(MatchError(ContainSubstring("roles of user malformed")))
	})
})

func clientOf(config *rest.Config) client.Client {
	GinkgoHelper()
	user, err := client.New(config, client.Options{})
	Expect(err).NotTo(HaveOccurred())
	return user
}
