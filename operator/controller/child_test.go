package controller

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// appliedService is a WebServer's Service, as this operator has applied it, and the child that it is.
func appliedService() (*corev1.Service, *child) {
	child := webServers.children(webServers, storedWebServer()).service
	child.extract = func() (any, error) { return child.desired, nil }
	service := child.object.(*corev1.Service)
	service.UID = "service-uid"
	service.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: Name, Operation: metav1.ManagedFieldsOperationApply},
		{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate},
		{Manager: Name, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status"},
	}
	return service, child
}

func TestAChildIsUpToDateWhenTheOperatorOwnsWhatItDesires(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.Service, *child)
		want   bool
	}{
		"as it was applied":      {func(*corev1.Service, *child) {}, true},
		"other fields are owned": {func(_ *corev1.Service, c *child) { c.extract = func() (any, error) { return nil, nil } }, false},
		"nobody knows which": {func(_ *corev1.Service, c *child) {
			c.extract = func() (any, error) { return c.desired, errors.New("broken") }
		}, false},
		"it is being deleted": {func(s *corev1.Service, _ *child) { s.DeletionTimestamp = new(metav1.Now()) }, false},
		"fields count as updated": {func(s *corev1.Service, _ *child) {
			s.ManagedFields = append(s.ManagedFields, metav1.ManagedFieldsEntry{Manager: Name, Operation: metav1.ManagedFieldsOperationUpdate})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			service, child := appliedService()
			if test.change(service, child); child.upToDate() != test.want {
				t.Errorf("it is up to date: %t", !test.want)
			}
		})
	}
}

func TestChildrenAreUpToDateWhenEachIsAndIsTheOwners(t *testing.T) {
	for name, test := range map[string]struct {
		annotation string
		change     func(*child)
		want       bool
	}{
		"each is":                        {"web-uid", func(*child) {}, true},
		"one is somebody else's":         {"another-uid", func(*child) {}, false},
		"one has other fields":           {"web-uid", func(c *child) { c.extract = func() (any, error) { return nil, nil } }, false},
		"one has both, and is the worst": {"another-uid", func(c *child) { c.extract = func() (any, error) { return nil, nil } }, false},
	} {
		t.Run(name, func(t *testing.T) {
			service, child := appliedService()
			service.Annotations = map[string]string{annotationOwner: test.annotation}
			test.change(child)
			if (children{deployment: child}).upToDate(storedWebServer()) != test.want {
				t.Errorf("they are up to date: %t", !test.want)
			}
		})
	}
}

func TestARepairRestoresWhatWasAppliedAnUpdateAsksForMore(t *testing.T) {
	owned := func(annotations map[string]string) func() (any, error) {
		return func() (any, error) {
			return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}, nil
		}
	}
	for name, test := range map[string]struct {
		extract    func() (any, error)
		renumbered bool
		want       bool
	}{
		"this was applied":                       {owned(map[string]string{annotationHash: "hash"}), false, true},
		"something else was":                     {owned(map[string]string{annotationHash: "other"}), false, false},
		"somebody removed the hash":              {owned(nil), false, true},
		"the spec names another node port":       {owned(map[string]string{annotationHash: "hash"}), true, false},
		"it does, and somebody removed the hash": {owned(nil), true, true},
		"nobody knows which fields were applied": {func() (any, error) { return nil, errors.New("broken") }, false, false},
		"another annotation is of no importance": {owned(map[string]string{annotationHash: "hash", annotationOwner: "x"}), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			child := &child{hash: "hash", renumbered: test.renumbered, extract: test.extract}
			if child.isRepair() != test.want {
				t.Errorf("it is a repair: %t", !test.want)
			}
		})
	}
}

func TestAChildIsItsControllersOrElseWhoseItsAnnotationNames(t *testing.T) {
	reference := func(apiVersion, kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "web-uid", Controller: new(true)}}
	}
	for name, test := range map[string]struct {
		owners          []metav1.OwnerReference
		annotation      string
		ours, namesakes bool
	}{
		"it has nothing":                   {nil, "", false, false},
		"its annotation names the owner":   {nil, "web-uid", true, false},
		"its annotation names another":     {nil, "another-uid", false, false},
		"the owner controls it":            {reference("my.domain/v1", "WebServer", "web"), "another-uid", true, true},
		"another version of the kind does": {reference("my.domain/v2", "WebServer", "web"), "", true, true},
		"another kind of the name does":    {reference("my.domain/v1", "Memcached", "web"), "", true, false},
		"the kind of another group does":   {reference("example.com/v1", "WebServer", "web"), "", true, false},
		"a resource of another name does":  {reference("my.domain/v1", "WebServer", "other"), "", true, false},
		"a resource of no version does":    {reference("a/b/c", "WebServer", "web"), "", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			service, child := appliedService()
			service.OwnerReferences, service.Annotations = test.owners, map[string]string{annotationOwner: test.annotation}
			owner := storedWebServer()
			if child.isControlledBy(owner) != test.ours {
				t.Errorf("it is the owner's: %t", !test.ours)
			}
			if child.isOwnedByPredecessor(owner, webServers.GroupKind()) != test.namesakes {
				t.Errorf("it is a namesake's: %t", !test.namesakes)
			}
			if owner.UID = "successor-uid"; len(test.owners) > 0 && child.isControlledBy(owner) {
				t.Error("it is its successor's")
			}
		})
	}
}

// TestManagedFieldsThatCannotBeReadAreAnError: what this operator owns is then unknown, not nothing.
func TestManagedFieldsThatCannotBeReadAreAnError(t *testing.T) {
	ws := storedWebServer()
	ws.Spec.NodePort = 30999
	for _, child := range webServers.children(webServers, ws).all() {
		if service, ok := child.object.(*corev1.Service); ok {
			service.Spec.Ports = []corev1.ServicePort{{Port: servicePort, Protocol: corev1.ProtocolTCP, NodePort: 30999}}
		}
		child.object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: Name, Operation: metav1.ManagedFieldsOperationApply,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"x:spec":{}}`)}})
		if owned, err := child.owned(); err == nil || child.upToDate() || child.isRepair() {
			t.Errorf("%s: owned is %v, up to date: %t, repaired: %t", child.kind, owned, child.upToDate(), child.isRepair())
		}
		if drifted := child.drifted(); drifted != nil {
			t.Errorf("%s: drifted is %q", child.kind, drifted)
		}
	}
}

func TestAWebServerWithoutANumberOfReplicasHasOne(t *testing.T) {
	if replicas := webServers.replicas(&webserverv1.WebServer{}); replicas != 1 {
		t.Errorf("it has %d", replicas)
	}
}
