package controller

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
			owner, c := newChild()
			fake := newFakeClient(t, owner)
			request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(owner)}
			if _, err := newFakeReconciler(webServers, fake).Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			deployment, extract := c.object.(*appsv1.Deployment), c.extract
			c.extract = func(object client.Object) (any, error) {
				owned, err := extract(object)
				owned.(*appsv1ac.DeploymentApplyConfiguration).Status = nil // the fake client counts it as applied
				return owned, err
			}
			read := func() {
				t.Helper()
				if err := fake.Get(t.Context(), request.NamespacedName, deployment); err != nil {
					t.Fatal(err)
				}
			}
			read()
			deployment.UID = "web-child" // which the fake client does not assign
			if !c.asDesired() {
				t.Fatal("not as desired after a reconcile")
			}
			test.change(deployment)
			deployment.Generation++ // as the API server does
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

func TestOwnershipIsNotExtractedAgain(t *testing.T) {
	_, c := newChild()
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
