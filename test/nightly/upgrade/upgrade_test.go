package upgrade

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/test/scenarios"
)

// previousVariable names the environment variable that holds the previous release's directory. The test is skipped if
// it is not set.
const previousVariable = "ASSAY_PREVIOUS"

func TestReleasesTakeOver(t *testing.T) {
	folder := os.Getenv(previousVariable)
	if folder == "" {
		t.Skip(previousVariable + " is not set: make test-upgrade sets it")
	}
	previous, today := release{"previous", folder}, release{"today", filepath.Join(folder, "..", "today")}
	c := newCluster(t)

	c.install(t, previous)
	before := c.makeResources(t)

	t.Log("upgrade")
	c.install(t, today)
	after := c.makeResources(t)
	c.expectTakenOver(t, before, after)

	t.Log("downgrade")
	all := slices.Concat(before, after)
	for i := range all {
		all[i].identities = c.identities(t, all[i].namespace)
	}
	c.install(t, previous)
	c.expectTakenOver(t, all, c.makeResources(t))
}

// expectTakenOver verifies that the installed release has not replaced the children of resources that another release
// created (made). They must match the children of resources that the installed release created (own).
func (c *cluster) expectTakenOver(t *testing.T, made, own []resource) {
	t.Helper()
	var namespaces []string
	for _, r := range made {
		namespaces = append(namespaces, r.namespace)
	}
	noError(t, c.waitStable(t.Context(), namespaces...))
	for _, r := range made {
		if differs := diff.Unified("before", "after", r.identities, c.identities(t, r.namespace)); differs != "" {
			t.Errorf("%s: objects were replaced or changed:\n%s", r.scenario, differs)
		}
		same := slices.IndexFunc(own, func(o resource) bool { return o.scenario == r.scenario })
		c.expectAlike(t, r.scenario, own[same].namespace, r.namespace)
	}
}

// expectAlike verifies that two namespaces contain the same objects with the same field ownership, and that all
// statuses in the second namespace are accurate.
func (c *cluster) expectAlike(t *testing.T, name, want, got string) {
	t.Helper()
	if differs := oracle.Diff(c.snapshot(want), c.snapshot(got)); differs != "" {
		t.Errorf("%s: it differs from a resource that this release has made:\n%s", name, differs)
	}
	differs := diff.Unified("field ownership of new resources", "field ownership of existing resources", c.ownership(t, want), c.ownership(t, got))
	if differs != "" {
		t.Errorf("%s:\n%s", name, differs)
	}
	if err := scenarios.StatusIsAccurate(c.history.Versions(got)); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// appliedHash is the annotation that contains a hash of the applied fields. The hash differs between releases.
const appliedHash = "operator-assay.github.io/applied-hash"

func (c *cluster) snapshot(namespace string) oracle.Snapshot {
	var objects []unstructured.Unstructured
	for _, object := range c.history.Objects(namespace) {
		object = *object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", appliedHash)
		objects = append(objects, object)
	}
	return oracle.NewSnapshot(namespace, objects)
}

// identities describes what must not change when another release takes over: the UIDs of the Pods, Deployments and
// Services, and the ClusterIP and ports of each Service.
func (c *cluster) identities(t *testing.T, namespace string) string {
	t.Helper()
	var all []string
	for _, pod := range list(t, c, namespace, &corev1.PodList{}).Items {
		all = append(all, fmt.Sprintf("Pod %s %s\n", pod.Name, pod.UID))
	}
	for _, d := range list(t, c, namespace, &appsv1.DeploymentList{}).Items {
		all = append(all, fmt.Sprintf("Deployment %s %s\n", d.Name, d.UID))
	}
	for _, service := range list(t, c, namespace, &corev1.ServiceList{}).Items {
		all = append(all, fmt.Sprintf("Service %s %s %s %v\n", service.Name, service.UID, service.Spec.ClusterIP, service.Spec.Ports))
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

var (
	// uid matches a UID. Field paths in managedFields contain the UIDs of owner references.
	uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	// nodePort matches a field that the operator does not own until it applies the Service for the second time.
	nodePort = regexp.MustCompile(`(?m)^ *f:nodePort: \{\}\n`)
)

// ownership returns the field ownership of a namespace's Deployments and Services as YAML. It omits fields owned by
// kube-controller-manager, because the time at which they are set varies.
func (c *cluster) ownership(t *testing.T, namespace string) string {
	t.Helper()
	var children []client.Object
	for _, d := range list(t, c, namespace, &appsv1.DeploymentList{}).Items {
		children = append(children, &d)
	}
	for _, s := range list(t, c, namespace, &corev1.ServiceList{}).Items {
		children = append(children, &s)
	}
	var text strings.Builder
	for _, child := range children {
		for _, entry := range child.GetManagedFields() {
			if entry.Manager == "kube-controller-manager" {
				continue
			}
			fields, err := yaml.JSONToYAML([]byte(uid.ReplaceAllString(entry.FieldsV1.GetRawString(), "<uid>")))
			noError(t, err)
			fmt.Fprintf(&text, "# %T %s: %s %s %s\n%s", child, child.GetName(), entry.Manager, entry.Operation, entry.Subresource, fields)
		}
	}
	return nodePort.ReplaceAllString(text.String(), "")
}
