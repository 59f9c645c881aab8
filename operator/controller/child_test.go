package controller

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestAsDesired(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"unchanged":        {func(*appsv1.Deployment) {}, true},
		"another status":   {func(d *appsv1.Deployment) { d.Status.Replicas = 7 }, true},
		"another field":    {func(d *appsv1.Deployment) { d.Annotations["example.com/note"] = "theirs" }, true},
		"changed replicas": {func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](7) }, false},
		"a removed label":  {func(d *appsv1.Deployment) { delete(d.Labels, labelName) }, false},
		"no owner":         {func(d *appsv1.Deployment) { d.OwnerReferences = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			owner, c := newDeployment()
			fake := newFakeClient(t, owner)
			request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(owner)}
			if _, err := newFakeReconciler(webServers, fake).Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			deployment := c.object.(*appsv1.Deployment)
			ignoreStatus(c)
			read := func() {
				t.Helper()
				if err := fake.Get(t.Context(), request.NamespacedName, deployment); err != nil {
					t.Fatal(err)
				}
			}
			read()
			deployment.UID = "web-child" // the fake client does not assign UIDs
			if !c.asDesired() {
				t.Fatal("not as desired after a reconcile")
			}
			test.change(deployment)
			deployment.Generation++ // the fake client does not increment the generation
			if err := fake.Update(t.Context(), deployment, client.FieldOwner("kubectl-edit")); err != nil {
				t.Fatal(err)
			}
			read()
			if c.asDesired() != test.want {
				t.Errorf("got as desired: %t, want %t", !test.want, test.want)
			}
		})
	}
}

// ignoreStatus removes the status before the owned fields are extracted. The fake client counts the status as applied.
func ignoreStatus(c *child) {
	extract := c.extract
	c.extract = func(object client.Object) (any, error) {
		owned, err := extract(object)
		owned.(*appsv1ac.DeploymentApplyConfiguration).Status = nil
		return owned, err
	}
}

func TestOwnershipIsNotExtractedAgain(t *testing.T) {
	_, c := newDeployment()
	c.object.SetUID("web-child")
	c.extract = func(client.Object) (any, error) { return c.desired, nil }
	if !c.asDesired() {
		t.Fatal("not as desired")
	}
	extracted := false
	c.extract = func(client.Object) (any, error) { extracted = true; return c.desired, nil }
	c.object.(*appsv1.Deployment).Status.Replicas = 7
	if !c.asDesired() || extracted {
		t.Errorf("extracted: %t after a change of the status", extracted)
	}
	c.object.SetGeneration(2)
	if !c.asDesired() || !extracted {
		t.Errorf("extracted: %t after a change of the spec", extracted)
	}
}

func TestObstacle(t *testing.T) {
	ago := func(d time.Duration) *metav1.Time { return new(metav1.NewTime(time.Now().Add(-d))) }
	ours := map[string]string{annotationOwner: "web-uid"}
	predecessors := []metav1.OwnerReference{{APIVersion: "my.domain/v1", Kind: "WebServer", Name: "web", UID: "before", Controller: new(true)}}
	strangers := []metav1.OwnerReference{{APIVersion: "cache.example.com/v1alpha1", Kind: "Memcached", Name: "web", UID: "before", Controller: new(true)}}
	namesakes := []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "WebServer", Name: "web", UID: "before", Controller: new(true)}}
	foreign, collectors := []string{"example.com/backup"}, []string{metav1.FinalizerDeleteDependents}
	for name, test := range map[string]struct {
		object metav1.ObjectMeta
		want   string
		waits  bool
	}{
		"does not exist":                      {metav1.ObjectMeta{}, "", false},
		"is ours":                             {metav1.ObjectMeta{UID: "uid", Annotations: ours}, "", false},
		"was never ours":                      {metav1.ObjectMeta{UID: "uid"}, workload.ReasonNotControlled, false},
		"has another controller":              {metav1.ObjectMeta{UID: "uid", OwnerReferences: strangers, Annotations: ours}, workload.ReasonNotControlled, false},
		"has a namesake of another group":     {metav1.ObjectMeta{UID: "uid", OwnerReferences: namesakes}, workload.ReasonNotControlled, false},
		"is a predecessor's":                  {metav1.ObjectMeta{UID: "uid", OwnerReferences: predecessors}, workload.ReasonWaitingForDeletion, true},
		"is being deleted":                    {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(time.Hour), Finalizers: collectors}, workload.ReasonWaitingForDeletion, true},
		"is deleted, with a finalizer":        {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(0), Finalizers: foreign}, workload.ReasonWaitingForDeletion, true},
		"is deleted, with a finalizer, stuck": {metav1.ObjectMeta{UID: "uid", Annotations: ours, DeletionTimestamp: ago(time.Minute), Finalizers: foreign}, workload.ReasonWaitingForDeletion, false},
	} {
		t.Run(name, func(t *testing.T) {
			owner, c := newDeployment()
			test.object.Name = "web"
			c.object = &appsv1.Deployment{ObjectMeta: test.object}
			got := obstacle(webServers, owner, c)
			if got == nil {
				got = &problem{}
			}
			if got.reason != test.want || got.waits != test.waits {
				t.Errorf("got %q, waits %t, want %q, waits %t", got.reason, got.waits, test.want, test.waits)
			}
		})
	}
}
