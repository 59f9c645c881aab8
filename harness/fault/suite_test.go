package fault

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/operator-assay/assay/harness/controlplane"
)

const (
	timeout = 30 * time.Second // generous, because the machine may be overloaded
	// operator is the user name of the operator.
	operator = "operator"
	role     = `
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: operator}
rules:
- {apiGroups: [""], resources: [configmaps, endpoints, pods, secrets], verbs: ["*"]}
- {apiGroups: [""], resources: [namespaces], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [events], verbs: [create]}
- {apiGroups: [""], resources: [pods/exec, pods/log], verbs: [create, get]}
`
)

// All tests share these variables. Each test uses its own namespace.
var (
	plane    *controlplane.ControlPlane
	admin    kubernetes.Interface // not connected through an injector
	identity *rest.Config         // the rest.Config of the operator
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // libraries log broken watches
	SetDefaultEventuallyTimeout(timeout)
	_ = flag.Set("test.parallel", "8") // cannot fail: the flag exists; the parallel tests spend most of the time waiting
	code := m.Run()
	if plane != nil {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

var startControlPlane = sync.OnceValue(func() (err error) {
	if plane, err = controlplane.Start(context.Background(), controlplane.Options{}); err != nil {
		return err
	}
	admin = kubernetes.NewForConfigOrDie(plane.Config)
	if identity, err = plane.User(context.Background(), operator, []byte(role)); err != nil {
		return err
	}
	// Use the same content types as controller-runtime for built-in kinds.
	identity.ContentType = runtime.ContentTypeProtobuf
	identity.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return nil
})

func needControlPlane(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	NewWithT(t).Expect(startControlPlane()).To(Succeed())
}

// newRun creates a namespace and an injector. faults contains one fault, or two faults separated by ", then ".
func newRun(t *testing.T, faults string) (namespace string, injector *Injector) {
	t.Helper()
	needControlPlane(t)
	namespace, err := plane.CreateNamespace(t.Context(), "wire")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	if faults == "" {
		return namespace, New(Scope{})
	}
	var all []Fault
	for text := range strings.SplitSeq(faults, ", then ") {
		fault, err := Parse(text)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		all = append(all, fault)
	}
	return namespace, New(Scope{}, all...)
}

func newInstance(t *testing.T, injector *Injector) (*kubernetes.Clientset, *Instance) {
	t.Helper()
	config, instance := injector.NewInstance(identity)
	t.Cleanup(instance.End)
	client, err := kubernetes.NewForConfig(config)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return client, instance
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
}

func create(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap(name, "A"), metav1.CreateOptions{})
	return err
}

// set creates or updates a ConfigMap with administrator permissions, bypassing the injector.
func set(t *testing.T, namespace, name, value string) {
	t.Helper()
	object := applycorev1.ConfigMap(name, namespace).WithData(map[string]string{"value": value})
	_, err := admin.CoreV1().ConfigMaps(namespace).Apply(t.Context(), object, metav1.ApplyOptions{FieldManager: "test", Force: true})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func configMapNames(t *testing.T, namespace string) []string {
	t.Helper()
	list, err := admin.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, object := range list.Items {
		names = append(names, object.Name)
	}
	return names
}

// audited returns a function that reads the operator's requests in a namespace, such as "create one", from the audit
// log. Watches are omitted, because they are logged only when they end.
func audited(t *testing.T, namespace string) func() []string {
	return func() []string {
		events, err := plane.Audit(operator)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		asked := []string{}
		for _, event := range events {
			if event.ObjectRef != nil && event.ObjectRef.Namespace == namespace && event.Verb != "watch" {
				asked = append(asked, event.Verb+" "+event.ObjectRef.Name)
			}
		}
		return asked
	}
}
